"""User functions in Python, in place of the shared objects that the vendor's robot loaded.

Such a function, for `Generate fn=by-department name=Sales`:

    def by_department(pb, csf, csr):
        csr.rd["department"] = [pb["name"]]
        return REQ_PROCEED

A function may declare its name, phases and parameters, which are checked when definitions are read:

    @filter_function(under=["Generate"], needs=["name"])
    def by_department(pb, csf, csr):
        csr.rd["department"] = [pb["name"]]
        return REQ_PROCEED
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import TypeVar

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.filters.function import (
    ANYTHING,
    FilterHandle,
    Function,
    Parameter,
    ParameterBlock,
    Robot,
    Step,
)
from ultracrawl.rules.filters.phase import Answer, Phase
from ultracrawl.rules.filters.resource import View, source_name
from ultracrawl.system.wall_guard import HungError

_ATTRIBUTE = "__ultracrawl_filter_function__"

Marked = TypeVar("Marked", bound=Callable[..., int | None])


@dataclass(frozen=True, slots=True)
class Mark:
    """The declaration of a function; `open`: it also takes undeclared parameters."""

    name: str
    phases: frozenset[Phase]
    parameters: tuple[Parameter, ...]
    open: bool


def filter_function(
    name: str = "",
    *,
    under: Iterable[str] = tuple(Phase),
    needs: Iterable[str] = (),
    takes: Iterable[str] = (),
) -> Callable[[Marked], Marked]:
    """Declare a function for use in filters; use it with parentheses even without arguments.

    `name` is the name for `fn=`, by default that of the function with `-` for `_`; `under` the allowed directives;
    `needs` the required parameters, `takes` the optional ones. Without either it takes all parameters.
    Raises `ValueError` for an unknown directive.
    """
    phases = frozenset(map(_phase, under))
    parameters = (*(Parameter(parameter, required=True) for parameter in needs), *map(Parameter, takes))

    def mark(function: Marked) -> Marked:
        filter_name = name or function.__name__.replace("_", "-")
        setattr(function, _ATTRIBUTE, Mark(filter_name, phases, parameters, not parameters))
        return function

    return mark


def _phase(word: str) -> Phase:
    phase = Phase.named(word)
    if phase is None:
        raise ValueError(f"{word!r} is no directive of a filter; write one of {', '.join(Phase)}")
    return phase


def mark_of(function: object) -> Mark | None:
    """Return the declaration of a function, None if it has none."""
    mark = getattr(function, _ATTRIBUTE, None)
    return mark if isinstance(mark, Mark) else None


def marked_functions(module: ModuleType) -> Mapping[str, Callable[..., int | None]]:
    """Return the declared functions of a module by their names in filters."""
    return {mark.name: value for value in vars(module).values() if (mark := mark_of(value)) is not None}


REQ_PROCEED, REQ_ABORTED, REQ_NOACTION, REQ_EXIT, REQ_RESTART = Answer

MAX_REASON_LENGTH = 200
"""Maximum number of characters kept of an error message."""

_DENYING = frozenset({Answer.ABORTED, Answer.EXIT, Answer.RESTART})


class ResourceHandle:
    """The resource passed to a user function (`csr`).

    A function should use only sources available in its phase: those of the URL before the fetch, headers and META
    data after it.
    """

    __slots__ = ("_view",)

    def __init__(self, view: View) -> None:
        self._view = view

    @property
    def url(self) -> str:
        """The URL of the resource."""
        return self._view.resource.url

    @property
    def rd(self) -> dict[str, list[str]]:
        """The resource description being built: fields with their values."""
        return self._view.rd

    @property
    def body(self) -> bytes:
        """The body of the response, empty before the fetch."""
        return self._view.resource.fetched.body if self._view.resource.fetched else b""

    def source(self, name: str) -> str:
        """Return the first value of a source, empty if there is none."""
        return self._view.value(source_name(name))

    def assign(self, name: str, *values: str) -> None:
        """Set the values of a source. Raises `TypeError` for values that are not strings."""
        _require_texts(f"source {name}", values)
        self._view.assign(source_name(name), *values)

    def spawn(self, url: str) -> None:
        """Add a URL to those found in the resource. Raises `TypeError` if it is not a string."""
        _require_texts("URL", [url])
        if url not in self._view.links:
            self._view.links.append(url)


def _require_texts(what: str, values: object) -> None:
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"{what}: {values!r:.80} is no list of texts")


OwnFunction = Callable[[Mapping[str, str], FilterHandle, ResourceHandle], int | None]
"""A user function; it returns one of the REQ_ codes, None counts as REQ_PROCEED."""


def own_function(name: str, call: OwnFunction) -> Function:
    """Wrap a user function for use in directives; if it raises, the resource is denied.

    A declared function (`filter_function`) is checked against its declaration; others are allowed in all phases.
    """

    def build(block: ParameterBlock, handle: FilterHandle, robot: Robot) -> Step:
        def step(view: View) -> Answer:
            failure = ""
            try:
                answer = Answer(robot.call_function(lambda: call(block, handle, ResourceHandle(view))) or 0)
                for field, values in view.rd.items():
                    _require_texts(f"field {field}", values)
            except (Exception, SystemExit) as error:  # user code: its failure costs one resource
                if isinstance(error, HungError) and view.resource.url:
                    raise  # the machine may be too busy: the visit fails, and nothing is denied
                failure = f"{type(error).__name__}: {' '.join(str(error).split())[:MAX_REASON_LENGTH]}"
                robot.log(f"{name}: {view.resource.url}: {failure}")
                answer = Answer.ABORTED
            if answer in _DENYING and not view.cause:
                view.deny(f"{name} answered REQ_{answer.name}", failure)
            return answer

        return step

    mark = mark_of(call)
    if mark is None:
        return Function(name, frozenset(Phase), build, makes=(ANYTHING,), open=True)
    return Function(name, mark.phases, build, mark.parameters, makes=(ANYTHING,), open=mark.open)
