"""The port `documents`: decides which URL stands for a document, by display URL, content and approval."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome
from ultracrawl.model.cause import truncation_cause
from ultracrawl.model.record_changes import without_content
from ultracrawl.rules.duplicates.losses import Verdict
from ultracrawl.rules.recrawl.change import classify
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.rules.urls.shown import is_display_url
from ultracrawl.run.ending import NOT_LET_IN, Ending
from ultracrawl.run.hooks import Feature
from ultracrawl.run.page_links import follow_links
from ultracrawl.run.placement.canonical_links import Fate, LinkVerdict
from ultracrawl.run.placement.changes import BATCH, ChangeGuard
from ultracrawl.run.placement.display_urls import DisplayUrls
from ultracrawl.run.placement.duplicates import Duplicates, alias_of
from ultracrawl.run.placement.holders import needs_approval
from ultracrawl.run.placement.new_versions import NewVersion, pack_version, unpack_version
from ultracrawl.run.placement.pending import PendingDocuments
from ultracrawl.run.placement.succession import same_content
from ultracrawl.run.ports import HeldBack, Placed, Placement, Refused, Retained
from ultracrawl.sources.kinds import kind_schemes
from ultracrawl.stores import Retained as Retain

if TYPE_CHECKING:
    from ultracrawl.index import IndexDocument
    from ultracrawl.model import UrlRecord
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit
    from ultracrawl.run.writing.writer import IndexWriter


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
        changes: ChangeGuard,
    ) -> None:
        self.writer = writer
        self._context = context
        self._pending = pending
        self._display_urls = display_urls
        self._duplicates = duplicates
        self._schemes = kind_schemes(context.source.type)
        self._changes = changes
        self._put_off: set[int] = set()
        """Keys of versions that are let in after the others, because of the pages that they name."""

    def propose(self, visit: Visit, document: IndexDocument) -> Placement:
        """Decide which URL stands for a document, and end its visit accordingly.

        A display URL that hits must not link to ends as 1010, a second document with the same display URL as 956, one
        with equal content as 909. In the crawling mode `examine` a document is retained, with status 952. A new version
        of a document may have to wait, or be held back.
        """
        if visit.fetch.without_login:
            self._context.endings.end_visit(visit, NOT_LET_IN)
            return Refused("", NOT_LET_IN.cause)
        self._note_readers(visit, document)
        if not is_display_url(document.url, self._schemes):
            cause = Cause(CauseCode.STATED, repr(document.url))
            ending = Ending(UrlOutcome.FAILED, StatusCode.BAD_DISPLAY_URL, cause)
            self._context.endings.end_visit(visit, ending)
            return Refused("", cause)
        return (
            self._refuse_second(visit)
            or self._keep_back(visit, document)
            or self._refuse_duplicate(visit, document.acl)
            or self._follow_canonical(visit, document)
            or self._place(visit, document)
        )

    def _follow_canonical(self, visit: Visit, document: IndexDocument) -> Refused | HeldBack | None:
        """End the visit of a page that is an alias, or retain its document until the page that it names is known."""
        links, target = self._duplicates.canonical_links, visit.page.canonical
        verdict = links.judge_visit(visit)
        if verdict.fate is Fate.WAIT:
            self._context.queue.redirect(visit, target, "")
            if (found := visit.take_links()) is not None:
                follow_links(self._context, visit, found)
            self._retain(Retain.DEFERRED, visit, document)
            links.wait(visit.entry.key, target, verdict.awaited)
            self._context.endings.defer_visit(visit)
            return HeldBack(visit.url, decided=False)
        return self._refuse_alias(visit, verdict)

    def _refuse_alias(self, visit: Visit, verdict: LinkVerdict) -> Refused | None:
        if verdict.holder is None:
            visit.page = visit.page._replace(canonical_refusal=verdict.refusal)
            return None
        self._duplicates.refuse_alias(visit, verdict.holder)
        return Refused(verdict.holder.url, alias_of(visit))

    def _note_readers(self, visit: Visit, document: IndexDocument) -> None:
        visit.note_readers(own=set(document.acl) != set(self._context.source.acl))

    def _keep_back(self, visit: Visit, document: IndexDocument) -> HeldBack | None:
        """Retain a new version in which the words of its document are lost, until the guard has decided or longer."""
        if needs_approval(self._context.source, visit):
            return None
        verdict, label = self._changes.judge(visit, document)
        if verdict is Verdict.PLACE:
            return None
        if not visit.revived:
            self._duplicates.note_readers(visit, document.acl)
        if verdict is Verdict.WAIT:
            self._retain(Retain.DEFERRED, visit, document, waits_for_others=True)
            visit.take_links()
            self._context.endings.defer_visit(visit)
        else:
            self._hold(visit, document, label)
        return HeldBack(visit.url, decided=verdict is Verdict.HOLD)

    def _hold(self, visit: Visit, document: IndexDocument, label: str) -> None:
        if self._changes.is_doubted(visit.record):
            self._withdraw(visit)
        self._retain(Retain.CHANGE, visit, document)
        self._context.store.documents.release_document(Retain.DEFERRED, visit.entry.key)
        cause = Cause(CauseCode.ALIKE, label)
        self._context.endings.end_visit(visit, Ending(UrlOutcome.HELD_BACK, StatusCode.OK, cause))

    def _withdraw(self, visit: Visit) -> None:
        """Take the document of a URL that was new in this run out of the index again."""
        record, key = visit.record, visit.entry.key
        self.writer.delete(key, record)
        visit.replace_record(without_content(record))
        self._context.store.records.amend_record(key, visit.record)
        self._context.store.links.put_page_anchors(key, b"")
        for on_leaving in self._context.hooks[Feature.document_leaving]:
            on_leaving(record)

    def _retain(
        self, purpose: Retain, visit: Visit, document: IndexDocument, *, waits_for_others: bool = False
    ) -> None:
        key = visit.entry.key
        version = NewVersion.of(visit, waits_for_others=waits_for_others)
        data = pack_version(version, key, document)
        self._context.store.documents.retain_document(purpose, key, data)

    def delete(self, keys: Iterable[int]) -> None:
        """Delete documents at once, and remove their URLs for good (status 955); none of them is in flight."""
        leaving = list(keys)
        for key in leaving:
            self._changes.forget(key)
        self._pending.remove(leaving)

    def approve(self, keys: Iterable[int]) -> None:
        """Submit documents that wait for approval to the index."""
        self._pending.approve(keys)

    def settle(self, *, complete: bool | None = None) -> int:
        """Decide about some of the documents that wait for others, and return their number."""
        doubted = 0 if complete is None else self._changes.end_waiting(complete=complete)
        waiting = list(self._changes.ready())
        for key, label in waiting:
            self._settle_one(key, label)
        if complete is not None and not self._changes.has_ready:
            self._duplicates.canonical_links.end_waiting(self._changes.is_waiting)
        linked = list(self._duplicates.canonical_links.ready(BATCH))
        for key, final in linked:
            self._settle_link(key, final=final)
        return doubted + len(waiting) + len(linked)

    def _settle_link(self, key: int, *, final: bool) -> None:
        """Decide about a page that waited for the page that it names; it may have to wait for another one."""
        links, documents = self._duplicates.canonical_links, self._context.store.documents
        record, data = (
            self._context.store.records.get_record(key),
            documents.retained_document(Retain.DEFERRED, key),
        )
        found = unpack_version(data) if data else None
        if record is None or record.removed or found is None:
            links.stop_waiting(key)
            documents.release_document(Retain.DEFERRED, key)
            return
        version, document = found
        visit = version.visit(key, record)
        links.stop_waiting(key)
        verdict = links.judge_visit(visit, final=final)
        if verdict.fate is Fate.WAIT:
            links.wait(key, visit.page.canonical, verdict.awaited)
            return
        documents.release_document(Retain.DEFERRED, key)
        self._note_readers(visit, document)
        if holder := self._duplicates.find_again(visit):
            self._duplicates.refuse(visit, holder)
        elif not (
            self._refuse_second(visit)
            or self._refuse_duplicate(visit, None)
            or self._refuse_alias(visit, verdict)
        ):
            self._keep_back(visit, document) or self._place(visit, document)

    def _settle_one(self, key: int, label: str | None) -> None:
        state = self._context.store
        record, data = state.records.get_record(key), state.documents.retained_document(Retain.DEFERRED, key)
        found = unpack_version(data) if data else None
        if record is None or record.removed or found is None:
            self._changes.forget(key)
            return
        version, document = found
        visit = version.visit(key, record)
        if label is None and self._comes_after_others(visit):
            return
        self._changes.forget(key)
        self._note_readers(visit, document)
        if label is not None:
            self._hold(visit, document, label)
        elif self._refuse_second(visit):
            return
        elif holder := self._duplicates.find_again(visit):
            self._duplicates.refuse(visit, holder)
        elif not (
            self._refuse_duplicate(visit, None) or self._refuse_alias(visit, self._final_verdict(visit))
        ):
            self._place(visit, document)

    def _comes_after_others(self, visit: Visit) -> bool:
        """Have a version be let in after the others, once, if the page that it names may be one of these."""
        key, links = visit.entry.key, self._duplicates.canonical_links
        if key in self._put_off or links.judge_visit(visit).fate is not Fate.WAIT:
            return False
        self._put_off.add(key)
        self._changes.put_off(key)
        return True

    def _final_verdict(self, visit: Visit) -> LinkVerdict:
        return self._duplicates.canonical_links.judge_visit(visit, final=True)

    def _refuse_second(self, visit: Visit) -> Refused | None:
        """End the visit of a document whose display URL another one has."""
        holder = self._display_urls.holder(visit)
        if holder is None:
            return None
        cause = Cause(CauseCode.SAME_DISPLAY_URL, holder.url, visit.display_url)
        ending = Ending(UrlOutcome.DUPLICATE, StatusCode.NOT_UNIQUE, cause)
        self._context.endings.end_visit(visit, ending)
        return Refused(holder.url, cause)

    def _refuse_duplicate(self, visit: Visit, readers: Collection[str] | None) -> Refused | None:
        """End the visit of a duplicate; `readers` are those of its item, None if they have been compared."""
        is_copy = visit.page.is_copy
        holder_of_content = self._duplicates.find_again(visit) if is_copy else None
        holder_of_content = holder_of_content or self._duplicates.find_contested(visit, readers)
        if holder_of_content is None:
            return None
        self._duplicates.refuse(visit, holder_of_content)
        return Refused(holder_of_content.url, same_content(holder_of_content))

    def _remark_on(self, visit: Visit, document: IndexDocument) -> Cause:
        """Return the remark on an indexed document: that it is truncated, or has no text; count the latter."""
        media_type = visit.fetch.media_type
        usually_has_text = media_type.startswith(_WITH_TEXT) and media_type != _XHTML
        if visit.page.canonical_refusal and not visit.fetch.truncated:
            return Cause(CauseCode.CANONICAL_KEPT, visit.page.canonical, visit.page.canonical_refusal)
        if visit.fetch.truncated or document.text.strip() or not usually_has_text:
            return truncation_cause(visit.fetch.truncated)
        self._context.counters.count_without_text()
        return Cause(CauseCode.NO_TEXT)

    def _place(self, visit: Visit, document: IndexDocument) -> Placement:
        endings, key = self._context.endings, visit.entry.key
        for complete in self._context.hooks[Feature.document_made]:
            document = complete(visit, document)
        self._display_urls.displace(visit)
        if needs_approval(self._context.source, visit):
            self._pending.keep(key, document)
            self._duplicates.displace(visit)
            ending = Ending(UrlOutcome.PENDING, StatusCode.CRAWLED, self._remark_on(visit, document))
            endings.end_visit(visit, ending)
            return Retained(visit.url)
        leaving = self._duplicates.wait_for_place(visit, document)
        if leaving is not None:
            return Retained(visit.url, leaving.url)
        if visit.record.indexed:
            self.writer.commits.note_replaced(visit.record)
        self.writer.add(key, document)
        self._duplicates.displace(visit)
        outcome = classify(visit.record, visit.checksum, force=True)
        if visit.record.searchable and visit.record.last_fetched:
            outcome = UrlOutcome.MODIFIED  # also if it is to be read anew, and therefore has no checksum
        if classify(visit.record, visit.checksum) is UrlOutcome.UNMODIFIED:
            outcome = UrlOutcome.REINDEXED
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
            for on_leaving in self._context.hooks[Feature.document_leaving]:
                on_leaving(record)

    def remains_duplicate(self, record: UrlRecord) -> bool:
        """Return whether a known duplicate still has a better document in the index, or one with its display URL."""
        if record.status_code == StatusCode.NOT_UNIQUE:
            return self._display_urls.remains_second(record)
        return self._duplicates.remains_duplicate(record)

    def release_display_url(self, record: UrlRecord) -> None:
        """Let the next document have the display URL that a record had until now."""
        self._display_urls.release(record)

    def demote(self, record: UrlRecord, after: UrlRecord) -> None:
        """Take a document whose place another one has out of the index; `after` is its record then.

        If the report counted its visit in this run, it counts as `after`.
        """
        store, key = self._context.store, url_key(record.url)
        if record.searchable:
            self.writer.delete(key, record)
        store.documents.release_document(Retain.APPROVAL, key)
        store.records.amend_record(key, after)
        self._context.queue.update_record(after)
        self.recount(record, after)

    def recount(self, before: UrlRecord, after: UrlRecord) -> None:
        """Replace the outcome of a URL that the report counted for its visit in this run."""
        self._duplicates.recount(before, after)

    @property
    def congested(self) -> bool:
        """Whether crawling has to wait for the index."""
        return self.writer.congested
