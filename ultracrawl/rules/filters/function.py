"""A robot application function: where it may stand, what it takes, how it becomes a step; and its robot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from functools import lru_cache
from typing import Never, Protocol

import re2

from ultracrawl.errors import AdvisedError
from ultracrawl.model import Decision
from ultracrawl.rules.filters.phase import Answer, FilterKind, Phase
from ultracrawl.rules.filters.resource import View

REGEX_CACHE = 32
"""Compiled expressions that are kept unless `setup-regex-cache` says otherwise."""


class Rules(Protocol):
    """The site definitions and filter rules of a `filterrules.conf`."""

    def judge(self, url: str, media_type: str | None = None, depth: int = 0) -> Decision:
        """Say whether a URL is inside; `media_type` is None before the fetch, `depth` its link steps."""


Compile = Callable[[str], re2._Regexp]


def expression_cache(size: int = REGEX_CACHE) -> Compile:
    """Return what compiles expressions that were checked before, and keeps those that were used last."""
    return lru_cache(size)(re2.compile)


def _nothing_there(name: str, *_: object) -> Never:
    raise FileNotFoundError(name)


@dataclass
class Robot:
    """The surroundings of the filters. Nothing in here does I/O by itself: whoever runs a robot hands it in."""

    read: Callable[[str], str] = _nothing_there
    """Returns the text of a file, whose path is relative to the instance. Raises `OSError`."""
    load_rules: Callable[[str], Rules] = _nothing_there
    """Reads a file of filter rules, once for both filters. Raises `OSError`."""
    converts: bool = False
    """Whether a filter has `convert-to-html`."""
    summarize: Callable[[str, bytes], str] = _nothing_there
    """Runs a summarizer on a body and returns what it prints. Raises `OSError`."""
    has_summarizers: bool = False
    """Whether the folder of the Harvest programs is in `PATH`."""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    log: Callable[[str], None] = lambda _: None
    limit: Callable[[], AbstractContextManager[None]] = nullcontext
    """Bounds the time of a function that somebody else wrote: raises `TimeoutError` in it."""
    most_classifications: int = 10
    hosts: set[str] = field(default_factory=set)
    """Hosts that the robot took resources from in this run."""
    objects: int = 0
    """Resources taken in this run."""
    checksums: dict[str, str] = field(default_factory=dict)
    """The first URL of each MD5 checksum."""
    expressions: dict[str, Compile] = field(default_factory=dict)
    """The cache of each filter."""
    extensions: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """Media types by extension, of each filter."""
    rules: dict[str, Rules] = field(default_factory=dict)
    """The filter rules of each filter."""
    log_types: dict[str, str] = field(default_factory=dict)
    """How much the log of decisions says of each filter: `terse`, `normal` or `verbose`."""

    def begin_run(self) -> None:
        """Reset what is counted and remembered for one run."""
        self.hosts.clear()
        self.checksums.clear()
        self.objects = 0

    def note_conversion(self) -> None:
        """Take note that a filter has `convert-to-html`."""
        self.converts = True

    def send_log_to(self, log: Callable[[str], None]) -> None:
        """Have what filters say go there from now on."""
        self.log = log

    def count(self, host: str) -> int:
        """Count a resource that is going to be fetched; return its number in this run, from 1."""
        self.objects += 1
        self.hosts.add(host)
        return self.objects

    def cache_of(self, name: str) -> Compile:
        """Return the expression cache of a filter."""
        cache = self.expressions.get(name)
        if cache is None:
            cache = self.expressions[name] = expression_cache()
        return cache


SWITCHES = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


class Form(Enum):
    """How the text of a parameter is read."""

    TEXT = "a text"
    NUMBER = "a whole number"
    SWITCH = "true, false, on or off"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that a function takes; its value is in `choices` if there are any, a number not below `least`."""

    name: str
    form: Form = Form.TEXT
    required: bool = False
    choices: tuple[str, ...] = ()
    least: int | None = None

    def problem(self, text: str) -> str:
        """Return what is wrong with a value, empty if nothing is."""
        if self.choices and text not in self.choices:
            return f"`{text}` is none of {', '.join(self.choices)}"
        if self.form is Form.SWITCH and text.lower() not in SWITCHES:
            return f"`{text}` is not true, false, on or off"
        if self.form is Form.NUMBER:
            return self._problem_of_number(text)
        return ""

    def _problem_of_number(self, text: str) -> str:
        if not text.removeprefix("-").isascii() or not text.removeprefix("-").isdigit() or len(text) > 18:
            return f"`{text}` is not a whole number"
        if self.least is not None and int(text) < self.least:
            return f"{text} is less than {self.least}"
        return ""


class ParameterBlock(Mapping[str, str]):
    """The pairs that a directive hands to its function; nobody can change them."""

    __slots__ = ("_pairs", "function", "line")

    def __init__(self, function: str, pairs: Mapping[str, str], line: int = 0) -> None:
        self.function = function
        self.line = line
        self._pairs = dict(pairs)

    def __getitem__(self, name: str) -> str:
        """Return a value as it was written. Raises `KeyError`."""
        return self._pairs[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._pairs)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self._pairs)

    def number(self, name: str, default: int | None = None) -> int | None:
        """Return a value that was checked to be a whole number."""
        text = self._pairs.get(name)
        return default if text is None else int(text)

    def switch(self, name: str, default: bool = False) -> bool:
        """Return a value that was checked to be a switch."""
        text = self._pairs.get(name)
        return default if text is None else SWITCHES[text.lower()]


Step = Callable[[View], Answer]
"""What a directive does for one resource."""

ANYTHING = "*"

METADATA_AND_DATA = frozenset({Phase.METADATA, Phase.DATA})


class FilterError(AdvisedError):
    """A directive that cannot be used."""


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
