"""Anchor texts of a crawl: noted page by page, and brought up to date in the index when all pages were read."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ultracrawl.content.anchors import LONGEST, anchor_text, says_more_than
from ultracrawl.crawl.hooks import Feature
from ultracrawl.model import UrlOutcome
from ultracrawl.rules.urls.canonical import url_key

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import Visit
    from ultracrawl.model.page import Link

LINKS_OF_A_PAGE = 1000
"""Links of one page whose texts count, the first ones; equal ones count once."""
GENERATION = 25_000
"""Links that are remembered at a time; twice as many take about 15 MB."""
REMEMBERED = 500
"""Characters of what is remembered of a link; of one that says more nothing is, as it would be whole pages of a site
that forgets `</a>`.
"""
BATCH = 500
"""Documents that are looked at between two flushes."""
_DIRECTIVE = ":~:"
"""Begins what a browser shall do with a page, be it whole or a part (`#:~:text=words`)."""
_NOTHING = 0
"""The mark of a link whose text says nothing."""

_Said = str | tuple[str, str]
"""The text of a link, with the link as written if that may lead to a part of its target."""


class AnchorTexts(Feature):
    """Stores the texts of links by target, and gives the index those that it does not have yet.

    Documents get their texts when the segment is sealed in which they go to the index (`IndexWriter`). Texts
    that appear or vanish later in the run are sent at the end (`refresh_documents`), without a request. A page that is
    unchanged, or could not be read, keeps the texts that are stored.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._young: dict[str, dict[_Said, int]] = {}
        self._old: dict[str, dict[_Said, int]] = {}
        """Marks of links met lately by URL and what they say, in two generations: they cost two look-ups."""
        self._met = 0
        """How many are in the younger one."""
        self._said: dict[int, bytes] = {}
        """The marks of links that say something of their targets, by the keys of visits whose links were placed."""

    # ---- texts of links, page by page

    def links_resolved(
        self, visit: Visit, located: Mapping[str, str], inside: array[int], named: Sequence[Link]
    ) -> None:
        """Take the links of a page: `located` are URLs by link as written, `inside` the keys of those that count."""
        marks, own = dict[int, None](), visit.url
        kept: frozenset[int] | None = None
        for href, _, text, _ in named:
            if not text or (url := located.get(href, own)) == own:
                continue
            said = (href, text) if "#" in href else text
            met = self._young.get(url)
            mark = None if met is None else met.get(said)
            if mark is None:
                kept = frozenset(inside) if kept is None else kept
                mark = self._meet(url, said, kept)
            if mark:
                marks[mark] = None
                if len(marks) == LINKS_OF_A_PAGE:
                    break
        self._said[visit.entry.key] = array("q", marks).tobytes()

    def redirected(self, visit: Visit, target: str, shown: str) -> None:
        """Count the texts of links to a redirect for its target."""
        self._context.store.links.put_redirect(visit.entry.key, url_key(target))

    def _meet(self, url: str, said: _Said, kept: frozenset[int]) -> int:
        """Store what a link says of a URL that was not met lately; returns its mark."""
        mark = self._old.get(url, {}).get(said)
        if mark is None:
            target = url_key(url)
            if target not in kept:
                return _NOTHING
            mark = self._noted(url, target, said)
        if sum(map(len, (said,) if isinstance(said, str) else said)) > REMEMBERED:
            return mark
        if self._met >= GENERATION:
            self._old, self._young, self._met = self._young, {}, 0
        self._young.setdefault(url, {})[said] = mark
        self._met += 1
        return mark

    def _noted(self, url: str, target: int, said: _Said) -> int:
        """Store the text of a link if it says something of its target; returns its mark."""
        href, text = ("", said) if isinstance(said, str) else said
        text = anchor_text(text)
        fragment = href.partition("#")[2][:LONGEST].partition(_DIRECTIVE)[0]
        if not text or (fragment and not says_more_than(text, fragment, url)):
            return _NOTHING
        return self._context.store.links.note_anchor(target, text, fragment)

    def visit_ended(self, visit: Visit) -> None:
        """Store the links with texts of a page that was read; others keep those that are stored."""
        outcome, key = visit.outcome, visit.entry.key
        said = self._said.pop(key, None)
        if outcome is None or outcome.transient or visit.from_store:
            return
        links = self._context.store.links
        known = visit.record.last_fetched > 0
        if said is not None:
            links.put_page_anchors(key, said)
        elif known and not (outcome.unchanged or outcome is UrlOutcome.ROBOTS or visit.fetch.status == 304):
            links.put_page_anchors(key, b"")
        if known and outcome is not UrlOutcome.REDIRECTED:
            links.put_redirect(key, 0)

    # ---- texts into documents

    async def after_deletions(self) -> None:
        """Update the texts of documents in the index; not where documents are made again from stored answers."""
        if not self._context.run.replay:
            self.refresh_documents()

    def refresh_documents(self) -> int:
        """Send documents to the index again whose anchor texts differ from those that it has; returns how many.

        Called at the end of a run. Those on their way in the open segment get theirs when that is sealed. Raises
        `WorkError`.
        """
        context, links = self._context, self._context.store.links
        context.flush()
        links.sweep_anchors()
        context.store.flush()
        number, last = 0, None
        while keys := links.documents_due(last, BATCH):
            last = keys[-1]
            for key, texts in links.changed_texts(
                [key for key in keys if not context.documents.writer.completes(key)]
            ).items():
                record = context.store.records.get_record(key)
                if record is not None and record.searchable:
                    context.documents.writer.rename(key, record.shown_url, texts)
                    number += 1
                else:
                    links.note_document_removed(key)
            context.flush()
            context.documents.writer.tick()
        return number
