"""Documents tell of other URLs, and are indexed again when these change (FAST 5.8, `ds_meta_info`)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.crawl.hooks import Feature
from ultracrawl.crawl.relations.lists import RelationLists, as_text
from ultracrawl.crawl.relations.reading import links_of, metadata_of
from ultracrawl.index.values import packed, unpacked
from ultracrawl.sources.sections.documents.relations import RELATION_ATTRIBUTES
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import Visit
    from ultracrawl.index import IndexDocument
    from ultracrawl.model import Page, UrlRecord

logger = logging.getLogger(__name__)

BATCH = 200
"""Documents that are looked at between two rests for the rest of the process."""


class RelatedDocuments(Feature):
    """Puts lists of URLs into documents on their way to the index, and keeps them true.

    The lists that a page decides alone (links, metadata) are made when it is read. Duplicates, redirects, mirrors and
    referring pages change without it: at the end of each run they are compared with what was told, and a document
    with other ones is indexed again, from a copy of it that the state store keeps; nothing is fetched for that.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._names = context.source.relations.names

    @property
    def on(self) -> bool:
        """Whether documents of the source tell anything."""
        return bool(self._names)

    def read(self, visit: Visit, response: Response, page: Page) -> None:
        """Take what a page says for itself; called before its document is made."""
        own: dict[str, list[str]] = {}
        if "links" in self._names:
            policy = self._context.rules.url_policy.without_rewriting
            own[RELATION_ATTRIBUTES["links"]] = links_of(page, response.url, policy)
        if "metadata" in self._names:
            known = next(self._context.store.visits.known_pages([visit.entry.key]), None)
            own[RELATION_ATTRIBUTES["metadata"]] = metadata_of(page, response, known)
        visit.page = visit.page._replace(related=own)

    def document_made(self, visit: Visit, document: IndexDocument) -> IndexDocument:
        """Return a document with its lists, and keep it for later."""
        if not self._names:
            return document
        state, key = self._context.store, visit.entry.key
        own = {name: urls for name, urls in visit.page.related.items() if urls}
        record = replace(visit.record, fingerprint=visit.page.fingerprint)
        lists = RelationLists(self._context.source, state).of(record)
        plain = replace(document, attributes={**document.attributes, **own})
        state.documents.retain_document(Retained.RELATED, key, packed(key, plain))
        state.documents.retain_document(Retained.RELATED_LISTS, key, as_text(lists))
        return replace(plain, attributes={**plain.attributes, **lists})

    async def deletions_done(self) -> None:
        """Index documents again whose lists have changed."""
        for _ in self.refresh():
            self._context.documents.writer.tick()
            await asyncio.sleep(0)

    def refresh(self) -> Iterator[None]:
        """Index documents again whose lists have changed, and forget those that left; rests after each batch.

        Called when the run has nothing left to fetch, and deletions are carried out.
        """
        context, state = self._context, self._context.store
        keys, updated = state.documents.retained_keys(Retained.RELATED), 0  # sees what was flushed
        lists = RelationLists(context.source, state)
        if self.on:
            lists.gather_referrers(keys)
        waiting = set(state.documents.retained_keys(Retained.REPLACEMENT))
        for number, key in enumerate(keys, 1):
            record = state.records.get_record(key)
            alive = record is not None and (record.searchable or record.pending or key in waiting)
            if record is None or not alive or not self.on:
                state.documents.release_document(Retained.RELATED, key)
                state.documents.release_document(Retained.RELATED_LISTS, key)
            elif record.searchable and record.retained:
                updated += self._update(key, record, lists)
            if number % BATCH == 0:
                yield
        if updated:
            logger.info("%s: %d documents tell of other URLs than before", context.source.name, updated)

    def _update(self, key: int, record: UrlRecord, lists: RelationLists) -> bool:
        state = self._context.store
        now = lists.of(record)
        text = as_text(now)
        data = (
            state.documents.retained_document(Retained.RELATED, key)
            if text != state.documents.retained_document(Retained.RELATED_LISTS, key)
            else None
        )
        document = unpacked(data) if data else None
        if document is None:
            return False
        self._context.documents.writer.add(key, replace(document, attributes={**document.attributes, **now}))
        state.documents.retain_document(Retained.RELATED_LISTS, key, text)
        return True
