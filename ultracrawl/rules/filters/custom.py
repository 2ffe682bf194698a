"""Functions of your own, in Python: what the vendor's robot loaded from shared objects.

Such a function, for `Generate fn=by-department name=Sales`:

    def by_department(pb, csf, csr):
        csr.rd["department"] = [pb["name"]]
        return REQ_PROCEED

One may say itself what it is called, where it may stand and what it takes; that is checked when definitions are read:

    @filter_function(under=["Generate"], needs=["name"])
    def by_department(pb, csf, csr):
        csr.rd["department"] = [pb["name"]]
        return REQ_PROCEED
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TypeVar

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

_ATTRIBUTE = "__ultracrawl_filter_function__"

Marked = TypeVar("Marked", bound=Callable[..., int | None])


@dataclass(frozen=True, slots=True)
class Mark:
    """What a function says of itself; `open`: it takes parameters that it does not name."""

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
    """Mark a function for use in filters; write the parentheses even if there is nothing in them.

    `name` is the name for `fn=`, by default that of the function with `-` for `_`; `under` the directives where it
    may stand; `needs` the parameters that have to be given, `takes` those that may be. Without either it takes all.
    Raises `ValueError` for a directive that there is not.
    """
    phases = frozenset(map(_phase, under))
    parameters = (*(Parameter(one, required=True) for one in needs), *map(Parameter, takes))

    def mark(function: Marked) -> Marked:
        called = name or function.__name__.replace("_", "-")
        setattr(function, _ATTRIBUTE, Mark(called, phases, parameters, not parameters))
        return function

    return mark


def _phase(word: str) -> Phase:
    phase = Phase.named(word)
    if phase is None:
        raise ValueError(f"{word!r} is no directive of a filter; write one of {', '.join(Phase)}")
    return phase


def mark_of(function: object) -> Mark | None:
    """Return what a function says of itself, None if it says nothing."""
    found = getattr(function, _ATTRIBUTE, None)
    return found if isinstance(found, Mark) else None


def marked_functions(module: ModuleType) -> Mapping[str, Callable[..., int | None]]:
    """Return the marked functions of a module by the names that they go by in filters."""
    return {mark.name: one for one in vars(module).values() if (mark := mark_of(one)) is not None}


REQ_PROCEED, REQ_ABORTED, REQ_NOACTION, REQ_EXIT, REQ_RESTART = Answer

LONGEST_REASON = 200
"""Characters of an error that are kept."""

_DENYING = frozenset({Answer.ABORTED, Answer.EXIT, Answer.RESTART})


class ResourceHandle:
    """The resource that a function of your own works on (`csr`).

    A function should read only the sources of its phase: the URL's before the fetch, headers and META data after it.
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
        """The resource description in the making: fields with their values."""
        return self._view.rd

    @property
    def body(self) -> bytes:
        """The body as it came, empty before the fetch."""
        return self._view.resource.fetched.body if self._view.resource.fetched else b""

    def source(self, name: str) -> str:
        """Return a source, empty if there is none."""
        return self._view.value(source_name(name))

    def assign(self, name: str, *values: str) -> None:
        """Give a source new values. Raises `TypeError` for what is no text."""
        _require_texts(f"source {name}", values)
        self._view.assign(source_name(name), *values)

    def spawn(self, url: str) -> None:
        """Add a URL to those found in the resource. Raises `TypeError` for what is no text."""
        _require_texts("URL", [url])
        if url not in self._view.links:
            self._view.links.append(url)


def _require_texts(what: str, values: object) -> None:
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"{what}: {values!r:.80} is no list of texts")


OwnFunction = Callable[[Mapping[str, str], FilterHandle, ResourceHandle], int | None]
"""Your function; it answers with one of the REQ_ codes, None counts as REQ_PROCEED."""


def own_function(name: str, call: OwnFunction) -> Function:
    """Return a function that directives may name. One that raises denies the resource, and the robot goes on.

    A function that is marked (`filter_function`) is checked by what it says of itself; others may stand anywhere.
    """

    def build(block: ParameterBlock, handle: FilterHandle, robot: Robot) -> Step:
        def step(view: View) -> Answer:
            failure = ""
            try:
                with robot.limit():
                    answer = Answer(call(block, handle, ResourceHandle(view)) or 0)
                for field, values in view.rd.items():
                    _require_texts(f"field {field}", values)
            except (Exception, SystemExit) as error:  # the edge to code of others: one resource is lost
                failure = f"{type(error).__name__}: {' '.join(str(error).split())[:LONGEST_REASON]}"
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
