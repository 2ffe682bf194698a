"""Asks whether the parts that a page had before are as they were, so that a browser need not open it again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ultracrawl.model import UrlOutcome
from ultracrawl.model.outcome import WITH_DOCUMENT
from ultracrawl.run.hooks import Feature
from ultracrawl.run.rendering.known_parts import KnownPage
from ultracrawl.run.visit import Step, Visit
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.rendering.page_parts import PartFetcher

_READ = WITH_DOCUMENT - {UrlOutcome.NOT_MODIFIED}
_UNCHANGED = frozenset({UrlOutcome.UNMODIFIED, UrlOutcome.NOT_MODIFIED, UrlOutcome.PENDING})


class PartCheck(Feature):
    """Asks for the parts of pages whose scripts were run before their pages are requested.

    If all are as they were, a page that is unchanged, too, is not opened again. Parts are requested one by one, up to
    the first one that has changed, with the validators of the response that the page got.
    """

    def __init__(
        self,
        context: CrawlContext,
        parts: PartFetcher,
        within: Callable[[Visit, Step], AbstractContextManager[None]],
    ) -> None:
        """Initialise; `within` times a step of a visit."""
        self._context = context
        self._parts = parts
        self._within = within

    def known(self, visit: Visit) -> KnownPage | None:
        """Return what is known of the parts of a page; None if it has to be opened anyway, or has none."""
        if visit.rescan or visit.from_store or not (visit.record.checksum and visit.record.retained):
            return None
        stored = self._context.store.documents.retained_document(Retained.PARTS, visit.entry.key)
        return KnownPage.of_stored(stored) if stored else None

    async def check(self, visit: Visit, known: KnownPage) -> bool:
        """Return whether all parts of a page are as they were."""
        parts = self._parts.for_page(visit)
        visit.note_opened_page(b"")
        try:
            with self._within(visit, Step.BROWSER):
                for part in known.parts:
                    if not part.is_current(await parts(part.request())):
                        return False
        finally:
            parts.close()
        visit.note_opened_page(bytes.fromhex(known.checksum))
        return True

    def visit_ended(self, visit: Visit) -> None:
        """Store the parts of a page that was opened; forget those of one that was not, unless it is unchanged."""
        documents, key = self._context.store.documents, visit.entry.key
        if visit.page.parts and visit.outcome in _READ and not visit.deferred:
            documents.retain_document(Retained.PARTS, key, visit.page.parts)
        elif not (visit.opened_page and visit.outcome in _UNCHANGED):
            documents.release_document(Retained.PARTS, key)
