"""The schemas of responses for the OpenAPI description; later versions may add members."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from ultracrawl.index import QueryFlaw, SearchLimit
from ultracrawl.model import ScheduleStatus
from ultracrawl.service.orders import SourcePhase

Report = dict[str, Any]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


def answers(shape: type[_Shape] | None, status: int = 200, description: str = "Done") -> dict[int | str, Any]:
    """Return the `responses` of a route; None: an object that the documentation of the CLI verb describes."""
    return {status: {"model": dict[str, Any] if shape is None else shape, "description": description}}


class Live(_Shape):
    """The state of a source in the service."""

    phase: SourcePhase
    run: str | None
    live: dict[str, int]
    begun: str | None
    next_run: str | None
    last_end: str | None
    problem: str | None
    paused_by_hand: bool
    schedule: str | None


class Failure(_Shape):
    """Why the last crawl of a source failed."""

    time: str | None
    problem: str


class Source(_Shape):
    """The status of a source."""

    source: str
    state: str
    known: int
    queued: int
    indexed: int
    pending: int
    leaving: int
    held_back: int
    outcomes: dict[str, int]
    last_run: Report | None
    failure: Failure | None
    mistakes: list[str]
    pid: int | None
    machine: str | None
    waits_for: dict[str, str] | None
    feeding: list[dict[str, Any]]
    traps: list[dict[str, Any]]
    next_run: str | None
    due_by: str | None
    never_due: str | None
    lease_ends: str | None
    schedule: str | None
    kept: bool
    nodes: list[str] | None
    waits: bool
    profile: str | None
    node: str | None
    service: Live | None


class LeftOver(_Shape):
    """A source of the state that no file defines, and the defined sources with its start URLs."""

    source: str
    documents: int
    same_start: list[str]


class Sources(_Shape):
    """The status of all sources."""

    sources: list[Source]
    left_over: list[LeftOver]


class Ordered(_Shape):
    """A source that was given an order."""

    source: str
    service: Live | None


class Runs(_Shape):
    """Reports of runs."""

    runs: list[Report]


class RunsCompared(_Shape):
    """Two runs of a source; each number has `first`, `second` and `difference`."""

    source: str
    first: dict[str, Any]
    second: dict[str, Any]
    numbers: dict[str, dict[str, float | None]]
    outcomes: dict[str, dict[str, float | None]]
    status_codes: dict[str, dict[str, float | None]]
    rejected_by: dict[str, dict[str, float | None]]


class Urls(_Shape):
    """A page of known URLs."""

    urls: list[dict[str, Any]]
    next: str | None


class Finding(_Shape):
    """Something about a definition."""

    file: str
    line: int
    key: str
    problem: str
    instead: str
    fatal: bool


class DefinitionText(_Shape):
    """The lines of a definition file with one source; values that may be secrets are hidden."""

    source: str | None
    """Null: the schedules."""
    file: str
    first_line: int
    lines: str
    revision: str
    """What a change of these lines has to name."""
    read_only: str | None
    """Why the service does not save changes."""
    editable: list[str]
    """The options that may be changed; `*` stands for names."""


class WhatIfAnswer(_Shape):
    """What other lines of a source would do."""

    can_be_saved: bool
    changed: list[str]
    refused: list[str]
    """The options among them that can be changed in the file only; empty texts: what is not of the source."""
    findings: list[Finding]
    problems: list[str]
    difference: dict[str, Any] | None
    launches: dict[str, str | None]
    """When each schedule would be launched next, for changes of schedules."""


class SavedDefinition(_Shape):
    """A version of a definition that was saved."""

    source: str | None
    version: int
    revision: str
    in_force: bool
    """Whether the service has taken it up; it does not while other definitions have mistakes."""


class DefinitionVersion(_Shape):
    """A version of a definition that the service knows."""

    number: int
    time: str
    who: str | None
    """Who saved it; null: it was found in the file."""
    revision: str


class DefinitionVersions(_Shape):
    """The versions of a definition, the newest first."""

    versions: list[DefinitionVersion]


class Reloaded(_Shape):
    """The result of reloading the definitions."""

    reloaded: bool
    findings: list[Finding]


class Part(_Shape):
    """The part of a document in which a hit is."""

    title: str
    anchor: str
    url: str


class MatchingPart(Part):
    """A part of a document that matches, with its snippet."""

    snippet: str
    snippet_html: str


class Hit(_Shape):
    """A search hit."""

    url: str
    title: str
    score: float
    source: str
    snippet: str
    snippet_html: str
    attributes: dict[str, list[str | float]]
    section: Part | None
    sections: list[MatchingPart]
    also_at: list[str]
    """The URLs of copies of the document in the same source; with a fragment, of a part of a page that is this page."""
    kind: int
    """The number of the kind of its source: 900 web, 901 files, 902 tables, 903 mail, 0 others."""


class Document(Hit):
    """A document, as hits have them, with all its sections (200 at most)."""

    characters: int
    """The length of its text."""


class FacetValue(_Shape):
    """A value with the number of its documents."""

    value: str | float
    count: int


class SearchAnswer(_Shape):
    """The result of a search."""

    query: str
    total: int
    took_ms: float
    hits: list[Hit]
    facets: dict[str, list[FacetValue]]
    sources: list[FacetValue]
    groups: list[FacetValue]
    suggestion: str
    corrected: bool
    """Whether the hits are those of `suggestion`, which was searched in place of `query`."""
    unknown_words: list[str]
    """Words of the query that no document has, if a loose reading was needed or nothing was found."""
    reading: str
    exceeded: list[SearchLimit]
    """The limits that cut the search short; then hits may be missing, and counts too low."""
    unknown_attributes: list[str]
    """What stands before a colon in the query and is no search attribute: it was searched as a word."""
    known_attributes: list[str]
    """The search attributes that a query may name, if there are unknown ones."""
    flaws: list[QueryFlaw]
    """What in the query probably does not do what it was written for."""


class Completion(_Shape):
    """A name or title that completes a query."""

    text: str
    url: str


class Completions(_Shape):
    """The completions of a query."""

    query: str
    completions: list[Completion]


class QueryNumbers(_Shape):
    """Counts of queries; null stands for one or two."""

    searches: int | None
    without_answers: int | None
    clicks: int | None


class QueryDay(QueryNumbers):
    """The queries of a day."""

    day: str


class QueryOrigin(QueryNumbers):
    """The queries of the pages, of tokens, or of a public key."""

    origin: str


class ChosenPosition(_Shape):
    """How often a position among the hits was chosen."""

    position: int
    clicks: int


class CountedQuery(QueryNumbers):
    """A query and its counts."""

    query: str
    mean_position: float | None
    positions: list[ChosenPosition]


class FallenAnswer(_Shape):
    """A page that is no longer among the first hits of a golden query."""

    query: str
    page: str
    within: int
    position: int | None


class GoldenOutcome(_Shape):
    """What the latest check of golden queries found."""

    time: str
    queries: int
    pages: int
    fallen: list[FallenAnswer]


class QueryReport(_Shape):
    """The statistics of queries."""

    statistics: bool
    """Whether queries are counted now."""
    to: str
    origins: list[QueryOrigin]
    days: list[QueryDay]
    queries: list[CountedQuery]
    damaged: list[str]


class Documents(_Shape):
    """Documents that wait for approval."""

    documents: list[dict[str, Any]]


class Approved(_Shape):
    """What was done with documents."""

    source: str
    indexed: int
    removed: int
    deleted: int
    restored: int
    pending: int
    kept: bool = False
    """Whether the running crawl carries the decision out, or the next one; all numbers are 0 then."""


class Refused(_Shape):
    """A URL that the rules exclude."""

    url: str
    stage: str
    rule: str
    reason: str


class Submission(_Shape):
    """The result for one submitted URL, as a numeric code."""

    url: str
    code: int
    text: str


class Submitted(_Shape):
    """URLs that were submitted."""

    source: str
    accepted: list[str]
    refused: list[Refused]
    answers: list[Submission]


class HeldDocument(_Shape):
    """A document that a guard holds back, and the cause."""

    url: str
    cause: str


class HeldBack(_Shape):
    """Deletions or new versions that a guard holds back, and what was done with them."""

    source: str
    done: str
    documents: list[HeldDocument]


class Schedule(_Shape):
    """The state of a schedule."""

    name: str
    sources: list[str]
    status: ScheduleStatus
    left: list[str]
    error: str | None
    next_run: str | None
    last_begin: str | None
    last_end: str | None
    log: str | None
    force: bool
    mode: str | None
    profile: str | None
    node: str | None


class Schedules(_Shape):
    """The states of all schedules."""

    schedules: list[Schedule]
