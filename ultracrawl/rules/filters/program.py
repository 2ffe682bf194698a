"""Compilation of filters: directives become steps, so that nothing is parsed per resource."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Protocol

from ultracrawl.dataclass import dataclass, field
from ultracrawl.rules.filters.function import (
    ANYTHING,
    SWITCHES,
    FilterError,
    FilterHandle,
    Function,
    Parameter,
    ParameterBlock,
    Robot,
    Step,
    run,
)
from ultracrawl.rules.filters.phase import Answer, FilterKind, Phase
from ultracrawl.rules.filters.resource import BEFORE_FETCH, HEADER_SOURCES, Resource, View, source_name

OWN = frozenset({"fn", "enable"})
"""Parameters of every directive that are not passed to functions."""


@dataclass(frozen=True, slots=True)
class FilterLine:
    """A directive as written: `word` in any case, all pairs in order, including `fn` and `enable`."""

    word: str
    pairs: Sequence[tuple[str, str]]
    line: int = 0

    def __str__(self) -> str:
        """Return the directive in one line."""
        pairs = " ".join(
            f'{name}="{value}"' if " " in value else f"{name}={value}" for name, value in self.pairs
        )
        return f"{self.word} {pairs}"


class NoteMistake(Protocol):
    """Receives mistakes in filters."""

    def __call__(self, line: int, key: str, problem: str, instead: str, *, fatal: bool = True) -> None:
        """Report a mistake in a line, and what to write instead."""


@dataclass(slots=True)
class FilterProgram:
    """A compiled filter. Each phase runs once per resource, Setup and Shutdown once per robot."""

    name: str
    kind: FilterKind
    steps: dict[Phase, list[Step]] = field(default_factory=lambda: {phase: [] for phase in Phase})
    lines: dict[Phase, list[FilterLine]] = field(default_factory=lambda: {phase: [] for phase in Phase})
    """The directive of each step."""

    def start(self) -> Answer:
        """Run the Setup directives."""
        return run(self.steps[Phase.SETUP], View(Resource("")))

    def judge(self, view: View) -> Answer:
        """Run MetaData, which decides whether the resource is fetched for this filter."""
        return run(self.steps[Phase.METADATA], view)

    def inspect(self, view: View) -> Answer:
        """Run Data, which decides whether this filter uses the fetched resource."""
        return run(self.steps[Phase.DATA], view)

    def use(self, view: View) -> Answer:
        """Run Enumerate or Generate, which add links to `view.links` and fields to `view.rd`."""
        answer = run(self.steps[Phase.ENUMERATE], view)
        return answer if answer is not Answer.PROCEED else run(self.steps[Phase.GENERATE], view)

    def trace(self, phase: Phase, view: View) -> Iterator[tuple[FilterLine, Answer]]:
        """Run the directives of one phase up to the one that denies; yield each with its answer.

        Those under Data that have run for the view are skipped. Raises `ConversionNeededError` under Data.
        """
        inspects = phase is Phase.DATA
        directives = zip(self.steps[phase], self.lines[phase], strict=True)
        for step, line in islice(directives, view.inspected if inspects else 0, None):
            answer = step(view)
            if inspects:
                view.note_inspected()
            yield line, answer
            if answer not in (Answer.PROCEED, Answer.NOACTION):
                return

    def stop(self) -> Answer:
        """Run the Shutdown directives."""
        return run(self.steps[Phase.SHUTDOWN], View(Resource("")))


@dataclass(slots=True)
class _Used:
    """The functions used and the sources set by the previous lines."""

    functions: set[str] = field(default_factory=set)
    meant: set[str] = field(default_factory=set)
    """The functions of lines with a mistake: lines that need one of them are correct."""
    sources: set[str] = field(default_factory=set)


class FilterCompiler:
    """Compiles filters; reports mistakes to `note_mistake` and skips their lines.

    `lost` are notes about functions that exist but cannot be loaded; they are part of the advice.
    """

    def __init__(
        self,
        robot: Robot,
        functions: Mapping[str, Function],
        note_mistake: NoteMistake,
        lost: Iterable[str] = (),
    ) -> None:
        self._robot = robot
        self._functions = functions
        self._note_mistake = note_mistake
        self._lost = lost

    def compile(self, name: str, kind: FilterKind, lines: Iterable[FilterLine]) -> FilterProgram:
        """Compile the directives of one filter."""
        program = FilterProgram(name, kind)
        used = _Used()
        placed: list[tuple[Phase, FilterLine]] = []
        for line in lines:
            phase = self._phase(line, kind)
            if phase is not None:
                placed.append((phase, line))
            else:
                used.meant.update(text for key, text in line.pairs if key == "fn")
        placed.sort(key=lambda item: _ORDER[item[0]])
        for phase, line in placed:
            step = self._compile(line, FilterHandle(name, kind, phase), used)
            if step is not None:
                program.steps[phase].append(step)
                program.lines[phase].append(line)
        return program

    def _phase(self, line: FilterLine, kind: FilterKind) -> Phase | None:
        phase = Phase.named(line.word)
        if phase is None:
            names = ", ".join(Phase)
            self._note_mistake(
                line.line, line.word or "directive", "no directive of a filter", f"write one of {names}"
            )
        elif phase is kind.forbids:
            instead = f"move it to the {_OTHER[kind]} filter"
            self._note_mistake(line.line, phase.value, f"is not allowed in an {kind} filter", instead)
            return None
        return phase

    def _compile(self, line: FilterLine, place: FilterHandle, used: _Used) -> Step | None:
        pairs = self._pairs(line)
        function = self._function(line, pairs)
        if function is None:
            used.meant.update(_near(pairs.get("fn", ""), self._functions))
            return None
        block = ParameterBlock(
            function.name, {name: text for name, text in pairs.items() if name not in OWN}, line.line
        )
        good = self._checks(block, function, place)
        if not self._enabled(line, pairs) or (good and not self._in_order(block, function, used)):
            return None
        used.functions.add(function.name)  # even with a mistake: lines that depend on it are correct
        if not good or self._reads_too_early(block, function, place, used.sources):
            return None
        used.sources.update(source_name(block.get(name, name)) for name in function.makes)
        try:
            return function.build(block, place, self._robot)
        except FilterError as error:
            self._note_mistake(line.line, function.name, error.problem, error.instead)
            return None

    def _pairs(self, line: FilterLine) -> dict[str, str]:
        pairs: dict[str, str] = {}
        for name, text in line.pairs:
            if name in pairs:
                self._note_mistake(
                    line.line, name, "given twice; the first is used", "remove one of them", fatal=False
                )
            else:
                pairs[name] = text
        return pairs

    def _function(self, line: FilterLine, pairs: Mapping[str, str]) -> Function | None:
        if "fn" not in pairs:
            self._note_mistake(line.line, line.word, "names no function", "add fn=NAME")
            return None
        function = self._functions.get(pairs["fn"])
        if function is None:
            instead = "; ".join((_similar(pairs["fn"], self._functions), *self._lost))
            self._note_mistake(line.line, "fn", f"there is no function `{pairs['fn']}`", instead)
        return function

    def _enabled(self, line: FilterLine, pairs: Mapping[str, str]) -> bool:
        text = pairs.get("enable", "true")
        if text.lower() not in SWITCHES:
            self._note_mistake(
                line.line, "enable", f"`{text}` is not true, false, on or off", "write one of them"
            )
        return SWITCHES.get(text.lower(), False)

    def _checks(self, block: ParameterBlock, function: Function, place: FilterHandle) -> bool:
        mistakes = list(_mistakes(block, function, place))
        for key, problem, instead in mistakes:
            self._note_mistake(block.line, key, problem, instead)
        return not mistakes

    def _in_order(self, block: ParameterBlock, function: Function, used: _Used) -> bool:
        if function.once and function.name in used.functions:
            self._note_mistake(
                block.line, function.name, "used twice in one filter", "remove or switch off one of them"
            )
            return False
        if function.after and function.after not in used.functions | used.meant:
            instead = f"add fn={function.after} to the same filter, ahead of this line"
            self._note_mistake(block.line, function.name, f"needs {function.after} before it", instead)
            return False
        return True

    def _reads_too_early(
        self, block: ParameterBlock, function: Function, place: FilterHandle, made: set[str]
    ) -> bool:
        if place.phase is not Phase.METADATA or ANYTHING in made:
            return False
        there = BEFORE_FETCH | made | function.knows
        early = [
            block[name] for name in function.reads if name in block and source_name(block[name]) not in there
        ]
        for source in early:
            problem = f"`{source}` is not known before the fetch, so the line does nothing"
            instead = "write it under Data"
            if source not in (*HEADER_SOURCES, "type"):
                instead += f"; there it is the META tag `{source}` of HTML pages, if no function sets it"
            self._note_mistake(block.line, function.name, problem, instead, fatal=False)
        return bool(early)


def _mistakes(
    block: ParameterBlock, function: Function, place: FilterHandle
) -> Iterable[tuple[str, str, str]]:
    """Yield key, problem and advice for each mistake in the parameters."""
    if place.phase not in function.phases:
        names = " or ".join(phase.value for phase in Phase if phase in function.phases)
        yield function.name, f"is not allowed under {place.phase.value}", f"write it under {names}"
    for name in function.required:
        if name not in block:
            yield function.name, f"lacks {name}", f"add {name}=VALUE"
    if not function.open:
        yield from _mistaken_values(block, function)


def _mistaken_values(block: ParameterBlock, function: Function) -> Iterable[tuple[str, str, str]]:
    for name, text in block.items():
        known: Parameter | None = function.parameter(name)
        if known is None:
            takes = ", ".join(parameter.name for parameter in function.parameters) or "none"
            yield name, f"{function.name} takes no parameter `{name}`", f"it takes {takes}"
        elif problem := known.problem(text):
            yield name, problem, known.advice


def _near(name: str, known: Iterable[str]) -> list[str]:
    """Return the function that a name is probably a misspelling of, if there is one."""
    from difflib import get_close_matches  # noqa: PLC0415 - only needed for a mistake

    return get_close_matches(name, list(known), 1)


def _similar(name: str, known: Iterable[str]) -> str:
    matches = _near(name, known)
    return (
        f"did you mean `{matches[0]}`"
        if matches
        else "name a built-in function, or load your own with load-modules"
    )


_ORDER = {phase: number for number, phase in enumerate(Phase)}
_OTHER = {FilterKind.ENUMERATION: FilterKind.GENERATION, FilterKind.GENERATION: FilterKind.ENUMERATION}
