"""Stores the responses behind indexed documents, if the source asks for it (FAST 5.7)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ultracrawl.agents.entry_texts import entry_text, parse_entry
from ultracrawl.content.mime import type_matches
from ultracrawl.errors import WorkError
from ultracrawl.model import UrlOutcome
from ultracrawl.model.answer import StoredAnswer
from ultracrawl.model.outcome import SUBMITTED
from ultracrawl.run.hooks import Feature
from ultracrawl.stores import Retained
from ultracrawl.stores.project_stores import open_documents

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.agents.port import Entry
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit
    from ultracrawl.stores.documents.response_bodies import DocumentStore

logger = logging.getLogger(__name__)

ENTRY_HEADER = "X-Ultracrawl-Entry"
"""Stored as a header: what the lister and fetcher of the source said of the document."""
_ALWAYS = frozenset({"content-type", "x-robots-tag"})
"""Headers that are always stored: without X-Robots-Tag nobody would know what the publisher forbids."""
_NEVER = frozenset({"set-cookie", "set-cookie2", ENTRY_HEADER.lower()})
"""Headers that give access to a session, and what no server may say."""
_DEFERRED = 1 << 61
"""Distinguishes the keys of deferred responses from those of others."""


class ResponseStore(Feature):
    """Stores the response of each visit that yielded a document.

    If the store cannot be written, the run gets a problem, nothing more is stored, and the crawl goes on.
    """

    def __init__(self, context: CrawlContext, is_waiting: Callable[[int], bool]) -> None:
        """Initialise; `is_waiting` returns whether the document of a key waits for the place of another one."""
        self._context = context
        self._is_waiting = is_waiting
        self._options = context.source.storage
        self.store: DocumentStore | None = None
        """The stored responses of the source, once they are open."""
        self._usable = True

    def opened(self) -> None:
        """Open the store."""
        context = self._context
        self.store = open_documents(context.project, context.source, renew=not context.run.replay)
        if self.store.renewed:
            advice = f"`ultracrawl crawl {context.source.name} --force` stores every page again"
            self._report(f"{self.store.renewed}; {advice}")
        if self._options.remove_sent:
            context.documents.writer.commits.on_sent = self._discard_sent

    def visit_ended(self, visit: Visit) -> None:
        """Store the response of a visit whose document is indexed or retained, or is a duplicate to be kept."""
        answer = visit.take_answer()
        store = self.store
        if visit.revived:
            self._take_deferred(visit)
            return
        if store is None or answer is None or not self._usable or visit.from_store:
            return
        if not self._should_keep(visit):
            return
        if self._options.size is not None and store.size + len(answer.body) > self._options.size:
            self._give_up(
                f"the stored documents have reached `storage.size`; {visit.url} and others are not kept"
            )
            return
        try:
            key = deferred_key(visit.entry.key) if visit.deferred else visit.entry.key
            store.put_answer(key, self._stored_answer(visit, answer), compress=self._compresses(visit))
        except WorkError as error:
            self._give_up(str(error))

    def _take_deferred(self, visit: Visit) -> None:
        """Give the response of a visit that had been deferred its place, or drop it."""
        store, key = self.store, deferred_key(visit.entry.key)
        if store is None or not self._usable:
            return
        try:
            answer = store.get(key) if self._should_keep(visit) else None
            if answer is not None:
                store.put_answer(visit.entry.key, answer, compress=self._compresses(visit))
            store.discard([key])
        except WorkError as error:
            self._give_up(str(error))

    def _compresses(self, visit: Visit) -> bool:
        options = self._options
        return options.compress and not type_matches(visit.fetch.media_type, options.compress_exclude)

    def _discard_sent(self, keys: Iterable[int]) -> None:
        """Remove the responses of documents that all indexes have."""
        try:
            if self.store is not None and self._usable:
                self.store.discard(keys)
        except WorkError as error:
            self._give_up(str(error))

    def _keys_to_keep(self) -> frozenset[int]:
        state, options = self._context.store, self._options
        self._context.flush()
        kept = state.documents.kept_keys(duplicates=options.duplicates)
        kept |= frozenset(map(deferred_key, state.documents.retained_keys(Retained.DEFERRED)))
        if not options.remove_sent:
            return kept
        waiting = self._context.documents.writer.commits.unsent().union(
            state.documents.retained_keys(Retained.APPROVAL),
            state.documents.retained_keys(Retained.REPLACEMENT),
        )
        return kept - (state.documents.kept_keys() - waiting)

    def _should_keep(self, visit: Visit) -> bool:
        if visit.outcome is UrlOutcome.DUPLICATE:
            return self._options.duplicates or self._is_waiting(visit.entry.key)
        return visit.deferred or visit.outcome in SUBMITTED or visit.outcome is UrlOutcome.PENDING

    def _stored_answer(self, visit: Visit, response: Response) -> StoredAnswer:
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in response.headers.items()
            for value in values
            if _is_kept(name.decode("latin-1").lower(), everything=self._options.headers)
        )
        if visit.listed is not None:
            headers += ((ENTRY_HEADER, entry_text(visit.listed)),)
        return StoredAnswer(visit.url, self._context.clock(), headers, response.body, visit.fetch.truncated)

    def _give_up(self, problem: str) -> None:
        self._usable = False
        self._report(problem)

    def _report(self, problem: str) -> None:
        self._context.run.add_problem(problem)
        logger.error("%s", problem)

    async def closed(self) -> None:
        """Remove the responses of documents that have left the index, and close the store."""
        if self.store is None:
            return
        try:
            if self._usable:
                self.store.retain(self._keys_to_keep())
        except WorkError as error:
            self._give_up(str(error))
        finally:
            self.store.close()


def entry_of(answer: StoredAnswer) -> Entry | None:
    """Return what lister and fetcher said of a stored document, if anything."""
    text = answer.header(ENTRY_HEADER)
    return parse_entry(text) if text else None


def deferred_key(key: int) -> int:
    """Return the key of the response to a deferred visit, beside that of the document in the index."""
    return key ^ _DEFERRED


def _is_kept(header: str, *, everything: bool) -> bool:
    return header not in _NEVER if everything else header in _ALWAYS
