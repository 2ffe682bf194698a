"""Applies the depth of each starting point, where those of a site differ."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ultracrawl.model import UrlOutcome
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.hooks import Feature

if TYPE_CHECKING:
    from ultracrawl.model.page import Link
    from ultracrawl.rules.filters.rules import SiteRules
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit


class StartingDepths(Feature):
    """Tells the rules of sites how many link steps are left at each URL.

    They are computed from the stored links when a run begins, so that changed depths apply to what is known, and
    brought up to date with each page. A URL that was too far is fetched in the run in which it comes within reach.
    """

    def __init__(self, context: CrawlContext, rules: SiteRules) -> None:
        assert rules.reach is not None
        self._context = context
        self._rules = rules
        self._reach = rules.reach

    def queue_opened(self) -> None:
        """Follow the stored links from the starting points."""
        records, reach = self._context.store.records, self._reach
        reach.begin_run()
        for record in records.all_records():
            reach.note_url(record.url)
        starts: dict[int, int] = {}
        for url, depth in self._rules.starts:
            canonical = self._context.rules.url_policy.canonical(url)
            if canonical is not None and reach.note_url(canonical) is not None:
                key = url_key(canonical)
                starts[key] = max(depth, starts.get(key, depth))
        reach.lead_to(starts.items(), self._links_of)
        for record in records.all_records():
            own = reach.site(url_key(record.url))
            routes = self._routes_from_outside(array("q", record.links or b""), own, record.depth)
            reach.lead_to(routes, self._links_of)
        reach.lead_to(self._forsaken(), self._links_of)

    def _forsaken(self) -> list[tuple[int, int]]:
        """Return denied URLs that no stored link leads to, because the pages with these links are denied, too."""
        denied = self._context.store.records.all_records(UrlOutcome.REJECTED)
        keys = [url_key(record.url) for record in denied]
        return [
            (key, -1) for key in keys if self._reach.site(key) is not None and self._reach.left(key) is None
        ]

    def _routes_from_outside(
        self, links: Iterable[int], own: int | None, depth: int
    ) -> list[tuple[int, int]]:
        """Return the routes from a page to URLs of other sites, whose greatest depth counts for its own depth."""
        found = ((key, self._reach.site(key)) for key in links)
        return [
            (key, self._rules.max_depth(site) - depth - 1)
            for key, site in found
            if site is not None and site != own
        ]

    def _links_of(self, key: int) -> Iterable[int]:
        record = self._context.store.records.get_record(key)
        return array("q", record.links or b"") if record is not None else ()

    def links_resolved(
        self, visit: Visit, located: Mapping[str, str], inside: array[int], named: Sequence[Link]
    ) -> None:
        """Follow the links of a page."""
        own, left = self._reach.site(visit.entry.key), self._reach.left(visit.entry.key)
        keys = [url_key(url) for url in located.values() if self._reach.note_url(url) is not None]
        routes = self._routes_from_outside(keys, own, visit.depth)
        if own is not None and left is not None:
            routes += [(key, left - 1) for key in keys if self._reach.site(key) == own]
        self._follow(routes)

    def redirected(self, visit: Visit, target: str, shown: str) -> None:
        """Follow a redirect, which is no link step."""
        own, left = self._reach.site(visit.entry.key), self._reach.left(visit.entry.key)
        site, key = self._reach.note_url(target), url_key(target)
        if site is None:
            return
        same = site == own and left is not None
        self._follow(
            [(key, left if same and left is not None else self._rules.max_depth(site) - visit.depth)]
        )

    def _follow(self, routes: Iterable[tuple[int, int]]) -> None:
        reached = self._reach.lead_to(routes, self._links_of)
        if not reached:
            return
        records = self._context.store.records.get_records(reached).values()
        denied = [
            record for record in records if record.outcome is UrlOutcome.REJECTED and not record.removed
        ]
        if denied:
            self._context.queue.fetch_now(denied)
