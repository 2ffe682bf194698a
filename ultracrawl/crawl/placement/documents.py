"""The port `documents`: decides which URL stands for a document, by display URL, content and approval."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from ultracrawl.crawl.ending import Ending
from ultracrawl.crawl.placement.display_urls import DisplayUrls
from ultracrawl.crawl.placement.duplicates import Duplicates
from ultracrawl.crawl.placement.holders import needs_approval
from ultracrawl.crawl.placement.pending import PendingDocuments
from ultracrawl.crawl.placement.succession import same_content
from ultracrawl.crawl.ports import Placed, Placement, Refused, Retained
from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome
from ultracrawl.model.cause import truncation_cause
from ultracrawl.rules.recrawl.change import classify
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.rules.urls.shown import is_display_url
from ultracrawl.sources.kinds import kind_schemes

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import Visit
    from ultracrawl.crawl.writing.writer import IndexWriter
    from ultracrawl.index import IndexDocument
    from ultracrawl.model import UrlRecord


_WITH_TEXT = ("application/", "message/")
"""Beginnings of media types of documents that usually have text; images have none, and pages often have none."""
_XHTML = "application/xhtml+xml"


class Documents:
    """The port `documents` of a crawl (`DocumentPort`)."""

    def __init__(
        self,
        context: CrawlContext,
        writer: IndexWriter,
        pending: PendingDocuments,
        display_urls: DisplayUrls,
        duplicates: Duplicates,
    ) -> None:
        self.writer = writer
        self._context = context
        self._pending = pending
        self._display_urls = display_urls
        self._duplicates = duplicates
        self._schemes = kind_schemes(context.source.type)

    def propose(self, visit: Visit, document: IndexDocument) -> Placement:
        """Decide which URL stands for a document, and end its visit accordingly.

        A display URL that hits must not link to ends as 1010, a second document with the same display URL as 956, one
        with equal content as 909. In the crawling mode `examine` a document is retained, with status 952.
        """
        if not is_display_url(document.url, self._schemes):
            cause = Cause(CauseCode.STATED, repr(document.url))
            ending = Ending(UrlOutcome.FAILED, StatusCode.BAD_DISPLAY_URL, cause)
            self._context.endings.end_visit(visit, ending)
            return Refused("", cause)
        return self._refuse_duplicate(visit, document.acl) or self._place(
            visit, self._complete(visit, document)
        )

    def _refuse_duplicate(self, visit: Visit, readers: Collection[str]) -> Refused | None:
        holder = self._display_urls.holder(visit)
        if holder is not None:
            cause = Cause(CauseCode.SAME_DISPLAY_URL, holder.url, visit.display_url)
            ending = Ending(UrlOutcome.DUPLICATE, StatusCode.NOT_UNIQUE, cause)
            self._context.endings.end_visit(visit, ending)
            return Refused(holder.url, cause)
        holder_of_content = self._duplicates.find_contested(visit, readers)
        if holder_of_content is None:
            return None
        self._duplicates.refuse(visit, holder_of_content)
        return Refused(holder_of_content.url, same_content(holder_of_content))

    def _complete(self, visit: Visit, document: IndexDocument) -> IndexDocument:
        for complete in self._context.hooks.document_made:
            document = complete(visit, document)
        return document

    def _remark_on(self, visit: Visit, document: IndexDocument) -> Cause:
        """Return the remark on an indexed document: that it is truncated, or has no text; count the latter."""
        media_type = visit.fetch.media_type
        usually_has_text = media_type.startswith(_WITH_TEXT) and media_type != _XHTML
        if visit.fetch.truncated or document.text.strip() or not usually_has_text:
            return truncation_cause(visit.fetch.truncated)
        self._context.counters.count_without_text()
        return Cause(CauseCode.NO_TEXT)

    def _place(self, visit: Visit, document: IndexDocument) -> Placement:
        endings, key = self._context.endings, visit.entry.key
        if needs_approval(self._context.source, visit):
            self._pending.keep(key, document)
            self._duplicates.displace(visit)
            ending = Ending(UrlOutcome.PENDING, StatusCode.CRAWLED, self._remark_on(visit, document))
            endings.end_visit(visit, ending)
            return Retained(visit.url)
        leaving = self._duplicates.wait_for_place(visit, document)
        if leaving is not None:
            return Retained(visit.url, leaving.url)
        self.writer.add(key, document)
        self._duplicates.displace(visit)
        outcome = classify(visit.record, visit.checksum, force=True)
        endings.end_visit(visit, Ending(outcome, StatusCode.OK, self._remark_on(visit, document)))
        return Placed(visit.url, outcome)

    def remove(self, leaving: Iterable[UrlRecord]) -> None:
        """Have documents leave the index when the run ends, for the reasons in their records.

        All are marked before duplicates of them are fetched, so that no leaving document takes the place of another.
        """
        marked = list(leaving)
        for record in marked:
            self._context.store.records.amend_record(url_key(record.url), record)
        for record in marked:
            for on_leaving in self._context.hooks.document_leaving:
                on_leaving(record)

    def remains_duplicate(self, record: UrlRecord) -> bool:
        """Return whether a known duplicate still has a better document in the index."""
        return self._duplicates.remains_duplicate(record)

    @property
    def congested(self) -> bool:
        """Whether crawling has to wait for the index."""
        return self.writer.congested
