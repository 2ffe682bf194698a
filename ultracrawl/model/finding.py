"""One mistake (or doubt) found in a definition file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, where, and what to write instead.

    `line` counts from 1; 0 means the file as a whole. `key` is the dotted path of the option
    (`sources.handbook.depth`). `fatal` findings stop a crawl, others are advice.
    """

    file: str
    line: int
    key: str
    problem: str
    instead: str
    fatal: bool = True

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where} - {self.key} - {self.problem}; {self.instead}"
