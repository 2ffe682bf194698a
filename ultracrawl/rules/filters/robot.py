"""What all filters of one robot share: the world outside, handed in, and what the robot remembers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

import re2

from ultracrawl.model import Decision, Page

REGEX_CACHE = 32
"""Compiled expressions that are kept unless `setup-regex-cache` says otherwise."""


class Converter(Protocol):
    """Turn a document into a page."""

    def __call__(self, body: bytes, content_type: str, url: str) -> Page | None:
        """Return the page that a document becomes, None if it cannot be converted."""


class Rules(Protocol):
    """The site definitions and filter rules of a `filterrules.conf`."""

    def judge(self, url: str, media_type: str | None = None, depth: int = 0) -> Decision:
        """Say whether a URL is inside; `media_type` is None before the fetch, `depth` its link steps."""


class ExpressionCache:
    """Compiled expressions, the least recently used of which gives way; results do not depend on the size."""

    def __init__(self, size: int = REGEX_CACHE) -> None:
        self.size = size
        self._compiled: OrderedDict[str, re2._Regexp] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of expressions that are kept."""
        return len(self._compiled)

    def covers(self, expression: str, text: str) -> bool:
        """Return whether an expression, which was checked before, covers a whole text."""
        compiled = self._compiled.get(expression)
        if compiled is None:
            compiled = self._compiled[expression] = re2.compile(expression)
            if len(self._compiled) > self.size:
                self._compiled.popitem(last=False)
        else:
            self._compiled.move_to_end(expression)
        return compiled.fullmatch(text) is not None


def _no_file(path: str) -> str:
    raise FileNotFoundError(path)


def _no_rules(_: str) -> Rules:
    raise FileNotFoundError


def _no_conversion(body: bytes, content_type: str, url: str) -> Page | None:  # noqa: ARG001 - as `Converter` has it
    return None


def _no_program(_program: str, _body: bytes) -> str:
    raise FileNotFoundError(_program)


@dataclass
class Robot:
    """The surroundings of the filters. Nothing in here does I/O by itself: whoever runs a robot hands it in."""

    read: Callable[[str], str] = _no_file
    """Returns the text of a file, whose path is relative to the instance. Raises `OSError`."""
    load_rules: Callable[[str], Rules] = _no_rules
    """Reads a file of filter rules, once for both filters. Raises `OSError`."""
    convert: Converter = _no_conversion
    converts: bool = False
    """Whether a filter has `convert-to-html`."""
    summarize: Callable[[str, bytes], str] = _no_program
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
    expressions: dict[str, ExpressionCache] = field(default_factory=dict)
    """The cache of each filter."""
    extensions: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """Media types by extension, of each filter."""
    rules: dict[str, Rules] = field(default_factory=dict)
    """The filter rules of each filter."""
    log_types: dict[str, str] = field(default_factory=dict)
    """How much the log of decisions says of each filter: `terse`, `normal` or `verbose`."""

    def begin_run(self) -> None:
        """Forget what is counted and remembered by run."""
        self.hosts.clear()
        self.checksums.clear()
        self.objects = 0

    def count(self, host: str) -> int:
        """Take note of a resource that is going to be fetched; return the how-manieth of this run it is."""
        self.objects += 1
        self.hosts.add(host)
        return self.objects

    def cache_of(self, name: str) -> ExpressionCache:
        """Return the expression cache of a filter."""
        return self.expressions.setdefault(name, ExpressionCache())
