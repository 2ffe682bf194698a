"""The one owner of which URL stands for a document: display URL, content, approval, and who takes whose place."""

from __future__ import annotations

from collections.abc import Iterable
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

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import Visit
    from ultracrawl.crawl.writing.writer import IndexWriter
    from ultracrawl.index import IndexDocument
    from ultracrawl.model import UrlRecord


class Documents:
    """The port `documents` of a crawl (`DocumentPort`)."""

    def __init__(
        self,
        context: CrawlContext,
        writer: IndexWriter,
        pending: PendingDocuments,
        names: DisplayUrls,
        duplicates: Duplicates,
    ) -> None:
        self.writer = writer
        self._context = context
        self._pending = pending
        self._names = names
        self._duplicates = duplicates

    def propose(self, visit: Visit, document: IndexDocument) -> Placement:
        """Decide which URL stands for a document, and end its visit with that.

        A second document of a display URL ends as 956, and one of equal content as 909. In the crawling mode `examine`
        a document is kept back, with status 952.
        """
        return self._refused(visit) or self._place(visit, self._completed(visit, document))

    def _refused(self, visit: Visit) -> Refused | None:
        holder = self._names.holder(visit)
        if holder is not None:
            cause = Cause(CauseCode.SAME_DISPLAY_URL, holder.url, visit.display_url)
            ending = Ending(UrlOutcome.DUPLICATE, StatusCode.NOT_UNIQUE, cause)
            self._context.endings.end_visit(visit, ending)
            return Refused(holder.url, cause)
        twin = self._duplicates.find_again(visit)
        if twin is None:
            return None
        self._duplicates.refuse(visit, twin)
        return Refused(twin.url, same_content(twin))

    def _completed(self, visit: Visit, document: IndexDocument) -> IndexDocument:
        for complete in self._context.hooks.document_made:
            document = complete(visit, document)
        return document

    def _place(self, visit: Visit, document: IndexDocument) -> Placement:
        endings, key = self._context.endings, visit.entry.key
        if needs_approval(self._context.source, visit):
            self._pending.keep(key, document)
            self._duplicates.displace(visit)
            ending = Ending(UrlOutcome.PENDING, StatusCode.CRAWLED, truncation_cause(visit.fetch.truncated))
            endings.end_visit(visit, ending)
            return Retained(visit.url)
        leaving = self._duplicates.wait_for_place(visit, document)
        if leaving is not None:
            return Retained(visit.url, leaving.url)
        self.writer.add(key, document)
        self._duplicates.displace(visit)
        outcome = classify(visit.record, visit.checksum, force=True)
        endings.end_visit(visit, Ending(outcome, StatusCode.OK, truncation_cause(visit.fetch.truncated)))
        return Placed(visit.url, outcome)

    def remove(self, leaving: Iterable[UrlRecord]) -> None:
        """Have documents leave the index when the run ends, for the reasons that their records give.

        All are marked before copies of them are asked for, so that none of them takes the place of another.
        """
        marked = list(leaving)
        for record in marked:
            self._context.store.records.amend_record(url_key(record.url), record)
        for record in marked:
            for told in self._context.hooks.document_leaving:
                told(record)

    def remains_duplicate(self, record: UrlRecord) -> bool:
        """Whether a known duplicate repeats a document that has its place, and comes before it."""
        return self._duplicates.remains_duplicate(record)

    @property
    def congested(self) -> bool:
        """Whether crawling has to wait for the index."""
        return self.writer.congested
