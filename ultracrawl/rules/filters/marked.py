"""Functions of your own that say themselves what they are called, where they may stand and what they take.

    @filter_function(under=["Generate"], needs=["name"])
    def by_department(pb, csf, csr):
        csr.rd["department"] = [pb["name"]]
        return REQ_PROCEED

What such a function says of itself is checked when definitions are read, as it is for built-in functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TypeVar

from ultracrawl.rules.filters.function import Parameter
from ultracrawl.rules.filters.phase import Phase

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
