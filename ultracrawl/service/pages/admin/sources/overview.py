"""The overview of all sources: the condition of each, its latest runs, and what needs a person."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ultracrawl.dataclass import asdict, dataclass
from ultracrawl.model import Finding
from ultracrawl.model.dates import iso, parse_w3c_date
from ultracrawl.model.run import HELD_PROBLEMS
from ultracrawl.service.metrics.run_history import RunEnd, RunNumbers, run_numbers
from ultracrawl.service.notices.watch import interval_of
from ultracrawl.service.orders import SourcePhase, SourceState
from ultracrawl.service.schedules.plans import MISSED_AFTER
from ultracrawl.service.source_status import reading_status

if TYPE_CHECKING:
    from ultracrawl.service.api.state import ApiState
    from ultracrawl.service.metrics.holdings import Holdings
    from ultracrawl.sources import DataSource, Project

SHOWN_RUNS = 14
"""Runs of a sparkline."""
_GRACE = 0.2
"""Part of an interval after which a source that is due and does not begin is late."""
_RUNNING = frozenset({SourcePhase.RUNNING, SourcePhase.STOPPING, SourcePhase.BACKING_OFF})


class Condition(StrEnum):
    """The condition of a source, the most harmful one that holds; in this order sources are listed."""

    FAILED = "failed"
    """Its last crawl failed, or its state cannot be read."""
    MISTAKE = "mistake"
    """Its definition has mistakes, so that it is not crawled."""
    HELD = "held"
    """Deletions or new versions wait for a decision."""
    APPROVAL = "approval"
    """Documents wait for approval."""
    NEVER_DUE = "never-due"
    """Nothing crawls it by time."""
    LATE = "late"
    """It is due, and has not begun."""
    CRAWLING = "crawling"
    WAITING = "waiting"
    """It waits for a free slot."""
    OK = "ok"
    PAUSED = "paused"
    NEW = "new"
    """It was never crawled, and will be."""


NEED_PERSON = frozenset(
    {Condition.FAILED, Condition.MISTAKE, Condition.HELD, Condition.APPROVAL, Condition.NEVER_DUE}
)
FILTERS = {
    "attention": NEED_PERSON,
    "late": frozenset({Condition.LATE}),
    "crawling": frozenset({Condition.CRAWLING, Condition.WAITING}),
    "ok": frozenset({Condition.OK}),
    "idle": frozenset({Condition.PAUSED, Condition.NEW}),
}
"""The conditions that each value of the parameter `state` stands for."""


class NeedKind(StrEnum):
    """Why a source needs a person."""

    FAILED = "failed"
    MISTAKE = "mistake"
    DELETIONS = "deletions"
    CHANGES = "changes"
    APPROVALS = "approvals"
    NEVER_DUE = "never-due"
    LATE = "late"


class Need(NamedTuple):
    """What needs a person."""

    kind: NeedKind
    source: str
    number: int = 0
    """Documents that wait."""
    text: str = ""
    """The problem, in a sentence."""
    line: int = 0
    """The line of the definition; 0: none."""
    since: float | None = None


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source in the table."""

    name: str
    type: str
    condition: Condition
    needs: tuple[Need, ...]
    runs: tuple[RunNumbers, ...]
    """The latest runs, the oldest first."""
    last_success: float | None
    documents: int
    next_run: float | None
    live: SourceState | None

    @property
    def last(self) -> RunNumbers | None:
        """The last run that has ended."""
        return next((one for one in reversed(self.runs) if one.end is not RunEnd.UNFINISHED), None)

    @property
    def is_crawling(self) -> bool:
        """Whether it is being crawled now."""
        return is_crawled(self.live)

    def as_json(self) -> dict[str, Any]:
        """Return the row as a JSON object."""
        return {
            "source": self.name,
            "type": self.type,
            "condition": self.condition.value,
            "last_success": iso(self.last_success),
            "documents": self.documents,
            "next_run": iso(self.next_run),
            "needs": [{**one._asdict(), "since": iso(one.since)} for one in self.needs],
            "runs": [one.as_json() for one in self.runs],
        }

    def as_cells(self) -> dict[str, object]:
        """Return the row of a table: numbers of the last run, and the first thing that needs a person."""
        last = asdict(self.last) if self.last is not None else {}
        return {
            "source": self.name,
            "type": self.type,
            "condition": self.condition.value,
            "last_success": iso(self.last_success),
            **{name: last.get(name) for name in ("run", "fetched", "new", "modified", "deleted", "errors")},
            "documents": self.documents,
            "next_run": iso(self.next_run),
            "problem": self.needs[0].text if self.needs else "",
        }


@dataclass(frozen=True, slots=True)
class Overview:
    """All sources."""

    rows: tuple[SourceRow, ...]
    """By condition, then by name."""
    mistakes: tuple[Finding, ...]
    """Mistakes that keep all sources from being crawled."""

    @property
    def needs(self) -> list[Need]:
        """What needs a person, the most harmful first."""
        kinds = list(NeedKind)
        return sorted((one for row in self.rows for one in row.needs), key=lambda one: kinds.index(one.kind))

    def count(self, name: str) -> int:
        """Return the number of rows of a filter."""
        return sum(row.condition in FILTERS[name] for row in self.rows)

    def filtered(self, name: str) -> Sequence[SourceRow]:
        """Return the rows of a filter; all for a name that no filter has."""
        wanted = FILTERS.get(name)
        return self.rows if wanted is None else [row for row in self.rows if row.condition in wanted]


def is_crawled(live: SourceState | None) -> bool:
    """Return whether a source is being crawled, by its state in the service."""
    return live is not None and live.phase in _RUNNING


def speed(live: SourceState | None, now: float) -> float | None:
    """Return the pages a second since a crawl began; None while it does not read, or has just begun."""
    if live is None or live.phase is not SourcePhase.RUNNING or not live.begun or now - live.begun < 1:
        return None
    return live.live.get("fetched", 0) / (now - live.begun)


def crawled_now(state: ApiState) -> list[SourceState]:
    """Return the sources that are being crawled, by name; reads no state."""
    known = state.project.known_sources
    found = (one for one in state.supervisor.sources() if one.name in known and one.phase in _RUNNING)
    return sorted(found, key=lambda one: one.name)


def overview(state: ApiState) -> Overview:
    """Return the overview of a service; reads the states of sources that have changed since it was last asked."""
    live = {one.name: one for one in state.supervisor.sources()}
    order, project = list(Condition), state.project
    holdings_of = cache(partial(state.holdings.holdings_of, project))
    with reading_status(project, lambda _, name: holdings_of(name)) as status_of:
        rows = [
            source_row(project, source, status_of(source), holdings_of(name), live.get(name))
            for name, source in project.known_sources.items()
        ]
    rows.sort(key=lambda row: (order.index(row.condition), row.name))
    return Overview(tuple(rows), project.mistakes)


def source_row(
    project: Project,
    source: DataSource,
    status: dict[str, Any],
    holdings: Holdings,
    live: SourceState | None,
) -> SourceRow:
    """Return the row of a source from its `source_status`; `live` is its state in the service."""
    name = source.name
    due = live.next_run if live is not None and live.next_run else _seconds(status["next_run"])
    late = None if _is_busy(live) or status["waits"] else _late_since(project, name, due, holdings)
    needs = tuple(_needs(project, status, live, late))
    return SourceRow(
        name,
        source.type,
        _condition(status, holdings, live, needs),
        needs,
        run_numbers(reversed(holdings.runs[:SHOWN_RUNS])),
        holdings.last_success,
        status["indexed"],
        due,
        live,
    )


def _needs(
    project: Project, status: dict[str, Any], live: SourceState | None, late: float | None
) -> Iterator[Need]:
    name, failure, last = status["source"], status["failure"], status["last_run"] or {}
    if failure is not None:
        yield Need(NeedKind.FAILED, name, text=failure["problem"], since=_seconds(failure["time"]))
    elif problem := _problem(last, is_decided=not (status["leaving"] or status["held_back"])):
        yield Need(NeedKind.FAILED, name, text=problem, since=_seconds(last.get("finished")))
    if mistaken := project.invalid_sources.get(name):
        first = mistaken.findings[0]
        text = f"{first.key}: {first.problem}; {first.instead}"
        yield Need(NeedKind.MISTAKE, name, len(mistaken.findings), text, first.line)
    if status["leaving"]:
        yield Need(NeedKind.DELETIONS, name, status["leaving"])
    if status["held_back"]:
        yield Need(NeedKind.CHANGES, name, status["held_back"])
    if status["pending"]:
        yield Need(NeedKind.APPROVALS, name, status["pending"])
    if status["never_due"] and not mistaken and name in project.sources and not _is_busy(live):
        yield Need(NeedKind.NEVER_DUE, name, text=status["never_due"])
    if late is not None:
        yield Need(NeedKind.LATE, name, since=late)


def _problem(run: dict[str, Any], *, is_decided: bool) -> str:
    """Return the first problem of a run; one about what is held back is over as soon as a person has decided."""
    over = run.get(HELD_PROBLEMS, ()) if is_decided else ()
    return next((problem for problem in run.get("problems", ()) if problem not in over), "")


def _condition(
    status: dict[str, Any], holdings: Holdings, live: SourceState | None, needs: Sequence[Need]
) -> Condition:
    kinds = {one.kind for one in needs}
    is_crawling = status["pid"] is not None or (live is not None and live.phase in _RUNNING)
    by_kind = (
        (NeedKind.MISTAKE in kinds, Condition.MISTAKE),
        (NeedKind.FAILED in kinds and not is_crawling, Condition.FAILED),
        (bool(kinds & {NeedKind.DELETIONS, NeedKind.CHANGES}), Condition.HELD),
        (NeedKind.APPROVALS in kinds, Condition.APPROVAL),
        (live is not None and (live.paused_by_hand or live.phase is SourcePhase.PAUSED), Condition.PAUSED),
        (is_crawling, Condition.CRAWLING),
        (status["waits"] or (live is not None and live.phase is SourcePhase.QUEUED), Condition.WAITING),
        (NeedKind.NEVER_DUE in kinds, Condition.NEVER_DUE),
        (NeedKind.LATE in kinds, Condition.LATE),
        (holdings.latest is None, Condition.NEW),
    )
    return next((condition for holds, condition in by_kind if holds), Condition.OK)


def _late_since(project: Project, name: str, due: float | None, holdings: Holdings) -> float | None:
    """Return since when a source has been due that should have begun; None if it is in time, or never due."""
    source, now = project.sources.get(name), time.time()
    interval = interval_of(project, source, now) if source is not None else None
    if interval is None:
        return None
    has_schedule = bool(project.schedule_of(name))
    began = holdings.latest.started if holdings.latest is not None else None
    planned = due if has_schedule or began is None else min(due or now, began + interval)
    if planned is None or now - planned <= max(MISSED_AFTER, _GRACE * interval):
        return None
    return planned


def _is_busy(live: SourceState | None) -> bool:
    return live is not None and (live.phase is not SourcePhase.IDLE or live.paused_by_hand)


def _seconds(text: str | None) -> float | None:
    moment = parse_w3c_date(text) if text else None
    return moment.timestamp() if moment is not None else None
