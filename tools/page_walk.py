"""Count what the visits of a crawl enter, from the queue to the recorded outcome: modules, moves between them, calls.

    python tools/page_walk.py FOLDER [ARGUMENTS OF crawl]

FOLDER has the `ultracrawl.yaml`. Only one visit is counted at a time; calls between its steps belong to it. Printed is
a line for each visit, on standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import ultracrawl
from ultracrawl.cli.main import run_words
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.run.recorder import Recorder

ROOT = f"{Path(ultracrawl.__file__).parent}{os.sep}"


@dataclass(frozen=True)
class Walk:
    """What one visit entered."""

    url: str
    outcome: str
    modules: int
    moves: int
    """Calls that lead from one module into another."""
    calls: int

    def __str__(self) -> str:
        return (
            f"{self.modules:4} modules {self.moves:5} moves {self.calls:5} calls  {self.outcome}  {self.url}"
        )


@dataclass
class PageWalk:
    """Counts visits while it is entered; it replaces the methods that hand out a URL and record its outcome."""

    walks: list[Walk] = field(default_factory=list)
    _url: str | None = None
    _entered: list[str] = field(default_factory=list)
    _replaced: tuple[Callable[..., Any], Callable[..., Any]] = (Frontier.pop_entry, Recorder.end_visit)

    def __enter__(self) -> PageWalk:
        pop, end = self._replaced

        def pop_entry(frontier: Any, now: float) -> Any:
            entry = pop(frontier, now)
            if entry is not None and self._url is None:
                self._url = entry.url
                self._entered.clear()
            return entry

        def end_visit(recorder: Any, visit: Any, ending: Any) -> None:
            end(recorder, visit, ending)
            if visit.url == self._url:
                self._note(str(visit.outcome))

        self._put(pop_entry, end_visit)
        sys.setprofile(self._on_event)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        self._put(*self._replaced)

    def _put(self, pop_entry: Any, end_visit: Any) -> None:
        for owner, method in ((Frontier, pop_entry), (Recorder, end_visit)):
            setattr(owner, method.__name__, method)

    def _on_event(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and self._url is not None and frame.f_code.co_filename.startswith(ROOT):
            self._entered.append(frame.f_code.co_filename)

    def _note(self, outcome: str) -> None:
        assert self._url is not None
        moves = sum(before != after for before, after in pairwise(self._entered))
        self.walks.append(Walk(self._url, outcome, len(set(self._entered)), moves, len(self._entered)))
        self._url = None


def main(arguments: list[str] | None = None) -> int:
    """Crawl, and print a line for each visit."""
    folder, *options = sys.argv[1:] if arguments is None else arguments
    with PageWalk() as walk:
        status = run_words(["crawl", "-c", folder, *options])
    print(*walk.walks, sep="\n", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
