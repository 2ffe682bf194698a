"""Crawl depths: corrected at the end of a run below pages whose links changed, without a request."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.model.record_changes import without_validators
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.hooks import Feature
from ultracrawl.stores import LOWERED, LinkTexts

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit

BATCH = 500
"""URLs read at once."""

_LOWERED = frozenset(array("q", LOWERED))
_Path = tuple[int, int]
"""A link into a URL: key of the page, and the depth that the URL has by it."""


class LinkDepths(Feature):
    """Keeps the depth of each URL that of the shortest path of links from a start URL.

    A page that drops links, or no longer redirects, is noted with its former targets when its visit ends. A URL that is
    found at a lower depth is noted by the scheduler. At the end of the run depths are corrected from there on; where
    nothing was noted, nothing is read. A URL to which no stored page leads any more keeps its depth.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._complete = False
        """Whether the run fetched all that it should; before that, stored links are partly those of the run before."""

    def visit_ended(self, visit: Visit) -> None:
        """Note the links that a page has dropped."""
        before, outcome = visit.record, visit.outcome
        if outcome is None or outcome.transient or outcome.unchanged or visit.from_store:
            return
        former = set(_targets(before))
        now = self._context.store.records.get_record(visit.entry.key) if former else None
        if now is not None and (dropped := former.difference(_targets(now))):
            self._context.store.links.note_depth_due(visit.entry.key, array("q", dropped).tobytes())

    def run_ending(self, *, complete: bool) -> None:
        """Note whether depths can be corrected."""
        self._complete = complete

    async def after_deletions(self) -> None:
        """Correct the depths of records, and have their documents updated."""
        context = self._context
        if context.run.replay or not self._complete:
            return
        context.flush()
        due = context.store.links.depths_due()
        if not due:
            return
        context.documents.writer.drain()
        depths = LinkGraph(context)
        # Lower ones first: only when all of them are known, URLs on shortest paths are known, too.
        depths.lower_targets(due)
        depths.raise_targets({key for dropped in due.values() for key in array("q", dropped)} - _LOWERED)
        depths.lower_targets(())
        # A page may have been read, and sent, before the link that lowered it. Earlier versions noted nothing then.
        lowered = (
            key for key, dropped in due.items() if not dropped or not _LOWERED.isdisjoint(array("q", dropped))
        )
        for keys in _batches([*dict.fromkeys((*depths.changed, *lowered))]):
            for key, record in context.store.records.get_records(keys).items():
                self._apply(key, record, depths.changed.get(key, record.depth))
        context.store.links.clear_depths_due()
        context.flush()

    def _apply(self, key: int, record: UrlRecord, depth: int) -> None:
        """Store the depth of a URL, and have its document updated."""
        context = self._context
        if depth != record.depth:
            record = replace(record, depth=depth)
            if context.source.filters.file:  # which may have put the depth into the description
                record = without_validators(record)
            context.store.records.amend_record(key, record)
        if not record.searchable:
            return
        if context.project.index.anchors:  # then it is sent with them
            context.store.links.submitted_without_texts(key)
        else:
            context.documents.writer.replace_anchors(key, record.shown_url, LinkTexts(), depth)


class LinkGraph:
    """The stored links of a source, as far as they are needed to correct depths."""

    def __init__(self, context: CrawlContext) -> None:
        self._store = context.store
        self._seeds = frozenset(map(url_key, context.rules.seeds))
        self._sitemaps = context.store.sites.sitemap_keys()
        self._records: dict[int, UrlRecord] = {}
        self.changed: dict[int, int] = {}
        """New depths by key."""

    def raise_targets(self, dropped: set[int]) -> None:
        """Raise the depths of URLs that have lost the last link of their shortest paths; `dropped` lost a link."""
        below = self._reached_by(dropped)
        if not below:
            return
        paths = self._paths_into(below)
        heap = [(depth, key) for key, ways in paths.items() for parent, depth in ways if parent not in below]
        heapify(heap)
        onward: dict[int, list[int]] = {}
        for key, ways in paths.items():
            for parent, _ in ways:
                if parent in below:
                    onward.setdefault(parent, []).append(key)
        found: dict[int, int] = {}
        while heap:
            depth, key = heappop(heap)
            if key not in found:
                found[key] = depth
                step = depth + self._weight(key)
                for target in onward.get(key, ()):
                    heappush(heap, (step, target))
        self.changed.update((key, depth) for key, depth in found.items() if depth != self._depth(key))

    def lower_targets(self, keys: Iterable[int]) -> None:
        """Lower the depths of everything to which the URLs of some keys, and those with a new depth, lead."""
        first = {*keys, *self.changed}
        self._read(first)
        self._read(
            {target for key in first if key in self._records for target in _targets(self._records[key])}
        )
        heap = [(self._depth(key), key) for key in first if key in self._records]
        heapify(heap)
        while heap:
            depth, key = heappop(heap)
            if depth > self._depth(key):
                continue
            targets = set(_targets(self._records[key]))
            self._read(targets)
            step = self._base(key, depth) + self._weight(key)
            for target in targets:
                if target in self._records and self._depth(target) > step:
                    self.changed[target] = step
                    heappush(heap, (step, target))

    def _reached_by(self, dropped: set[int]) -> set[int]:
        """Return those of some URLs, and of the URLs below them on shortest paths, whose depth may have risen."""
        below: set[int] = set()
        front = dropped
        while front:
            self._read(front)
            reached = [key for key in front if key not in below and self._may_rise(key)]
            below.update(reached)
            front = set()
            for key in reached:
                targets, step = set(_targets(self._records[key])), self._depth(key) + self._weight(key)
                self._read(targets)
                front.update(
                    target for target in targets if target in self._records and self._depth(target) == step
                )
        return below

    def _may_rise(self, key: int) -> bool:
        return key in self._records and key not in self._seeds and key not in self._sitemaps

    def _paths_into(self, below: set[int]) -> dict[int, list[_Path]]:
        """Return all links into some URLs, by their key."""
        paths: dict[int, list[_Path]] = {}
        for parent, stored, links in self._store.links.linked_pages():
            depth = self.changed.get(parent, stored)
            for key in below.intersection(array("q", links)):
                paths.setdefault(key, []).append((parent, self._base(parent, depth) + 1))
        for parent, stored, target in self._store.links.redirects():
            if (key := url_key(target)) in below:
                paths.setdefault(key, []).append((parent, self.changed.get(parent, stored)))
        for feed, link in self._store.sites.all_feed_links():
            if link.key in below:
                self._read((feed,))
                if feed in self._records:
                    paths.setdefault(link.key, []).append((feed, self._depth(feed) + 1))
        return paths

    def _read(self, keys: Iterable[int]) -> None:
        for some in _batches([key for key in keys if key not in self._records]):
            self._records.update(self._store.records.get_records(some))

    def _depth(self, key: int) -> int:
        return self.changed.get(key, self._records[key].depth)

    def _base(self, key: int, depth: int) -> int:
        """Return the depth from which the links of a URL count: sitemaps count as start URLs."""
        return 0 if key in self._sitemaps else depth

    def _weight(self, key: int) -> int:
        """Return how much deeper than a URL its targets are."""
        return 0 if self._records[key].outcome is UrlOutcome.REDIRECTED else 1


def _targets(record: UrlRecord) -> Sequence[int]:
    """Return the keys of the URLs to which a page leads."""
    if record.outcome is UrlOutcome.REDIRECTED:
        return (url_key(record.redirects_to),) if record.redirects_to else ()
    return array("q", record.links)


def _batches(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    return (keys[at : at + BATCH] for at in range(0, len(keys), BATCH))
