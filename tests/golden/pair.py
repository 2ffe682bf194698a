"""A pair of site and definition: how it is registered, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from golden.stage import Stage

Change = Callable[[], object]
Words = tuple[str, ...]
Build = Callable[[Stage], Change | list[Change]]


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair; `build` fills the stage and returns what changes before the second run, and before further ones."""

    name: str
    build: Build
    config: str = ""
    """The file that `-c` names; none for `ultracrawl.yaml`."""
    kill_at: int = 4
    """The crawl is killed when this many requests came; the last of them is never answered. 0: it is not killed."""
    look: tuple[str, str, str] = ("/a", "http://elsewhere.example/", "/forbidden")
    """What is explained: URLs or paths of the site, one inside, one outside, one that robots.txt forbids."""
    code: int = 0
    """The exit code of the first crawl."""
    then: tuple[Words, ...] = ()
    """Further commands after each run, whose output belongs to the trace."""
    files: Words = ()
    """Files that runs write and that belong to the trace; they are removed after each run."""


PAIRS: dict[str, Pair] = {}


def pair(
    *,
    config: str = "",
    kill_at: int = 4,
    look: tuple[str, str, str] = ("/a", "http://elsewhere.example/", "/forbidden"),
    code: int = 0,
    then: tuple[Words, ...] = (),
    files: Words = (),
) -> Callable[[Build], Build]:
    """Register a function that builds a pair; it gives the pair its name."""

    def register(build: Build) -> Build:
        name = build.__name__
        assert name not in PAIRS, f"two pairs are called {name}"
        PAIRS[name] = Pair(name, build, config, kill_at, look, code, then, files)
        return build

    return register
