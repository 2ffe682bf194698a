"""The error tree: the user's mistakes on one branch, everything else on the other."""

from __future__ import annotations


class UltracrawlError(Exception):
    """Root of all errors that this package raises on purpose."""


class AdvisedError(Exception):
    """Something that cannot be used; `problem` and `instead` (what to write) as in a `Finding`."""

    def __init__(self, problem: str, instead: str) -> None:
        super().__init__(f"{problem}; {instead}")
        self.problem = problem
        self.instead = instead


class UserError(UltracrawlError):
    """The user's mistake: shown as one line without a traceback; the process ends with exit code 2."""


class MissingExtraError(UserError):
    """A feature needs a package that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        self.problem = f"{feature} needs an extra"
        self.instead = f'install it with: pip install "ultracrawl[{extra}]"'
        super().__init__(f"{self.problem}; {self.instead}")


class WorkError(UltracrawlError):
    """Work failed for a reason outside the definition (disk full, index locked); exit code 1."""


class StateError(WorkError):
    """The state store cannot be read or written."""


class StateDamagedError(StateError):
    """The file of a store is not what it should be (`what`); it can be set aside and made anew."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what


class IndexStoreError(WorkError):
    """The index cannot be read or written."""

    @property
    def what(self) -> str:
        """What happened, without what can be done about it."""
        return str(self)


class IndexDamagedError(IndexStoreError):
    """The files of the index are not what they should be; it can be made anew."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}; the next crawl repairs it, or `ultracrawl index rebuild`")
        self._what = what

    @property
    def what(self) -> str:
        """What is damaged."""
        return self._what


class IndexLockedError(IndexStoreError):
    """Another process writes to the index, for longer than it is waited for."""


def is_panic(error: BaseException) -> bool:
    """Return whether a library broke in a way that is no `Exception`, as those in Rust do (pyo3's PanicException).

    `SystemExit`, `CancelledError`, `GeneratorExit` and their like end something on purpose, and are no panic.
    """
    from asyncio import CancelledError  # noqa: PLC0415 - commands that only look have no tasks

    return not isinstance(error, (Exception, KeyboardInterrupt, SystemExit, GeneratorExit, CancelledError))
