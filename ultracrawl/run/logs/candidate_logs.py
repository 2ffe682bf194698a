"""The optional logs of excluded links (`log.screened`) and of all judged candidates (`log.candidates`).

Both are bounded in size and have one JSON object per line; JSON escapes what hostile links may contain (line ends,
lone surrogates).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from ultracrawl.model import LinkKind
from ultracrawl.model.candidate import Candidate, ExceededLimit, TrapCounts
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.candidates.rules import CandidateRules, TrapGuard, TrapLimits
from ultracrawl.run.hooks import Feature
from ultracrawl.run.logs.log_files import AppendedLog, rotated_path
from ultracrawl.sources import Project

MAX_URL_LENGTH = 4096
"""Characters of a URL that are written; links may be of any length."""
_DEFAULTS = Candidate("")


class ExcludedLink(TypedDict):
    """One line: the excluded URL, the rule, the page of the link (empty for start URLs), the time (ISO 8601, UTC)."""

    time: str
    rule: str
    url: str
    parent: str


def excluded_path(project: Project, source: str) -> Path:
    """Return the path of the log of excluded links; the rotated one has the suffix `.1`."""
    return project.logs.path / f"{source}.screened.jsonl"


class ExcludedLinksLog(AppendedLog, Feature):
    """The log of excluded links."""

    def seed_excluded(self, url: str, rule: str) -> None:
        """Log an excluded start URL."""
        self.add(url, rule, "")

    def candidate_excluded(self, url: str, rule: str, parent: str, message: str) -> None:
        """Log an excluded link."""
        self.add(url, rule, parent)

    def add(self, url: str, rule: str, parent: str) -> None:
        """Add a link; `url` is canonical if it could be canonicalised."""
        line = ExcludedLink(
            time=self._now(), rule=rule, url=url[:MAX_URL_LENGTH], parent=parent[:MAX_URL_LENGTH]
        )
        self.append_line(json.dumps(line) + "\n")


def read_excluded(path: Path) -> Iterator[ExcludedLink]:
    """Yield the lines of a log, the rotated file first; a line cut off by a crash is skipped."""
    yield from _lines_of(path)


class JudgedCandidate(NamedTuple):
    """One line of the log of candidates: a candidate and the decision on it."""

    time: str
    """ISO 8601, UTC."""
    run: int
    candidate: Candidate
    stage: str
    """The stage that excluded it, empty if none did."""
    rule: str
    """The rule that excluded it, empty if none did."""


def candidates_path(project: Project, source: str) -> Path:
    """Return the path of the log of candidates; the rotated one has the suffix `.1`."""
    return project.logs.path / f"{source}.candidates.jsonl"


class CandidateLog(AppendedLog, Feature):
    """The log of all judged candidates, with the counters of that moment and the rule that excluded them."""

    def begin(self, run: int, boundary: Boundary, traps: TrapLimits) -> None:
        """Write the line for the begin or resumption of a run."""
        self._run = run
        self._rules = CandidateRules(boundary, TrapGuard(traps, {}))
        self.append_line(json.dumps({"time": self._now(), "run": run}) + "\n")

    def candidate_judged(self, candidate: Candidate, rule: str) -> None:
        """Add a candidate; `rule` excluded it, or is empty."""
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


class LoggedRun(NamedTuple):
    """The lines of one run in a log of candidates."""

    is_whole: bool
    """Whether it has the beginning of the run; if not, a part was lost when the log was rotated."""
    candidates: list[JudgedCandidate]
    """The candidates with the requested URLs, in the order of the run."""


def read_candidates(path: Path, run: int, urls: Iterable[str] | None = None) -> LoggedRun | None:
    """Return the candidates of a run with given URLs (None: all); None if the log has no line of the run."""
    wanted = None if urls is None else frozenset(urls)
    is_whole, candidates, empty = False, list[JudgedCandidate](), True
    for line in _lines_of(path):
        if line.get("run") != run:
            continue
        is_whole, empty = is_whole or (empty and "url" not in line), False
        if "url" in line and (wanted is None or line["url"] in wanted):
            candidates.append(_judged(line))
    return None if empty else LoggedRun(is_whole, candidates)


def _lines_of(path: Path) -> Iterator[Any]:
    for file in (rotated_path(path), path):
        if not file.exists():
            continue
        with file.open(encoding="ascii", errors="replace") as lines:
            for line in lines:
                try:
                    yield json.loads(line)
                except ValueError:
                    continue


def _as_json(candidate: Candidate) -> dict[str, Any]:
    """Return the fields of a candidate that differ from the defaults, without the URL."""
    fields = {name: value for name, value in candidate._asdict().items() if value != getattr(_DEFAULTS, name)}
    del fields["url"]
    if "counts" in fields:
        fields["counts"] = candidate.counts._asdict()
    if candidate.over:
        fields["over"] = [limit._asdict() for limit in candidate.over]
    return fields


def _judged(line: dict[str, Any]) -> JudgedCandidate:
    values = {name: line[name] for name in Candidate._fields if name in line}
    values["kind"] = LinkKind(line.get("kind", _DEFAULTS.kind))
    values["counts"] = TrapCounts(**line.get("counts", {}))
    values["over"] = tuple(ExceededLimit(**limit) for limit in line.get("over", ()))
    return JudgedCandidate(line["time"], line["run"], Candidate(**values), line["stage"], line["rule"])
