"""A robot application function: its name, where it may stand, what it takes, and how it becomes a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ultracrawl.rules.filters.parameters import Parameter, ParameterBlock
from ultracrawl.rules.filters.phase import Answer, FilterKind, Phase
from ultracrawl.rules.filters.resource import View
from ultracrawl.rules.filters.robot import Robot

Step = Callable[[View], Answer]
"""What a directive does for one resource."""

ANYTHING = "*"

METADATA_AND_DATA = frozenset({Phase.METADATA, Phase.DATA})


class FilterError(Exception):
    """A directive that cannot be used; `problem` and `instead` as in a `Finding`."""

    def __init__(self, problem: str, instead: str) -> None:
        super().__init__(f"{problem}; {instead}")
        self.problem = problem
        self.instead = instead


@dataclass(frozen=True, slots=True)
class FilterHandle:
    """Where a directive stands: in which filter, and when that runs it. Functions of your own get it as `csf`."""

    name: str
    kind: FilterKind
    phase: Phase


Build = Callable[[ParameterBlock, FilterHandle, Robot], Step]
"""Makes the step of a directive, once. Raises `FilterError`."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that directives may name.

    `reads` are the parameters whose value is a source: one that cannot exist in the phase makes the directive do
    nothing, unless it is among those that the function knows by itself (`knows`). `makes` are the sources that it
    gives values, or the parameters that name them; `ANYTHING`: whichever it likes. `once`: at most one enabled use
    in a filter. `after`: a function that must have been used before in the same filter. `open`: it takes parameters
    that are not listed.
    """

    name: str
    phases: frozenset[Phase]
    build: Build
    parameters: tuple[Parameter, ...] = ()
    reads: tuple[str, ...] = ()
    knows: frozenset[str] = frozenset()
    makes: tuple[str, ...] = ()
    once: bool = False
    after: str = ""
    open: bool = False

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter of a name."""
        return next((one for one in self.parameters if one.name == name), None)

    @property
    def required(self) -> Sequence[str]:
        """The names of the parameters that must be given."""
        return [one.name for one in self.parameters if one.required]


def of_type(block: ParameterBlock, step: Step) -> Step:
    """Let a step see only resources of the type that its directive names, if it names one."""
    wanted = block.get("type", "").lower()
    if not wanted:
        return step
    return lambda view: step(view) if view.type == wanted else Answer.NOACTION


def run(steps: Sequence[Step], view: View) -> Answer:
    """Run steps in order until one denies or ends; return how it ended."""
    for step in steps:
        answer = step(view)
        if answer is not Answer.PROCEED and answer is not Answer.NOACTION:
            return answer
    return Answer.PROCEED
