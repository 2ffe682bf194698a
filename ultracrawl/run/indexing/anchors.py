"""Anchor texts: collected page by page, and updated in the index after all pages were read."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ultracrawl.content.anchors import LONGEST, anchor_text, says_more_than
from ultracrawl.model import UrlOutcome
from ultracrawl.model.outcome import SUBMITTED
from ultracrawl.model.record_changes import without_validators
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.hooks import Feature

if TYPE_CHECKING:
    from ultracrawl.model.page import Link
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit
    from ultracrawl.run.writing.writer import IndexWriter
    from ultracrawl.stores import Store

MAX_LINKS_PER_PAGE = 1000
"""Limit of links per page whose texts count; equal ones count once."""
GENERATION_SIZE = 25_000
"""Cached links per generation; two generations take about 15 MB."""
MAX_CACHED_CHARS = 500
"""Longest text in characters that is cached: on a site that forgets `</a>`, texts would be whole pages."""
MAX_LEAVING = 50_000
"""Documents that are to leave the index whose new links wait for that; those of further ones count at once."""
BATCH = 500
"""Documents whose texts are read together, and between two flushes."""
_FRAGMENT_DIRECTIVE = ":~:"
"""Introduces instructions to browsers in a fragment (`#:~:text=words`), for a whole page or a part of it."""
_NO_MARK = 0
"""The mark of a link whose text says nothing about its target."""

_LinkText = str | tuple[str, str]
"""The text of a link, with the link as written if that has a fragment."""


class AnchorTexts(Feature):
    """Stores the texts of links by target, and sends the index those that it does not have yet.

    Documents get their texts when the segment in which they go to the index is sealed (`IndexWriter`). Changes later
    in the run are sent at its end (`refresh_documents`), without a request. A page that is unchanged, or could not be
    read, keeps its stored texts. Texts of a page with readers of its own are not used: others could find the targets by
    them, and learn what that page says.

    What a page has in place of a document that is to leave the index counts once it has left. If deletions are held
    back, as when every page redirects to one, all keep the texts of their former links.
    """

    def __init__(self, context: CrawlContext, *, items_have_readers: bool = False) -> None:
        """Initialise; `items_have_readers`: items of the source may name their readers."""
        self._context = context
        self._items_have_readers = items_have_readers
        self._young: dict[str, dict[_LinkText, int]] = {}
        self._old: dict[str, dict[_LinkText, int]] = {}
        """Marks of recently seen links, by URL and text, in two generations; storing a text costs two look-ups."""
        self._young_size = 0
        """Number of links in the younger generation."""
        self._marks_by_visit: dict[int, bytes] = {}
        """Marks of the anchor texts of each visit whose links were placed, by key."""
        self._leaving: dict[int, tuple[bytes | None, int]] = {}
        """Marks and redirect target of pages whose documents are to leave the index, by key; None if not known."""
        self._are_due = False
        """Whether texts were due at the end of the run, and all that had changed were sent."""

    def opened(self) -> None:
        """Load the pages whose documents an earlier part of the run marked for removal."""
        if self._context.counters.resumed and not self._context.run.replay:
            started = self._context.mark.started
            for record in self._context.store.records.records_to_remove():
                if record.last_fetched >= started and len(self._leaving) < MAX_LEAVING:
                    target = url_key(record.redirects_to) if record.redirects_to else 0
                    self._leaving[url_key(record.url)] = None, target

    # ---- texts of links, page by page

    def links_resolved(
        self, visit: Visit, located: Mapping[str, str], inside: array[int], named: Sequence[Link]
    ) -> None:
        """Collect the link texts of a page.

        `located` has URLs by link as written; `inside` has the keys of the accepted links.
        """
        marks, own = dict[int, None](), visit.url
        kept: frozenset[int] | None = None
        for href, _, text, _ in named:
            if not text or (url := located.get(href, own)) == own:
                continue
            link_text = (href, text) if "#" in href else text
            cached = self._young.get(url)
            mark = None if cached is None else cached.get(link_text)
            if mark is None:
                kept = frozenset(inside) if kept is None else kept
                mark = self._mark_of(url, link_text, kept)
            if mark:
                marks[mark] = None
                if len(marks) == MAX_LINKS_PER_PAGE:
                    break
        self._marks_by_visit[visit.entry.key] = array("q", marks).tobytes()

    def redirected(self, visit: Visit, target: str, shown: str) -> None:
        """Store a redirect: texts of links to the redirecting URL count for its target."""
        if self._may_leave(visit):
            self._leaving[visit.entry.key] = b"", url_key(target)
        else:
            self._context.store.links.put_redirect(visit.entry.key, url_key(target))

    def _mark_of(self, url: str, link_text: _LinkText, kept: frozenset[int]) -> int:
        """Return the mark of a link text that is not in the younger generation; stores the text if it is new."""
        mark = self._old.get(url, {}).get(link_text)
        if mark is None:
            target = url_key(url)
            if target not in kept:
                return _NO_MARK
            mark = self._store_text(url, target, link_text)
        if sum(map(len, (link_text,) if isinstance(link_text, str) else link_text)) > MAX_CACHED_CHARS:
            return mark
        if self._young_size >= GENERATION_SIZE:
            self._old, self._young, self._young_size = self._young, {}, 0
        self._young.setdefault(url, {})[link_text] = mark
        self._young_size += 1
        return mark

    def _store_text(self, url: str, target: int, link_text: _LinkText) -> int:
        """Store the text of a link unless it says nothing about its target; returns its mark."""
        href, text = ("", link_text) if isinstance(link_text, str) else link_text
        text = anchor_text(text)
        fragment = href.partition("#")[2][:LONGEST].partition(_FRAGMENT_DIRECTIVE)[0]
        if not text or (fragment and not says_more_than(text, fragment, url)):
            return _NO_MARK
        return self._context.store.links.note_anchor(target, text, fragment)

    def visit_ended(self, visit: Visit) -> None:
        """Store the anchor texts of a page that was read; other pages keep theirs."""
        outcome, key = visit.outcome, visit.entry.key
        if visit.deferred:
            return
        marks = self._marks_by_visit.pop(key, None)
        if visit.revived and marks is None:  # the run was killed meanwhile
            return
        if outcome is None or outcome.transient or visit.from_store:
            self._leaving.pop(key, None)
            return
        links = self._context.store.links
        if self._may_leave(visit) and not (outcome in SUBMITTED or outcome.unchanged):
            _, target = self._leaving.get(key, (b"", 0))
            texts = b"" if visit.page.own_readers else marks or b""
            self._leaving[key] = texts, target if outcome is UrlOutcome.REDIRECTED else 0
            return
        self._leaving.pop(key, None)
        known = visit.record.last_fetched > 0
        own_readers = visit.page.own_readers
        if own_readers is None and self._items_have_readers and outcome.unchanged:
            marks = None  # it was dropped before its item named them
        if marks is not None:
            links.put_page_anchors(key, b"" if own_readers else marks)
        elif known and not (outcome.unchanged or outcome is UrlOutcome.ROBOTS or visit.fetch.status == 304):
            links.put_page_anchors(key, b"")
        if known and outcome is not UrlOutcome.REDIRECTED:
            links.put_redirect(key, 0)

    def _may_leave(self, visit: Visit) -> bool:
        """Return whether the URL of a visit has a document that may be marked for removal now."""
        return visit.record.searchable and not visit.from_store and len(self._leaving) < MAX_LEAVING

    def _settle_leaving(self) -> None:
        """Count the links of pages whose documents have left the index; the others keep their former ones."""
        leaving, self._leaving = self._leaving, {}
        links, records = self._context.store.links, self._context.store.records
        for key, (marks, target) in leaving.items():
            record = records.get_record(key)
            if record is None or record.removal is not None:
                continue
            links.put_page_anchors(key, marks or b"")
            links.put_redirect(key, target)
            if marks is None:  # the next run reads its links again
                records.amend_record(key, without_validators(record))

    # ---- texts into documents

    async def after_deletions(self) -> None:
        """Update the anchor texts of documents in the index, except in a re-index from stored responses."""
        self._settle_leaving()
        if not self._context.run.replay:
            self.refresh_documents()

    def refresh_documents(self) -> None:
        """Update the documents in the index whose anchor texts have changed. Raises `WorkError`.

        Called at the end of a run. Documents in the open segment get theirs when it is sealed.
        """
        context, links = self._context, self._context.store.links
        context.flush()
        links.sweep_anchors()
        context.store.flush()
        last, self._are_due = None, False
        while keys := links.documents_due(last, BATCH):
            last = keys[-1]
            send_changed_texts(context.store, context.documents.writer, keys)
            context.flush()
            context.documents.writer.tick()
        self._are_due = last is not None

    def run_ended(self) -> None:
        """Note that the indexes have all texts, unless some wait for one."""
        self._settle_leaving()
        if self._are_due and self._context.documents.writer.is_empty:
            self._context.store.links.note_texts_arrived()


def send_changed_texts(store: Store, writer: IndexWriter, keys: Collection[int]) -> None:
    """Send the anchor texts of those documents whose texts differ from the submitted ones. Raises `WorkError`.

    Those in the open segment get theirs when it is sealed. Sees flushed changes only.
    """
    sent = sorted(key for key in keys if not writer.is_in_open_segment(key))
    for start in range(0, len(sent), BATCH):
        for key, texts in store.links.changed_texts(sent[start : start + BATCH]).items():
            record = store.records.get_record(key)
            if record is not None and record.searchable:
                writer.replace_anchors(key, record.shown_url, texts, record.depth)
            else:
                store.links.note_document_removed(key)
