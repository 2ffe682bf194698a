"""Robot application functions: their phases, parameters and compilation to steps; the state of a robot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from functools import lru_cache
from typing import Never, Protocol

import re2

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import AdvisedError
from ultracrawl.model import Decision
from ultracrawl.rules.filters.phase import Answer, FilterKind, Phase
from ultracrawl.rules.filters.resource import View

REGEX_CACHE = 32
"""Default number of cached compiled expressions, see `setup-regex-cache`."""


class Rules(Protocol):
    """The site definitions and filter rules of a `filterrules.conf`."""

    def judge(self, url: str, media_type: str | None = None, depth: int = 0) -> Decision:
        """Decide whether a URL is accepted; `media_type` is None before the fetch, `depth` its link steps."""


Compile = Callable[[str], re2._Regexp]


def expression_cache(size: int = REGEX_CACHE) -> Compile:
    """Return an LRU-cached compile function for expressions that were checked before."""
    return lru_cache(size)(re2.compile)


def _not_found(name: str, *_: object) -> Never:
    raise FileNotFoundError(name)


@dataclass
class Robot:
    """The state shared by the filters of a robot. It performs no I/O; the caller passes the functions that do."""

    read: Callable[[str], str] = _not_found
    """Returns the text of a file by its path relative to the instance. Raises `OSError`."""
    load_rules: Callable[[str], Rules] = _not_found
    """Reads a file of filter rules, once for both filters. Raises `OSError`."""
    converts: bool = False
    """Whether a filter uses `convert-to-html`."""
    summarize: Callable[[str, bytes], str] = _not_found
    """Runs a summarizer on a body and returns its output. Raises `OSError`."""
    has_summarizers: bool = False
    """Whether the folder of the Harvest programs is in `PATH`."""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    log: Callable[[str], None] = lambda _: None
    call_function: Callable[[Callable[[], int | None]], int | None] = lambda call: call()
    """Calls a user function within limits. Raises `TimeoutError`, `MemoryError` and `HungError`."""
    max_classifications: int = 10
    hosts: set[str] = field(default_factory=set)
    """Hosts of the resources fetched in this run."""
    objects: int = 0
    """Number of resources fetched in this run."""
    holder_of: Callable[[str, str], str] = field(default_factory=lambda: dict[str, str]().setdefault)
    """Returns the URL that holds a checksum, given as (checksum, URL); the URL becomes the holder if there is none."""
    compared_in: set[FilterKind] = field(default_factory=set)
    """The kinds of filters that use `filter-by-md5`."""
    expressions: dict[str, Compile] = field(default_factory=dict)
    """Expression caches by filter."""
    extensions: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """Media types by extension, by filter."""
    rules: dict[str, Rules] = field(default_factory=dict)
    """The filter rules, by filter."""
    log_types: dict[str, str] = field(default_factory=dict)
    """The detail of the decision log (`terse`, `normal` or `verbose`), by filter."""

    def begin_run(self) -> None:
        """Reset the state of the run."""
        self.hosts.clear()
        self.objects = 0

    def continue_run(self, before: Robot) -> None:
        """Go on with the counts of the run of another robot, whose files have been read again since."""
        self.hosts, self.objects = set(before.hosts), before.objects

    def note_conversion(self) -> None:
        """Note that a filter uses `convert-to-html`."""
        self.converts = True

    def note_comparison(self, kind: FilterKind) -> None:
        """Note that a filter uses `filter-by-md5`."""
        self.compared_in.add(kind)

    def look_up_holders(self, holder_of: Callable[[str, str], str]) -> None:
        """Set the function that returns the holder of a checksum (`holder_of`)."""
        self.holder_of = holder_of

    def send_log_to(self, log: Callable[[str], None]) -> None:
        """Set the function that receives log messages of filters."""
        self.log = log

    def count(self, host: str) -> int:
        """Count a resource to be fetched; returns its number in this run, from 1."""
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
    """The type of a parameter."""

    TEXT = "a text"
    NUMBER = "a whole number"
    SWITCH = "true, false, on or off"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function.

    `choices` are the allowed values (empty: any), `least` and `most` the bounds of a number.
    """

    name: str
    form: Form = Form.TEXT
    required: bool = False
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None

    @property
    def advice(self) -> str:
        """What to write."""
        if self.choices:
            return "write one of these"
        if self.most is not None:
            return f"write {self.form.value} from {self.least} to {self.most}"
        return f"write {self.form.value}" + ("" if self.least is None else f", {self.least} or more")

    def problem(self, text: str) -> str:
        """Return what is wrong with a value, empty if it is valid."""
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
        if self.most is not None and int(text) > self.most:
            return f"{text} is more than {self.most}"
        return ""


class ParameterBlock(Mapping[str, str]):
    """The read-only parameters that a directive passes to its function."""

    __slots__ = ("_pairs", "function", "line")

    def __init__(self, function: str, pairs: Mapping[str, str], line: int = 0) -> None:
        self.function = function
        self.line = line
        self._pairs = dict(pairs)

    def __getitem__(self, name: str) -> str:
        """Return a value as written. Raises `KeyError`."""
        return self._pairs[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._pairs)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self._pairs)

    def number(self, name: str, default: int | None = None) -> int | None:
        """Return a value, already validated, as a number."""
        text = self._pairs.get(name)
        return default if text is None else int(text)

    def switch(self, name: str, default: bool = False) -> bool:
        """Return a value, already validated, as a boolean."""
        text = self._pairs.get(name)
        return default if text is None else SWITCHES[text.lower()]


Step = Callable[[View], Answer]
"""A compiled directive: runs it for one resource."""

ANYTHING = "*"

METADATA_AND_DATA = frozenset({Phase.METADATA, Phase.DATA})


class FilterError(AdvisedError):
    """A directive that cannot be used."""


@dataclass(frozen=True, slots=True)
class FilterHandle:
    """The filter and phase of a directive. User functions get it as `csf`."""

    name: str
    kind: FilterKind
    phase: Phase


Build = Callable[[ParameterBlock, FilterHandle, Robot], Step]
"""Compiles a directive to a step. Raises `FilterError`."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that directives may name.

    `reads` are the parameters whose value is a source: if it is not available in the phase, the directive does
    nothing, unless the function provides it itself (`knows`). `makes` are the sources that it
    sets, or the parameters that name them; `ANYTHING`: any source. `once`: at most one enabled use
    in a filter. `after`: a function that must be used before in the same filter. `open`: it takes unlisted
    parameters.
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
        """Return the parameter of a name, None if there is none."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    @property
    def required(self) -> Sequence[str]:
        """The names of the required parameters."""
        return [parameter.name for parameter in self.parameters if parameter.required]


def of_type(block: ParameterBlock, step: Step) -> Step:
    """Restrict a step to resources of the type that its directive names, if it names one."""
    media_type = block.get("type", "").lower()
    if not media_type:
        return step
    return lambda view: step(view) if view.type == media_type else Answer.NOACTION


def run(steps: Sequence[Step], view: View) -> Answer:
    """Run steps in order until one returns neither PROCEED nor NOACTION; return that answer, else PROCEED."""
    for step in steps:
        answer = step(view)
        if answer is not Answer.PROCEED and answer is not Answer.NOACTION:
            return answer
    return Answer.PROCEED
