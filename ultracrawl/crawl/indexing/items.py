"""Ends visits by what becomes of their items: Scrapy's signals about items, and errors in code of users."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import CloseSpider

from ultracrawl.crawl.ending import Ending
from ultracrawl.crawl.results import FetchResult
from ultracrawl.crawl.visit import Visit, visit_of
from ultracrawl.errors import WorkError
from ultracrawl.model import Cause, CauseCode, Document, UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.stores import QueueEntry

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.signalmanager import SignalManager
    from twisted.python.failure import Failure

    from ultracrawl.crawl.context import CrawlContext


class ItemTracker:
    """Knows the visits of items, and ends them with what becomes of their items."""

    def __init__(
        self,
        context: CrawlContext,
        signalling: SignalManager,
        fail: Callable[[Visit, BaseException], None],
    ) -> None:
        """Listen to signals; `fail` ends a visit on which code of others raised, or lets it be tried again."""
        self._context = context
        self._fail = fail
        self.given: set[int] = set()
        """Keys of documents that came without a visit in this run; nothing is fetched for them."""
        for heed, signal in (
            (self._dropped, signals.item_dropped),
            (self._failed, signals.item_error),
            (self._spider_failed, signals.spider_error),
        ):
            signalling.connect(heed, signal)

    def visit_of(self, item: Any, response: Response | Failure | None = None) -> Visit | None:
        """Return the visit that an item came from, if need be by its answer; None if it has ended or there is none."""
        visit = self._context.visits.get(url_key(_access_url(item)))
        request = getattr(response, "request", None)
        return visit_of(request) if visit is None and request is not None else visit

    # ---- documents that come without a visit

    def adopt_document(self, document: Document) -> Visit | None:
        """Return a visit for a document that nothing was fetched for; None if it has one, or may have none.

        Only where the source may have its URL, and no page of this run has it: what is visited makes its own document.
        """
        context = self._context
        if self.visit_of(document) is not None:
            return None
        given = document.access_url or document.url
        url = context.rules.url_policy.canonical(given)
        rule = "no URL that can be crawled" if url is None else context.rules.boundary.rejects(url)
        if url is None or rule is not None:
            told = "its URL has to be one that the boundary of the source lets in"
            context.run.note_problem(
                WorkError(f"a document of the spider is not indexed: {given!r} ({rule}); {told}")
            )
            return None
        key = url_key(url)
        record = context.store.records.get_record(key)
        if record is not None and record.last_fetched >= context.mark.started and key not in self.given:
            return None
        self.given.add(key)
        context.counters.count_scheduled()
        return self._visit(document, key, url, record)

    def _visit(self, document: Document, key: int, url: str, record: UrlRecord | None) -> Visit:
        context = self._context
        shown = document.url if document.url != document.access_url else ""
        document.access_url, document.url = url, shown or url
        document.source = context.source.name
        known = record or UrlRecord(url, document.source, first_seen=context.clock())
        entry = QueueEntry(key, url, site_of(url), 0, 0, display_url=shown if shown != url else "")
        visit = Visit(entry, known, without_request=True, fetch=FetchResult(status=200))
        context.visits[key] = visit
        return visit

    # ---- what Scrapy says

    def _dropped(self, item: Any, exception: BaseException, response: Response | None) -> None:
        """End the visit of an item that a pipeline dropped, ours or somebody else's."""
        visit = self.visit_of(item, response)
        if visit is not None:
            cause = Cause(CauseCode.DROPPED, detail=str(exception))
            self._context.endings.end_visit(visit, Ending(UrlOutcome.NOT_INDEXED, 200, cause))

    def _failed(self, item: Any, failure: Failure, response: Response | None) -> None:
        """End the visit of an item on which a pipeline raised. The disk being full ends the crawl."""
        error = failure.value or RuntimeError("unknown failure")
        if isinstance(error, WorkError):
            self._context.run.fail(str(error))
        if isinstance(error, CloseSpider):
            self._context.run.end_soon(error.reason)
        visit = self.visit_of(item, response)
        if visit is not None:
            self._fail(visit, error)

    def _spider_failed(self, failure: Failure, response: Response | Failure | None) -> None:
        """End the visit on whose answer the spider, or a middleware of it, raised."""
        error = failure.value or RuntimeError("unknown failure")
        if response is None:
            told = f"{type(error).__name__}: {' '.join(str(error).split())}"
            name = self._context.source.spider_class or "the spider"
            self._context.run.note_problem(WorkError(f"start() of {name} ended early with {told}"))
            return
        request = getattr(response, "request", None)
        visit = visit_of(request) if request is not None else None
        if visit is not None:
            self._fail(visit, error)


def _access_url(item: Any) -> str:
    """Return the URL that an item says it was fetched from."""
    if isinstance(item, Document):
        return item.access_url
    from itemadapter import ItemAdapter  # noqa: PLC0415 - slow, and most crawls have documents alone

    return str(ItemAdapter(item).get("access_url", ""))
