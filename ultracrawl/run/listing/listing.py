"""Lists a source: queues the entries of its lister that are new or changed, and removes what is no longer listed."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ultracrawl.agents.entry_texts import content_key, pack_entry, unpack_entry
from ultracrawl.agents.port import Batch, Complete, Entry, LeftOut, Listed, Lister, Partial
from ultracrawl.dataclass import asdict, dataclass, field, replace
from ultracrawl.errors import UltracrawlError
from ultracrawl.model import StatusCode, UrlOutcome, UrlRecord
from ultracrawl.model.record_changes import without_validators
from ultracrawl.rules.urls.canonical import split, url_key
from ultracrawl.rules.urls.shown import is_display_url
from ultracrawl.run.hooks import Feature
from ultracrawl.run.listing.answers import StoredValidators
from ultracrawl.run.listing.call_threads import CallThreads, made_alone
from ultracrawl.run.listing.deletions import ListedDeletions
from ultracrawl.run.listing.fetching import FAILED, KEPT
from ultracrawl.run.listing.renewal import ReaderRenewal, Readers
from ultracrawl.run.listing.vouching import is_vouched_for, remains_unread, vouched_outcome
from ultracrawl.sources.kinds import kind_schemes
from ultracrawl.stores import Retained
from ultracrawl.stores.project_stores import open_lists

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit

logger = logging.getLogger(__name__)

_WEB_SCHEMES = frozenset({"http", "https", "ftp"})
_SURROGATE = re.compile("[\ud800-\udfff]")
"""What stands in names of files for bytes that are no text; no URL has it."""

MAX_QUEUED = 20_000
"""Queue length from which listing pauses."""
CAPACITY_POLL_INTERVAL = 0.2
"""Seconds between checks whether listing can go on."""
MAX_KINDS_LEFT_OUT = 10
"""Kinds of parts left out that a report counts apart from each other."""
MAX_PLACE_LENGTH = 300
"""Characters that a report shows of where one of them is found."""
_ENTRIES_AT_ONCE = 1000
"""Stored entries that are read at once."""
CLOSE_TIMEOUT = 30.0
"""Seconds that a lister has to return when the crawl ends."""


class SourceListing(Feature):
    """Lists the source of a crawl, batch by batch, while documents are fetched.

    A batch is committed together with the lister's cursor, so that a crawl that was killed resumes behind it.
    """

    def __init__(
        self,
        context: CrawlContext,
        make_lister: Callable[[], Lister],
        lost: Callable[[], bool],
        *,
        items_have_readers: bool = False,
    ) -> None:
        """Initialise; `lost` returns whether an index lost documents, so that all are fetched.

        `items_have_readers`: items of the source may name their readers.
        """
        self._context = context
        self._make = make_lister
        self._lost = lost
        self._lister: Lister | None = None
        self._threads = CallThreads("lister")
        self._task: asyncio.Task[None] | None = None
        self._notes = ListingNotes(context)
        self._deletions = ListedDeletions(context)
        self._schemes = kind_schemes(context.source.type)
        self._validators = StoredValidators(context.source, context.rules.recipe)
        self._renewal = ReaderRenewal(context, self._validators, items_have_readers=items_have_readers)
        self._shown_url = partial(_shown_url, schemes=self._schemes)

    # ---- start

    def queue_opened(self) -> None:
        """Start the listing, or resume it."""
        run = self._context.run
        if run.failed or run.replay:
            return
        self._notes.begin(fresh=self._fetches_everything)
        run.is_listing = True
        self._task = asyncio.ensure_future(self._run())

    @property
    def _fetches_everything(self) -> bool:
        run = self._context.run
        return run.force or run.rescan or self._lost()

    # ---- listing

    async def _run(self) -> None:
        run = self._context.run
        try:
            await self._list_source()
        except UltracrawlError as error:
            run.fail(error)
        except Exception as error:  # code of a plug-in may raise anything
            logger.warning("The source cannot be listed", exc_info=error)
            run.fail(f"the source cannot be listed: {type(error).__name__}: {error}")
        finally:
            for remark in self._notes.left_out_remarks():
                self._context.counters.add_remark(remark)
            run.is_listing = False
            self._context.queue.listing_changed()

    async def _list_source(self) -> None:
        call, state = self._threads.call, self._notes.state
        self._lister = lister = await call(made_alone, self._make)
        lists = await call(lister.value_lists)
        if lists:
            open_lists(self._context.project).replace(lists)
        if state.whole:
            await call(lister.resume_queued, state.since)
            return
        if state.left_out and not state.cursor:
            self._notes.note(left_out={})  # the listing starts from its beginning
        if state.since and not state.cursor:
            await call(lister.confirm, state.since)
        steps = await call(lister.list_entries, state.since, state.cursor)
        while True:
            await self._wait_for_capacity()
            listed = await self._next_batch(steps)
            if isinstance(listed, Batch):
                await self._process_batch(listed)
                continue
            self._end_listing(listed)
            return

    async def _next_batch(self, steps: Any) -> Listed:
        if isinstance(steps, AsyncIterator):
            listed = await anext(steps, None)
        else:
            listed = await self._threads.call(next, steps, None)
        return Partial("the lister ended without Complete or Partial") if listed is None else listed

    def _end_listing(self, end: Complete | Partial) -> None:
        self._renewal.queue_copies(self._queue_again)
        for remark in (self._deletions.report(), self._renewal.report()):
            if remark:
                self._context.counters.add_remark(remark)
        if isinstance(end, Partial):
            self._leave_names()
            self._context.run.listed_partially = True
            self._context.run.add_problem(_problem_of(end))
            return
        if end.changes_only:
            self._queue_failed()
        self._notes.note(whole=True, changes_only=end.changes_only, token=end.token)
        self._context.flush()

    async def _wait_for_capacity(self) -> None:
        """Wait while the index is behind or the queue is long."""
        context = self._context
        while context.documents.congested or context.store.queue.number_waiting() > MAX_QUEUED:
            await asyncio.sleep(CAPACITY_POLL_INTERVAL)

    async def _process_batch(self, batch: Batch) -> None:
        """Queue the new and changed entries of a batch, record the others as unchanged, and commit."""
        usable, unusable = usable_entries(batch.entries, self._schemes)
        entries = await self._deletions.apply(usable)
        records = self._context.store.records.get_records(list(entries))
        self._deletions.cancel(records)
        fresh = {known.key for known in self._context.store.visits.note_met(list(records))}
        vouched, fetches_all = Counter[UrlOutcome](), self._fetches_everything
        renamed = list[int]()
        stored = self._stored_entries(entries, records)
        for key, (url, entry) in entries.items():
            record = records.get(key)
            if record is not None and record.url != url:
                self._context.run.note_shared_key(url, record.url)
                continue
            if record is not None and key not in fresh:
                continue
            if record is not None and not fetches_all and self._is_vouched_for(key, record, entry, stored):
                if record.display_url != self._shown_url(entry.display_url, url):
                    self._context.store.documents.retain_document(Retained.LISTED, key, pack_entry(entry))
                    renamed.append(key)
                    continue
                if record.outcome is UrlOutcome.FAILED:
                    self._context.counters.count_still_failed(record)
                    continue
                readers = self._renewal.judge(key, record, entry)
                if readers is Readers.KNOWN:
                    vouched[vouched_outcome(record)] += 1
                if readers is not Readers.READ_AGAIN:
                    continue
            self._queue_entry(key, url, entry, record, stored)
        self._context.counters.count_unchanged(vouched)
        self._renewal.submit()
        self._notes.note_batch(batch.cursor, (*batch.left_out, *unusable), renamed)
        self._context.flush()
        self._context.queue.listing_changed()
        assert self._lister is not None
        await self._threads.call(self._lister.received, batch)

    def _stored_entries(
        self, entries: Mapping[int, tuple[str, Entry]], records: Mapping[int, UrlRecord]
    ) -> dict[int, bytes]:
        """Return the stored entries of a batch, as far as it depends on them what is done with the new ones."""
        keys = [
            key
            for key, record in records.items()
            if record.outcome is UrlOutcome.DUPLICATE or may_have_new_metadata(entries[key][1])
        ]
        return self._context.store.documents.retained_documents(Retained.LISTED, keys) if keys else {}

    def _is_vouched_for(self, key: int, record: UrlRecord, entry: Entry, stored: Mapping[int, bytes]) -> bool:
        """Return whether a document needs no visit; the entry of a duplicate is kept in case it takes its place."""
        if not is_vouched_for(self._context, record, entry, self._validators):
            return False
        if record.outcome is UrlOutcome.DUPLICATE and key not in stored:  # it was the indexed one before
            self._context.store.documents.retain_document(Retained.LISTED, key, pack_entry(entry))
        return True

    def _queue_entry(
        self, key: int, url: str, entry: Entry, record: UrlRecord | None, stored: Mapping[int, bytes]
    ) -> None:
        shown = self._shown_url(entry.display_url, url)
        if record is not None and record.display_url != shown:
            if record.searchable:
                self._context.documents.writer.delete(key, record)
            changed = replace(without_validators(record), display_url=shown, indexed=False, submitted=False)
            self._context.store.records.amend_record(key, changed)
            self._context.documents.release_display_url(record)
        elif record is not None and has_new_metadata(stored.get(key), entry):
            self._context.store.records.amend_record(key, replace(record, etag="", last_modified=""))
        self._context.queue.queue_listed(key, url, shown, known=record is not None)
        self._context.store.documents.retain_document(Retained.LISTED, key, pack_entry(entry))

    def _queue_failed(self) -> None:
        """Queue documents that failed before: a listing of changes does not name them again."""
        store = self._context.store
        for outcome in FAILED:
            failed = {url_key(record.url): record for record in store.records.all_records(outcome)}
            for known in store.visits.note_met(failed):
                if self._is_still_unread(failed[known.key]):
                    self._context.counters.count_still_failed(failed[known.key])
                else:
                    self._queue_again(known.key, failed[known.key])

    def _is_still_unread(self, record: UrlRecord) -> bool:
        """Return whether a listing of changes would name a document again, if it could be read now."""
        is_listed = split(record.url).scheme in self._schemes  # web servers do not tell the lister
        return is_listed and not self._fetches_everything and remains_unread(self._context, record)

    def _queue_again(self, key: int, record: UrlRecord) -> None:
        self._context.queue.queue_listed(key, record.url, record.display_url, known=True)

    # ---- display URLs

    def _queue_renamed(self) -> int:
        """Have the documents read again whose display URL is another one now; returns their number.

        Called when the documents are marked that had these display URLs and are listed no longer.
        """
        number = 0
        for key, (record, entry) in self._take_renamed():
            self._queue_entry(key, record.url, entry, record, {})
            number += 1
        self._context.flush()
        return number

    def _leave_names(self) -> None:
        """Leave documents their display URLs until a listing is complete: whoever has the new ones may be missing."""
        left = Counter[UrlOutcome]()
        for key, (record, _) in self._take_renamed():
            if record.outcome not in KEPT:
                self._context.store.documents.release_document(Retained.LISTED, key)
            if record.outcome is UrlOutcome.FAILED:
                self._context.counters.count_still_failed(record)
            else:
                left[vouched_outcome(record)] += 1
        self._context.counters.count_unchanged(left)

    def _take_renamed(self) -> Iterator[tuple[int, tuple[UrlRecord, Entry]]]:
        """Yield, once, key, record and entry of the documents that have another display URL now, and have not left."""
        renamed, store = self._notes.state.renamed, self._context.store
        if not renamed:
            return
        self._notes.note(renamed=())
        for at in range(0, len(renamed), _ENTRIES_AT_ONCE):
            keys = renamed[at : at + _ENTRIES_AT_ONCE]
            records = store.records.get_records(keys)
            stored = store.documents.retained_documents(Retained.LISTED, keys)
            for key in keys:
                if key in records and key in stored and not records[key].removal:
                    yield key, (records[key], unpack_entry(stored[key]))

    def _release_names(self) -> int:
        """Release display URLs that documents lost in a run that was interrupted; returns their number.

        Who is to have them next is known in memory only, so it is looked up once, in the next run.
        """
        if not self._notes.was_interrupted:
            return 0
        self._notes.was_interrupted = False
        self._context.store.flush()
        documents, number = self._context.documents, 0
        for record in self._context.store.records.all_records(UrlOutcome.DUPLICATE):
            if record.status_code == StatusCode.NOT_UNIQUE and not documents.remains_duplicate(record):
                documents.release_display_url(record)
                number += 1
        return number

    # ---- removal

    def visit_ended(self, visit: Visit) -> None:
        """Remove a document that the listing named as deleted after it had queued it."""
        self._deletions.remove_again(visit.entry.key)

    def cycle_ended(self) -> int:
        """Mark documents that a complete listing did not name as leaving, and have others take their display URLs.

        Returns the number of both.
        """
        state, store = self._notes.state, self._context.store
        if not state.whole or self._context.run.replay:
            return 0
        if state.changes_only:
            return self._queue_renamed() + self._release_names()
        store.flush()
        unseen = store.visits.unseen_urls(1)
        records = store.records.get_records([url.key for url in unseen if url.has_document])
        self._deletions.remove(records.values())
        forgotten = [url.key for url in unseen if not url.has_document]
        if forgotten:
            store.drop_urls(forgotten)
            self._context.queue.forget_urls(forgotten)
        return len(records) + self._queue_renamed() + self._release_names()

    # ---- end

    def run_ending(self, *, complete: bool) -> None:
        """After a complete run, note that the next listing starts from the token of this one."""
        if complete and self._notes.state.whole and not self._context.run.failed:
            self._notes.note(done=True)

    async def fetching_ended(self) -> None:
        """Stop the listing; committed batches stay."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CLOSE_TIMEOUT)
            self._context.run.is_listing = True  # it is resumed by the next start

    async def closed(self) -> None:
        """Confirm to the lister that its documents are in the index, and close it."""
        if self._lister is None:
            return
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT):
                if self._notes.state.done and not self._context.run.failed:
                    await self._threads.call(self._lister.confirm, self._notes.state.token)
                await self._threads.call(self._lister.close)
        except TimeoutError:
            self._context.run.note_problem(
                "the lister did not return in time; its resources may not be released"
            )
        except Exception as error:  # code of a plug-in may raise anything
            self._context.run.note_problem(f"the lister cannot be closed: {type(error).__name__}: {error}")
        self._threads.close()


def _problem_of(end: Partial) -> str:
    what = (
        "the listing of the source stopped at a mistake"
        if end.mistake
        else "the source was not listed in full"
    )
    return f"{what}: {end.reason}; no document counts as deleted"


def usable_entries(entries: Sequence[Entry], schemes: frozenset[str]) -> tuple[list[Entry], list[LeftOut]]:
    """Return the entries whose access URL can be fetched, or can be that of a document, and the others."""
    usable, left_out, beside = list[Entry](), list[LeftOut](), "the beginning of a batch"
    for entry in entries:
        if _can_be_fetched(entry, schemes):
            usable.append(entry)
            beside = entry.access_url
        else:
            place = f"{entry.access_url[: MAX_PLACE_LENGTH // 2]!a} beside {beside}"
            left_out.append(LeftOut("document with an access URL that is none", place))
    return usable, left_out


def _can_be_fetched(entry: Entry, schemes: frozenset[str]) -> bool:
    """Return whether the URLs of an entry are texts, and a document that exists has one that can be fetched."""
    names = (entry.access_url, *entry.also, *([entry.display_url] if entry.deleted else []))
    if any(_SURROGATE.search(name) for name in names):
        return False
    scheme = entry.access_url.partition(":")[0].lower()
    return entry.deleted or scheme in schemes or scheme in _WEB_SCHEMES


def _shown_url(display_url: str, url: str, *, schemes: frozenset[str]) -> str:
    """Return the display URL for a record; empty if it is the access URL, or cannot be shown."""
    return display_url if display_url != url and is_display_url(display_url, schemes) else ""


async def lister_credential(
    listing: SourceListing, host: str, realm: str, url: str
) -> tuple[str, str] | None:
    """Return the lister's user and password for a server that requires them; an error of the lister fails the run."""
    if listing._lister is None:
        return None
    try:
        call = listing._threads.call(listing._lister.credential_for, host, realm, url)
        credential: tuple[str, str] | None = await call
    except UltracrawlError as error:
        listing._context.run.fail(error)
        return None
    except Exception as error:  # code of a plug-in may raise anything
        listing._context.run.fail(f"the lister has no password: {type(error).__name__}: {error}")
        return None
    return credential


@dataclass(frozen=True, slots=True)
class ListingState:
    """The progress of a run's listing; stored as JSON, so field names are fixed."""

    scope: str
    """Digests of scope and recipe of the definition; after a change everything is listed."""
    since: str = ""
    cursor: str = ""
    whole: bool = False
    """The listing has reached its end."""
    changes_only: bool = False
    token: str = ""
    done: bool = False
    """The run ended well: the next listing starts from the token."""
    left_out: Mapping[str, tuple[int, str, str]] = field(default_factory=dict)
    """What the listing left out up to its cursor: number, where the first is found, and advice, by what it is."""
    renamed: Sequence[int] = ()
    """Keys of documents, up to the cursor, that are unchanged and have another display URL; their entries are kept."""


class ListingNotes:
    """The state of the listing of a crawl; changes become durable with the next flush."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self.state = ListingState(f"{context.rules.scope}.{context.rules.recipe}")
        self.was_interrupted = False
        """Whether this run or the one before was killed, stopped or failed."""

    def begin(self, *, fresh: bool) -> None:
        """Resume an interrupted listing, or start from the token of the last good one, or from nothing if `fresh`."""
        self.was_interrupted = self._context.counters.resumed
        stored = ((run, ListingState(**json.loads(text))) for run, text in self._context.store.listings())
        for run, state in stored:
            self.was_interrupted |= not state.done
            if run == self._context.mark.number:
                self.state = state
                return
            if state.done:
                restart = fresh or state.scope != self.state.scope
                self.state = replace(self.state, since="" if restart else state.token)
                return

    def note_batch(self, cursor: str, left_out: Iterable[LeftOut], renamed: Sequence[int]) -> None:
        """Add a batch to the state: where the listing goes on, what is left out, and whose display URL is another."""
        names = (*self.state.renamed, *renamed) if renamed else self.state.renamed
        self.note(cursor=cursor, left_out=self._counted(left_out), renamed=names)

    def _counted(self, found: Iterable[LeftOut]) -> Mapping[str, tuple[int, str, str]]:
        """Return what this listing left out, with what it has found now."""
        counted = dict(self.state.left_out)
        for one in found:
            if one.what in counted or len(counted) < MAX_KINDS_LEFT_OUT:
                number, first, advice = counted.get(one.what, (0, one.first[:MAX_PLACE_LENGTH], one.advice))
                counted[one.what] = number + one.number, first, advice
        return counted

    def left_out_remarks(self) -> Iterator[str]:
        """Yield a line for each kind of parts that this listing left out."""
        for what, (number, first, advice) in self.state.left_out.items():
            yield f"left out: {number:,} × {what}, such as {first}" + (f"; {advice}" if advice else "")

    def note(self, **changes: Any) -> None:
        """Change fields of the state."""
        self.state = replace(self.state, **changes)
        self._context.store.note_listing(self._context.mark.number, json.dumps(asdict(self.state)))


def may_have_new_metadata(entry: Entry) -> bool:
    """Return whether a document is on a web server, and only what its lister said before tells of new metadata."""
    return not entry.validators and entry.body is None


def has_new_metadata(before: bytes | None, entry: Entry) -> bool:
    """Return whether a lister's metadata of such a document have changed since its stored entry `before`."""
    if before is None or not may_have_new_metadata(entry):
        return False
    return content_key(unpack_entry(before)) != content_key(entry)
