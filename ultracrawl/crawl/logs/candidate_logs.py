"""The logs of candidates, off unless a source asks for them: of those that were excluded, or of all that were judged.

Both are bounded, and have a JSON object a line, which escapes whatever a hostile link holds: line ends, half
characters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from ultracrawl.crawl.logs.appended import AppendedLog, older
from ultracrawl.model import LinkKind
from ultracrawl.model.candidate import Candidate, ExceededLimit, TrapCounts
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.candidates.rules import CandidateRules, TrapGuard
from ultracrawl.sources import LimitsSection, Project

LONGEST_URL = 4096
"""Characters of a URL that are written; links may be of any length."""
_DEFAULTS = Candidate("")


class ExcludedLink(TypedDict):
    """One line: what was excluded, by which rule, in which page (empty for start URLs), when (ISO 8601, UTC)."""

    time: str
    rule: str
    url: str
    parent: str


def excluded_path(project: Project, source: str) -> Path:
    """Return the file of a source's log; the full one before it has the same name with `.1` behind."""
    return project.logs.path / f"{source}.screened.jsonl"  # word: the file of users


class ExcludedLinksLog(AppendedLog):
    """Of links that were excluded."""

    def add(self, url: str, rule: str, parent: str) -> None:
        """Note one link; URLs are as canonical as they got."""
        line = ExcludedLink(time=self._now(), rule=rule, url=url[:LONGEST_URL], parent=parent[:LONGEST_URL])
        self.append_line(json.dumps(line) + "\n")


def read_excluded(path: Path) -> Iterator[ExcludedLink]:
    """Yield the lines of a log, the older file first; a line that was cut off by a crash is left out."""
    yield from _lines_of(path)


class JudgedCandidate(NamedTuple):
    """One line of the log of all candidates: what was judged in a run, by what, and how."""

    time: str
    """ISO 8601, UTC."""
    run: int
    candidate: Candidate
    stage: str
    """The stage that excluded it, empty if none did."""
    rule: str
    """The rule that excluded it, empty if none did."""


def candidates_path(project: Project, source: str) -> Path:
    """Return the file of a source's log; the full one before it has the same name with `.1` behind."""
    return project.logs.path / f"{source}.candidates.jsonl"


class CandidateLog(AppendedLog):
    """Of all candidates that were judged: how each was found, what was counted then, and what kept it out."""

    def begin(self, run: int, boundary: Boundary, limits: LimitsSection) -> None:
        """Note that a run begins, or goes on, and by which rules."""
        self._run = run
        self._rules = CandidateRules(boundary, TrapGuard(limits.urls_per_site, limits.query_variations, {}))
        self.append_line(json.dumps({"time": self._now(), "run": run}) + "\n")

    def add(self, candidate: Candidate, rule: str) -> None:
        """Note a candidate, and the rule that kept it out (empty for none)."""
        refusal = self._rules.refusal(candidate) if rule else None
        stage = refusal.stage if refusal and refusal.rule == rule else ""
        line = {
            "time": self._now(),
            "run": self._run,
            "url": candidate.url,
            "accept": not rule,
            "stage": stage,
            "rule": rule,
            **_as_json(candidate),
        }
        self.append_line(json.dumps(line) + "\n")


class RunOnRecord(NamedTuple):
    """What a log of candidates has of one run."""

    begins: bool
    """Whether it has the beginning; if not, a part of it was lost when the log grew."""
    found: list[JudgedCandidate]
    """What it says of the URLs that were looked for, in the order of the run."""


def read_candidates(path: Path, run: int, urls: Iterable[str] | None = None) -> RunOnRecord | None:
    """Return what a log says of some URLs (all without any) in a run, None if it has nothing of that run."""
    wanted = None if urls is None else frozenset(urls)
    begins, found, empty = False, list[JudgedCandidate](), True
    for line in _lines_of(path):
        if line.get("run") != run:
            continue
        begins, empty = begins or (empty and "url" not in line), False
        if "url" in line and (wanted is None or line["url"] in wanted):
            found.append(_judged(line))
    return None if empty else RunOnRecord(begins, found)


def _lines_of(path: Path) -> Iterator[Any]:
    for file in (older(path), path):
        if not file.exists():
            continue
        with file.open(encoding="ascii", errors="replace") as lines:
            for line in lines:
                try:
                    yield json.loads(line)
                except ValueError:
                    continue


def _as_json(candidate: Candidate) -> dict[str, Any]:
    """Return all but the URL of a candidate, without what is as nearly always."""
    told = {name: value for name, value in candidate._asdict().items() if value != getattr(_DEFAULTS, name)}
    del told["url"]
    if "counts" in told:
        told["counts"] = candidate.counts._asdict()
    if candidate.over:
        told["over"] = [one._asdict() for one in candidate.over]
    return told


def _judged(line: dict[str, Any]) -> JudgedCandidate:
    given = {name: line[name] for name in Candidate._fields if name in line}
    given["kind"] = LinkKind(line.get("kind", _DEFAULTS.kind))
    given["counts"] = TrapCounts(**line.get("counts", {}))
    given["over"] = tuple(ExceededLimit(**one) for one in line.get("over", ()))
    return JudgedCandidate(line["time"], line["run"], Candidate(**given), line["stage"], line["rule"])
