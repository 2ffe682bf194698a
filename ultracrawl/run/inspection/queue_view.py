"""The next URLs of a source with their reasons: the stored queue, or the begin of the next cycle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ultracrawl.dataclass import dataclass, field, replace
from ultracrawl.model.dates import iso
from ultracrawl.rules.candidates.traps import TrapPatterns
from ultracrawl.rules.recrawl.adaptive import ScoreParts
from ultracrawl.rules.recrawl.cycle import CyclePlace, RefreshMode
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.control.adaptive import AdaptiveChooser
from ultracrawl.run.inspection.forecast import rechecked
from ultracrawl.run.removal.scope import mark_of_next
from ultracrawl.sources import CompiledSource, DataSource
from ultracrawl.stores import QueuedUrl, Store

LEFT_OVER = "left over by the cycle before"
WAITS = "waits in this cycle"
KNOWN = "known URL"
START = "start URL"
CHOSEN = "chosen for this minor cycle"
BEST = "among the best of its site"
OVERDUE = "not fetched for too long"
NEW = "never fetched"
TRAP = "crawler trap, not requested"
SLOW = "perhaps a crawler trap, waits for the others of its site"
HELD_BACK = "removal held back, fetched again"


@dataclass(frozen=True, slots=True)
class DueUrl:
    """A URL that is due, with the reason and what determines its order."""

    url: str
    site: str
    depth: int
    why: str
    last_fetched: float
    seen: int
    """The last cycle in which it was fetched or linked to."""
    unseen: int = 0
    """Number of cycles since then."""
    score: ScoreParts | None = None
    rank: float | None = None
    """Order among the URLs of a site: the total score, or the gain of a visit times its worth."""
    interval: float | None = None
    """Estimated seconds between two changes."""

    def as_json(self) -> dict[str, Any]:
        """Return the URL in the shape of `ultracrawl queue --json`."""
        parts = self.score
        names = ScoreParts.__slots__
        score = None if parts is None else {name: round(getattr(parts, name), 4) for name in names}
        return {
            "url": self.url,
            "site": self.site,
            "depth": self.depth,
            "why": self.why,
            "last_fetched": iso(self.last_fetched),
            "last_seen_cycle": self.seen or None,
            "unseen_cycles": self.unseen,
            "score": None if parts is None else {"total": round(parts.total, 4), **(score or {})},
            "rank": None if self.rank is None else round(self.rank, 3),
            "change_interval_seconds": None if self.interval is None else round(self.interval),
        }


@dataclass(slots=True)
class QueueView:
    """The URLs that are due for a source."""

    source: str
    mode: RefreshMode
    cycle: int = 0
    """The current or latest cycle."""
    minor: int = 0
    resumes: bool = False
    """Whether the next crawl resumes the latest run, which did not end and is not overdue."""
    waiting: int = 0
    due: float | None = None
    """When the next cycle is due by the interval, in seconds since the epoch; None without an interval."""
    urls: list[DueUrl] = field(default_factory=list)
    orphans: list[DueUrl] = field(default_factory=list)
    orphans_are: str = ""
    """What will be done with the orphans, as a text."""
    listed: bool = False
    """Whether the source has a lister, whose new and changed documents the next cycle fetches too."""

    def as_json(self) -> dict[str, Any]:
        """Return the view in the shape of `ultracrawl queue --json`."""
        return {
            "source": self.source,
            "mode": self.mode.value,
            "cycle": self.cycle,
            "minor_cycle": self.minor,
            "resumes": self.resumes,
            "waiting": self.waiting,
            "next_cycle_due": iso(self.due),
            "urls": [due.as_json() for due in self.urls],
            "orphans": [due.as_json() for due in self.orphans],
            "listed": self.listed,
        }


def first_urls(rules: CompiledSource, limit: int) -> list[DueUrl]:
    """Return the first URLs of a source that was never crawled."""
    return [DueUrl(url, "", 0, START, 0.0, 0) for url in rules.seeds[:limit]]


class QueueViewer:
    """Reads the next URLs from a state store without changing it. Times are seconds since the epoch.

    `closed`: a run that begins now requests only known URLs.
    """

    def __init__(
        self,
        state: Store,
        source: DataSource,
        rules: CompiledSource,
        now: float,
        *,
        closed: bool = False,
        traps: TrapPatterns | None = None,
    ) -> None:
        self._traps = traps or TrapPatterns()
        self._state = state
        self._source = source
        self._rules = rules
        self._closed = closed
        self._seeds = rules.seeds
        self._now = now
        self._chooser = AdaptiveChooser(state, source, lambda: now)

    def view(self, limit: int) -> QueueView:
        """Return the URLs that are due, at most `limit`, and at most as many orphans."""
        refresh = self._source.refresh
        view = QueueView(self._source.name, refresh.mode, listed=self._rules.listed)
        latest = next(iter(self._state.runs(1)), None)
        if latest is None:
            view.urls = first_urls(self._rules, limit)
            return view
        self._state.visits.enter_cycle(latest.cycle)
        view.cycle, view.minor = latest.cycle, latest.minor
        view.due = refresh.rule.next_due(latest.place, self._now)
        view.waiting = self._state.queue.number_waiting()
        same = latest.scope == mark_of_next(latest, self._rules, closed=self._closed)
        is_over = refresh.rule.is_over(latest.place, latest.started, self._now)
        view.resumes = same and not latest.finished and not is_over
        if view.resumes:
            view.urls = self._waiting(limit, latest.place)
        else:
            rule = refresh.rule if same or self._rules.listed else refresh.rule.for_everything
            following = rule.following(latest.place, self._now, nothing_stored=False)
            view.urls = self._next(limit, following.mode)
        view.orphans, view.orphans_are = self._orphans(limit)
        return view

    def _waiting(self, limit: int, place: CyclePlace) -> list[DueUrl]:
        urls = self._state.queue.first_waiting(limit)
        if place.mode is RefreshMode.ADAPTIVE:
            return self._scored(self._due(url, CHOSEN if url.rank else NEW) for url in urls)
        return [self._due(url, LEFT_OVER if url.rank else WAITS) for url in urls]

    def _next(self, limit: int, mode: RefreshMode) -> list[DueUrl]:
        """Return the first URLs of a cycle that begins now; see `fill_queue` of the store."""
        if mode is RefreshMode.ADAPTIVE:
            return self._chosen(limit)
        left = [self._due(url, LEFT_OVER) for url in self._state.queue.first_waiting(limit)]
        if mode is RefreshMode.SCRATCH:
            left = []
        if mode is RefreshMode.KNOWN:
            first = [self._due(url, KNOWN) for url in self._state.queue.first_known(limit + len(left))]
        else:
            waiting_sites = {due.site for due in left} if mode is RefreshMode.SOFT else set[str]()
            starts = self._state.queue.queued_urls(list(map(url_key, self._seeds)))
            first = [self._due(url, START) for url in starts if url.site not in waiting_sites]
            held_back = self._state.queue.queued_urls(rechecked(self._state))
            first += [self._due(url, HELD_BACK) for url in held_back]
        both = [*first, *left] if mode is RefreshMode.PREPEND else [*left, *first]
        return list({due.url: due for due in reversed(both)}.values())[::-1][:limit]

    def _chosen(self, limit: int) -> list[DueUrl]:
        best = self._chooser.survey().pages[:limit]
        queued = {url.key: url for url in self._state.queue.queued_urls([page.key for page in best])}
        due = []
        for page in best:
            url = queued[page.key]
            why = NEW if not url.last_fetched else OVERDUE if page.overdue else BEST
            due.append(replace(self._due(url, why), rank=page.rank))
        return self._scored(due)

    def _scored(self, urls: Iterable[DueUrl]) -> list[DueUrl]:
        listed = list(urls)
        rule = self._chooser.rule
        known = self._state.visits.known_pages([url_key(due.url) for due in listed])
        pages = {page.url: page for page in known}
        scored = []
        for due in listed:
            page = pages[due.url]
            interval = page.history.interval(rule.scorer.cycle)
            scored.append(replace(due, score=rule.scorer.parts(page), interval=interval))
        return scored

    def _due(self, url: QueuedUrl, why: str) -> DueUrl:
        unseen = max(self._state.visits.cycle - url.seen, 0) if url.seen else 0
        if not url.last_fetched and url.url not in self._seeds:
            if trap := self._traps.bounding(url.url):
                why = f"{TRAP}: {trap}"
            elif trap := self._traps.slowing(url.url):
                why = f"{SLOW}: {trap}"
        return DueUrl(url.url, url.site, url.depth, why, url.last_fetched, url.seen, unseen)

    def _orphans(self, limit: int) -> tuple[list[DueUrl], str]:
        orphans = self._source.orphans
        seeds = set(map(url_key, self._seeds))
        if self._source.refresh.mode is RefreshMode.KNOWN or self._state.visits.cycle <= orphans.after:
            return [], ""
        unseen = [url for url in self._state.visits.unseen_urls(orphans.after) if url.key not in seeds]
        keys = [url.key for url in unseen if url.has_document][:limit]
        fate = (
            "deleted at the end of the cycle, unless an unread page may link to them"
            if orphans.delete
            else "fetched at the end of the cycle, and deleted if they are gone"
        )
        why = f"orphan: no page linked to it for {orphans.after} cycles"
        return [self._due(url, why) for url in self._state.queue.queued_urls(keys)], fate
