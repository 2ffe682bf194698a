"""The exception hierarchy: `UserError` for mistakes of the user, `WorkError` for failures of the environment."""

from __future__ import annotations


class UltracrawlError(Exception):
    """Base class of all errors that this package raises on purpose. They can be pickled, whatever their arguments."""

    def __reduce__(self) -> tuple[object, ...]:
        """Return how to make the error again in another process: without its `__init__`."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(
    kind: type[UltracrawlError], args: tuple[object, ...], state: dict[str, object]
) -> UltracrawlError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class AdvisedError(Exception):
    """Something cannot be used; `problem` and `instead` (what to write) have the meaning they have in a `Finding`."""

    def __init__(self, problem: str, instead: str) -> None:
        super().__init__(f"{problem}; {instead}")
        self.problem = problem
        self.instead = instead


class UserError(UltracrawlError):
    """A mistake of the user: shown as one line without a traceback; exit code 2."""


class MissingExtraError(UserError):
    """A feature needs a package that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        self.problem = f"{feature} needs an extra"
        self.instead = f'install it with: pip install "ultracrawl[{extra}]"'
        super().__init__(f"{self.problem}; {self.instead}")


class MissingProgramError(AdvisedError, UserError):
    """A feature needs a program that is not installed."""


class NotFoundError(UserError):
    """What was named does not exist, or whoever asks may not know of it."""


class WorkError(UltracrawlError):
    """Work failed for a reason outside the definition (disk full, index locked); exit code 1."""

    retry_after: int = 0
    """Seconds after which it is worth trying again; 0: that is not known."""


class StateError(WorkError):
    """The state store cannot be read or written."""


class StateDamagedError(StateError):
    """The file of a store is damaged; it can be set aside and created again."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}; {remedy}")
        self.problem = problem


class IndexStoreError(WorkError):
    """The index cannot be read or written."""

    retry_after = 15

    @property
    def problem(self) -> str:
        """The message without the remedy."""
        return str(self)


class IndexDamagedError(IndexStoreError):
    """The files of the index are damaged; the index can be rebuilt."""

    retry_after = 0

    def __init__(self, damage: str, reason: str = "") -> None:
        """`damage` is for everybody; `reason` is what the library says that read the files."""
        super().__init__(f"{damage}; the next crawl repairs it, or `ultracrawl index rebuild`")
        self.damage = damage
        self._reason = reason

    @property
    def problem(self) -> str:
        """The damage with its reason, without the remedy."""
        return ": ".join(filter(None, (self.damage, self._reason)))


class IndexForeignError(IndexDamagedError):
    """A file of the index would run code in a program that loads it as Whoosh does; this one never does."""


class IndexLockedError(IndexStoreError):
    """Another process held the write lock of the index for longer than the timeout."""


def is_panic(error: BaseException) -> bool:
    """Return whether an error is the panic of a library that does not derive from `Exception`.

    Rust libraries raise such errors (pyo3's PanicException). `KeyboardInterrupt`, `SystemExit`, `CancelledError` and
    `GeneratorExit` end something on purpose and are not panics.
    """
    from asyncio import CancelledError  # noqa: PLC0415 - read-only commands do not need asyncio

    return not isinstance(error, (Exception, KeyboardInterrupt, SystemExit, GeneratorExit, CancelledError))
