"""The listing of a source: what its lister names enters the queue, or is vouched for; what it names no more leaves."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ultracrawl.agents.entry_texts import pack_entry
from ultracrawl.agents.port import Batch, Complete, Entry, Listed, Lister, Partial
from ultracrawl.crawl.hooks import Feature
from ultracrawl.crawl.listing.answers import is_display_url
from ultracrawl.crawl.listing.call_threads import CallThreads
from ultracrawl.crawl.listing.fetching import FAILED
from ultracrawl.crawl.listing.notes import ListingNotes
from ultracrawl.crawl.listing.vouching import is_vouched_for, says_other, vouched_outcome
from ultracrawl.errors import UltracrawlError
from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason, UrlOutcome, UrlRecord
from ultracrawl.model.record_changes import without_validators
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import Retained
from ultracrawl.stores.opening import open_lists

if TYPE_CHECKING:
    from collections.abc import Callable

    from ultracrawl.crawl.context import CrawlContext

logger = logging.getLogger(__name__)

MOST_WAITING = 20_000
"""Documents that wait in the queue, from which on no more are listed."""
LOOK_AGAIN = 0.2
"""Seconds after which it is looked again whether there is room for more."""
PATIENCE = 30.0
"""Seconds that a lister gets to come back when the crawl ends."""
_UNLISTED = Removal(RemovalReason.UNLISTED, Cause(CauseCode.UNLISTED))


class SourceListing(Feature):
    """Lists the source of a crawl, batch by batch, while documents are fetched.

    A batch becomes durable together with the place behind it, so that a crawl that is killed goes on there.
    """

    def __init__(
        self, context: CrawlContext, make_lister: Callable[[], Lister], lost: Callable[[], bool]
    ) -> None:
        """`make_lister` gives the lister; `lost` tells whether an index lost documents, so that all are fetched."""
        self._context = context
        self._make = make_lister
        self._lost = lost
        self._lister: Lister | None = None
        self._threads = CallThreads("lister")
        self._task: asyncio.Task[None] | None = None
        self._notes = ListingNotes(context)

    # ---- the beginning

    def queue_opened(self) -> None:
        """Begin to list, or go on."""
        run = self._context.run
        if run.failed or run.replay:
            return
        self._notes.begin(fresh=self._everything)
        run.listing = True
        self._task = asyncio.ensure_future(self._run())

    @property
    def _everything(self) -> bool:
        run = self._context.run
        return run.force or run.rescan or self._lost()

    # ---- the listing

    async def _run(self) -> None:
        run = self._context.run
        try:
            await self._list_source()
        except UltracrawlError as error:
            run.fail(error)
        except Exception as error:  # the edge to code of a kind
            logger.warning("The source cannot be listed", exc_info=error)
            run.fail(f"the source cannot be listed: {type(error).__name__}: {error}")
        finally:
            run.listing = False
            self._context.queue.listing_changed()

    async def _list_source(self) -> None:
        call, state = self._threads.call, self._notes.state
        self._lister = lister = await call(self._make)
        lists = await call(lister.value_lists)
        if lists:
            open_lists(self._context.project).replace(lists)
        if state.whole:
            await call(lister.resume_queued, state.since)
            return
        if state.since and not state.cursor:
            await call(lister.confirm, state.since)
        steps = await call(lister.list_entries, state.since, state.cursor)
        while True:
            await self._room()
            listed = await self._next(steps)
            if isinstance(listed, Batch):
                await self._take_batch(listed)
                continue
            self._end_listing(listed)
            return

    async def _next(self, steps: Any) -> Listed:
        if isinstance(steps, AsyncIterator):
            found = await anext(steps, None)
        else:
            found = await self._threads.call(next, steps, None)
        return Partial("the lister ended without saying that it was at the end") if found is None else found

    def _end_listing(self, end: Complete | Partial) -> None:
        if isinstance(end, Partial):
            self._context.run.partial = True
            self._context.run.add_problem(
                f"the source was listed in part: {end.reason}; nothing of it is taken for gone"
            )
            return
        if end.changes_only:
            self._ask_failed()
        self._notes.note(whole=True, changes_only=end.changes_only, token=end.token)
        self._context.flush()

    async def _room(self) -> None:
        """Wait as long as the index is behind, or too much waits already."""
        context = self._context
        while context.documents.congested or context.store.queue.number_waiting() > MOST_WAITING:
            await asyncio.sleep(LOOK_AGAIN)

    async def _take_batch(self, batch: Batch) -> None:
        """Queue what is new or changed in a batch, and vouch for the rest, durably."""
        entries = {url_key(url): (url, entry) for entry in batch.entries if (url := self._url_of(entry))}
        records = self._context.store.records.get_records(list(entries))
        self._remove(records[key] for key, (_, entry) in entries.items() if entry.deleted and key in records)
        fresh = {one.key for one in self._context.store.visits.note_met(list(records))}
        vouched, everything = Counter[UrlOutcome](), self._everything
        for key, (url, entry) in entries.items():
            record = records.get(key)
            if entry.deleted or (record is not None and key not in fresh):
                continue
            if record is not None and not everything and is_vouched_for(self._context, key, record, entry):
                vouched[vouched_outcome(record)] += 1
                continue
            self._queue(key, url, entry, record)
        self._context.counters.count_unchanged(vouched)
        self._notes.note(cursor=batch.cursor)
        self._context.flush()
        self._context.queue.listing_changed()
        assert self._lister is not None
        await self._threads.call(self._lister.received, batch)

    def _url_of(self, entry: Entry) -> str:
        """Return the URL under which an entry is known; the same one however it is written."""
        return (
            self._context.rules.url_policy.without_rewriting.canonical(entry.access_url) or entry.access_url
        )

    def _queue(self, key: int, url: str, entry: Entry, record: UrlRecord | None) -> None:
        shown = "" if entry.display_url == url or not is_display_url(entry.display_url) else entry.display_url
        if record is not None and record.display_url != shown:
            if record.searchable:
                self._context.documents.writer.delete(key, record.shown_url)
            changed = replace(without_validators(record), display_url=shown, indexed=False, submitted=False)
            self._context.store.records.amend_record(key, changed)
        elif record is not None and says_other(self._context.store, key, entry):
            self._context.store.records.amend_record(key, replace(record, etag="", last_modified=""))
        self._context.queue.queue_listed(key, url, shown, known=record is not None)
        self._context.store.documents.retain_document(Retained.LISTED, key, pack_entry(entry))

    def _ask_failed(self) -> None:
        """Queue what could not be had before, with what was said of it: a listing of changes does not name it again."""
        store = self._context.store
        for outcome in FAILED:
            for record in list(store.records.all_records(outcome)):
                key = url_key(record.url)
                if store.visits.note_met((key,)):
                    self._context.queue.queue_listed(key, record.url, record.display_url, known=True)

    # ---- what leaves

    def _remove(self, gone: Iterable[UrlRecord]) -> None:
        leaving = [
            replace(without_validators(one), removal=_UNLISTED)
            for one in gone
            if one.searchable and not one.removal
        ]
        self._context.documents.remove(leaving)

    def cycle_ended(self) -> int:
        """Mark what a whole listing did not name as leaving; returns how many documents that are."""
        state, store = self._notes.state, self._context.store
        if not state.whole or state.changes_only or self._context.run.replay:
            return 0
        store.flush()
        unseen = store.visits.unseen_urls(1)
        records = store.records.get_records([one.key for one in unseen if one.has_document])
        self._remove(records.values())
        forgotten = [one.key for one in unseen if not one.has_document]
        if forgotten:
            store.drop_urls(forgotten)
            self._context.queue.forget_urls(forgotten)
        return len(records)

    # ---- the end

    def run_ending(self, *, complete: bool) -> None:
        """Note that the next listing begins from the token of this one, if all went well."""
        if complete and self._notes.state.whole and not self._context.run.failed:
            self._notes.note(done=True)

    async def stop(self) -> None:
        """End the listing where it is: what is durable stays."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=PATIENCE)
            self._context.run.listing = True  # it goes on with the next start

    async def close(self) -> None:
        """Tell the lister that what it listed is in the index, and let it release what it holds."""
        if self._lister is None:
            return
        try:
            async with asyncio.timeout(PATIENCE):
                if self._notes.state.done and not self._context.run.failed:
                    await self._threads.call(self._lister.confirm, self._notes.state.token)
                await self._threads.call(self._lister.close)
        except TimeoutError:
            self._context.run.note_problem("the lister did not come back; what it holds may be left over")
        except Exception as error:  # the edge to code of a kind
            self._context.run.note_problem(f"the lister cannot be closed: {type(error).__name__}: {error}")
        self._threads.close()


async def lister_credential(
    listing: SourceListing, host: str, realm: str, url: str
) -> tuple[str, str] | None:
    """Return user and password that a lister has for a server which asks for them; if it fails, so does the run."""
    if listing._lister is None:
        return None
    try:
        asked = listing._threads.call(listing._lister.credential_for, host, realm, url)
        found: tuple[str, str] | None = await asked
    except UltracrawlError as error:
        listing._context.run.fail(error)
        return None
    except Exception as error:  # the edge to code of a kind
        listing._context.run.fail(f"the lister has no password: {type(error).__name__}: {error}")
        return None
    return found
