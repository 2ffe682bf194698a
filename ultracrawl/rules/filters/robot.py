"""What all filters of one robot share: functions for I/O that are handed in, and what the robot remembers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Never, Protocol

import re2

from ultracrawl.model import Decision, Page

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
    convert: Callable[[bytes, str, str], Page | None] = lambda *_: None
    """Turns a body, with its content type and URL, into a page; None if it cannot be converted."""
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
