"""Ends visits by the fate of their items: Scrapy's item signals, and errors in user code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import CloseSpider
from scrapy.utils.conf import build_component_list

from ultracrawl.errors import WorkError
from ultracrawl.model import Cause, CauseCode, Document, UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.run.ending import Ending
from ultracrawl.run.results import FetchResult
from ultracrawl.run.visit import Visit, visit_of
from ultracrawl.stores import QueueEntry

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Request, Response
    from scrapy.signalmanager import SignalManager
    from twisted.python.failure import Failure

    from ultracrawl.run.context import CrawlContext
    from ultracrawl.sources import DataSource

_INDEX_PIPELINE = "IndexPipeline"


def may_have_readers(crawler: Crawler, source: DataSource) -> bool:
    """Return whether items may have readers of their own: their paths name them, or items.

    A class of a user makes items, or a pipeline of a user changes them; pipelines behind the one that indexes do not
    count.
    """
    if source.acl_paths or getattr(crawler.spidercls, "makes_items", False):
        return True
    for pipeline in build_component_list(crawler.settings.getwithbase("ITEM_PIPELINES")):
        path = pipeline if isinstance(pipeline, str) else f"{pipeline.__module__}.{pipeline.__qualname__}"
        if not path.startswith("ultracrawl.pipelines."):
            return True
        if path.endswith(f".{_INDEX_PIPELINE}"):
            return False
    return False


class ItemTracker:
    """Maps items to visits, and ends visits whose items are dropped or fail."""

    def __init__(
        self,
        context: CrawlContext,
        signalling: SignalManager,
        fail: Callable[[Visit, BaseException], None],
    ) -> None:
        """Connect to the signals; `fail` ends a visit after an error in user code, or has it retried."""
        self._context = context
        self._fail = fail
        self._latest: tuple[Any, Visit] | None = None
        """The latest document and its visit; pipelines ask for them one after the other."""
        self.given: set[int] = set()
        """Keys of documents that were yielded without a visit in this run; their URLs are not fetched."""
        for handler, signal in (
            (self._dropped, signals.item_dropped),
            (self._failed, signals.item_error),
            (self._spider_failed, signals.spider_error),
        ):
            signalling.connect(handler, signal)

    def visit_of(self, item: Any, response: Response | Failure | None = None) -> Visit | None:
        """Return the visit of an item, found by its URL or response; None if it has ended or there is none."""
        if self._latest is not None and self._latest[0] is item and not self._latest[1].done:
            return self._latest[1]
        visit = self._context.visits.get(url_key(_access_url(item)))
        request = getattr(response, "request", None)
        if visit is not None:
            self._latest = item, visit
            return visit
        return None if request is None else visit_of(request)

    # ---- documents without a visit

    def adopt_document(self, document: Document) -> Visit | None:
        """Return a visit for a document that was yielded without a request; None if it has one, or may have none.

        Its URL has to be inside the boundary, and no page of this run: that makes its own document.
        """
        context = self._context
        if self.visit_of(document) is not None:
            return None
        given = document.access_url or document.url
        url = context.rules.url_policy.canonical(given)
        rule = "no URL that can be crawled" if url is None else context.rules.boundary.rejects(url)
        if url is None or rule is not None:
            advice = "its URL must be inside the boundary of the source"
            context.run.note_problem(
                WorkError(f"a document of the spider is not indexed: {given!r} ({rule}); {advice}")
            )
            return None
        key = url_key(url)
        record = context.store.records.get_record(key)
        if record is not None and key not in self.given and self._is_page(record):
            return None
        self.given.add(key)
        context.counters.count_scheduled()
        return self._make_visit(document, key, url, record)

    def _is_page(self, record: UrlRecord) -> bool:
        """Return whether the URL was requested in this run, and an answer had content: an error has no document."""
        return record.last_fetched >= self._context.mark.started and not record.outcome.without_content

    def _make_visit(self, document: Document, key: int, url: str, record: UrlRecord | None) -> Visit:
        context = self._context
        shown = document.url if document.url != document.access_url else ""
        document.access_url, document.url = url, shown or url
        document.source = context.source.name
        known = record or UrlRecord(url, document.source, first_seen=context.clock())
        entry = QueueEntry(key, url, site_of(url), 0, 0, display_url=shown if shown != url else "")
        visit = Visit(entry, known, without_request=True, fetch=FetchResult(status=200))
        context.visits[key] = visit
        return visit

    # ---- Scrapy's signals

    def _dropped(self, item: Any, exception: BaseException, response: Response | None) -> None:
        """End the visit of an item that a pipeline dropped, built-in or of the user."""
        visit = self.visit_of(item, response)
        if visit is not None:
            cause = Cause(CauseCode.DROPPED, detail=str(exception))
            self._context.endings.end_visit(visit, Ending(UrlOutcome.NOT_INDEXED, 200, cause))

    def _failed(self, item: Any, failure: Failure, response: Response | None) -> None:
        """End the visit of an item whose pipeline raised. A `WorkError`, as for a full disk, ends the crawl."""
        error = failure.value or RuntimeError("unknown failure")
        if isinstance(error, WorkError):
            self._context.run.fail(str(error))
        if isinstance(error, CloseSpider):
            self._context.run.end_soon(error.reason)
        visit = self.visit_of(item, response)
        if visit is not None:
            self._fail(visit, error)

    def _spider_failed(self, failure: Failure, response: Response | Failure | None) -> None:
        """Report that the spider, or a spider middleware, raised, and end the visit of the response, if it has one."""
        error = failure.value or RuntimeError("unknown failure")
        request = getattr(response, "request", None)
        visit = visit_of(request) if request is not None else None
        function = "" if visit is not None else self._function_of(request)
        self._context.run.note_spider_failure(function, error)
        if visit is not None:
            self._fail(visit, error)

    def _function_of(self, request: Request | None) -> str:
        """Return which function of the spider raised: the callback of a request, `start()` without one."""
        name = "start" if request is None else getattr(request.callback, "__name__", "a callback")
        owner = self._context.source.spider_class
        return f"{name}() of {f'the class {owner}' if owner else 'the spider'}"


def _access_url(item: Any) -> str:
    """Return the access URL of an item."""
    if isinstance(item, Document):
        return item.access_url
    from itemadapter import ItemAdapter  # noqa: PLC0415 - slow, and most crawls have documents alone

    return str(ItemAdapter(item).get("access_url", ""))
