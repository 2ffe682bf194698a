"""Findings: mistakes and doubtful settings in definition files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError


class FindingCode(StrEnum):
    """Findings that code reacts to."""

    NO_START = "no-start"
    """A source has no start URL, so it would crawl nothing."""
    SECRET_IN_CLEAR = "secret-in-clear"  # noqa: S105 - the name of a kind
    """A definition contains a secret in clear text."""
    NEVER_DUE = "never-due"
    """Nothing crawls a source by time."""
    UNCOUNTED = "uncounted"
    """A hint about the machine where it is checked, or about what people may want: no option of the source is wrong."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, where, and what to write instead.

    `line` counts from 1; 0 means the whole file. `key` is the dotted path of the option
    (`sources.handbook.depth`). `fatal` findings stop a crawl, others are advice. `code` is set if code reacts to it.
    """

    file: str
    line: int
    key: str
    problem: str
    instead: str
    fatal: bool = True
    code: FindingCode | None = None

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where} - {self.key} - {self.problem}; {self.instead}"

    def as_json(self) -> dict[str, Any]:
        """Return the finding in the shape of `ultracrawl lint --json`."""
        names = ("file", "line", "key", "problem", "instead", "fatal")
        return {name: getattr(self, name) for name in names}


class DefinitionError(UserError):
    """A definition file has mistakes: `findings`, in file order."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("\n".join(str(finding) for finding in findings))
        self.findings = tuple(findings)


def fatal_of(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that make a definition unusable."""
    return tuple(finding for finding in findings if finding.fatal)


def refuse_fatal(findings: Iterable[Finding]) -> None:
    """Raise `DefinitionError` with all fatal findings if there are any."""
    if fatal := fatal_of(findings):
        raise DefinitionError(fatal)
