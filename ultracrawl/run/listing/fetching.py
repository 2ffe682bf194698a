"""Answers visits of a listed source with the body from the listing, or by calling the fetcher."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Headers, Response

from ultracrawl.agents.entry_texts import merge_entries, unpack_entry
from ultracrawl.agents.port import Entry, Failure, Fetcher, Wanted
from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome
from ultracrawl.model.outcome import AS_ON_SERVER
from ultracrawl.rules.urls.canonical import split
from ultracrawl.rules.urls.shown import is_display_url
from ultracrawl.run.ending import Ending
from ultracrawl.run.hooks import Feature
from ultracrawl.run.listing.answers import StoredValidators, entry_headers, entry_of_today, entry_response
from ultracrawl.run.listing.call_threads import CallThreads, made_alone
from ultracrawl.run.results import FetchResult
from ultracrawl.run.transport.headers import values_in
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit

BATCH_WINDOW = 0.02
"""Seconds for which visits are collected for one call of a fetcher that takes several documents."""
FAILED = frozenset({UrlOutcome.HTTP_ERROR, UrlOutcome.NETWORK_ERROR, UrlOutcome.FAILED})
"""Outcomes after which a document is requested again in the next run."""
KEPT = FAILED | {UrlOutcome.DUPLICATE}
"""Outcomes after which the entry of the listing is kept.

The document is requested again although no listing names it, or takes the place of the one that it duplicates.
"""


class _PendingFetch(NamedTuple):
    wanted: Wanted
    answer: asyncio.Future[Entry | Failure]


class EntryFetching(Feature):
    """Makes the responses of visits. `make_fetcher` is called when the first document is fetched."""

    def __init__(
        self, context: CrawlContext, schemes: frozenset[str], make_fetcher: Callable[[], Fetcher]
    ) -> None:
        self._context = context
        self.validators = StoredValidators(context.source, context.rules.recipe)
        """Makes the validators that records of documents store."""
        self._schemes = schemes
        self._make = make_fetcher
        self._making: asyncio.Task[None] | None = None
        self._fetcher: Fetcher | None = None
        self._threads = CallThreads("fetcher")
        self._collected: list[_PendingFetch] = []
        self._calls: set[asyncio.Task[None]] = set()

    def visit_ended(self, visit: Visit) -> None:
        """Drop the stored entry of a document whose visit has ended.

        For documents of web servers it is kept: a 304 of the server says nothing about the metadata of the lister.
        """
        outcome = visit.outcome
        if outcome is None or outcome.transient or outcome in KEPT:
            return
        is_from_web = outcome in AS_ON_SERVER and split(visit.url).scheme not in self._schemes
        entry = self.listed(visit) if is_from_web else None
        if entry is None or entry.body is not None:
            self._context.store.documents.release_document(Retained.LISTED, visit.entry.key)

    def listed(self, visit: Visit) -> Entry | None:
        """Return the lister's entry for the document of a visit, if it has one."""
        data = self._context.store.documents.retained_document(Retained.LISTED, visit.entry.key)
        return None if data is None else entry_of_today(unpack_entry(data), self._context.source)

    async def answer(self, visit: Visit) -> Response | None:
        """Return the response of a visit; None if its URL is fetched like those of web sources.

        Sets the entry of the visit. Raises `IgnoreRequest` if the visit has ended.
        """
        entry = self.listed(visit)
        visit.note_listed(entry)
        if entry is not None and entry.display_url and not is_display_url(entry.display_url, self._schemes):
            return self._failed(visit, Failure(StatusCode.BAD_DISPLAY_URL, repr(entry.display_url)))
        if entry is None or entry.body is None:
            if split(visit.url).scheme not in self._schemes:
                return None
            if entry is not None and (refused := self._refused(visit, entry)):
                return refused
            fetched = await self._fetch(Wanted(visit.url, entry, self._max_bytes))
            if isinstance(fetched, Failure):
                return self._failed(visit, fetched)
            entry = fetched if entry is None else merge_entries(entry, fetched)
            visit.note_listed(entry)
        return self._response_within_limit(visit, entry)

    @property
    def _max_bytes(self) -> int:
        source = self._context.source
        limits = [size for size in (source.limits.max_size, source.cut_off) if size]
        return min(limits) + 1 if limits else 0

    def _refused(self, visit: Visit, entry: Entry) -> Response | None:
        """Return a response without a body for a document whose type is excluded, so that its body is not fetched."""
        headers = Headers(entry_headers(visit.url, entry, self.validators.of(entry)))
        refusal = self._context.rules.acceptance.refuses_head(values_in(headers), None)
        return None if refusal is None else entry_response(visit.url, entry, self.validators.of(entry))

    def _response_within_limit(self, visit: Visit, entry: Entry) -> Response:
        max_size = self._context.source.limits.max_size
        if max_size and len(entry.body or b"") > max_size:
            etag, size = self.validators.of(entry), len(entry.body or b"")
            visit.note_answer(FetchResult(status=200, size=size, etag=etag))
            ending = Ending(UrlOutcome.NOT_INDEXED, StatusCode.READ_ERROR, Cause(CauseCode.TOO_LARGE))
            self._context.endings.end_visit(visit, ending)
            raise IgnoreRequest(f"{visit.url} is too large")
        return entry_response(visit.url, entry, self.validators.of(entry))

    def _failed(self, visit: Visit, failure: Failure) -> Response:
        """Return a response with the HTTP status of a failure, or end the visit. Raises `IgnoreRequest`."""
        if failure.status < 600:
            visit.note_listed(None)
            return entry_response(visit.url, Entry(visit.url), "").replace(status=failure.status)
        unreached = failure.status == StatusCode.IO_ERROR
        outcome = UrlOutcome.NETWORK_ERROR if unreached else UrlOutcome.FAILED
        cause = Cause(CauseCode.STATED, failure.reason) if failure.reason else Cause(CauseCode.IO_ERROR)
        self._context.endings.end_visit(visit, Ending(outcome, failure.status, cause))
        raise IgnoreRequest(failure.reason)

    # ---- calls of the fetcher

    async def _fetch(self, wanted: Wanted) -> Entry | Failure:
        self._making = self._making or asyncio.ensure_future(self._make_fetcher())
        try:
            await asyncio.shield(self._making)  # a visit that is given up does not end it for the others
        except UserError as error:
            self._context.run.fail(error)
            return Failure(StatusCode.IO_ERROR, str(error))
        assert self._fetcher is not None
        loop = asyncio.get_running_loop()
        pending = _PendingFetch(wanted, loop.create_future())
        self._collected.append(pending)
        if len(self._collected) >= self._fetcher.batch_size:
            self._dispatch()
        elif len(self._collected) == 1:
            loop.call_later(BATCH_WINDOW, self._dispatch)
        return await pending.answer

    async def _make_fetcher(self) -> None:
        """Make the fetcher in a thread: what it imports and connects to would hold up all other visits."""
        self._fetcher = fetcher = await self._threads.call(made_alone, self._make)
        self._threads.close()
        self._threads = CallThreads("fetcher", fetcher.threads)

    def _dispatch(self) -> None:
        """Call the fetcher for the collected documents."""
        collected, self._collected = self._collected, []
        if collected:
            task = asyncio.ensure_future(self._call(collected))
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)

    async def _call(self, collected: Sequence[_PendingFetch]) -> None:
        assert self._fetcher is not None
        try:
            fetched = await self._threads.call(self._fetcher.fetch, [fetch.wanted for fetch in collected])
            answers: list[Entry | Failure | Exception] = list(fetched)
        except UserError as error:
            self._context.run.fail(error)
            answers = [Failure(StatusCode.IO_ERROR, str(error))] * len(collected)
        except WorkError as error:
            answers = [Failure(StatusCode.IO_ERROR, str(error))] * len(collected)
        except Exception as error:  # code of a plug-in may raise anything
            answers = [error] * len(collected)
        if len(answers) != len(collected):
            problem = f"the fetcher returned {len(answers)} documents instead of {len(collected)}"
            answers = [WorkError(problem)] * len(collected)
        for pending, answer in zip(collected, answers, strict=True):
            if pending.answer.done():
                continue
            if isinstance(answer, Exception):
                pending.answer.set_exception(answer)
            else:
                pending.answer.set_result(answer)

    async def closed(self) -> None:
        """Close the fetcher and its threads."""
        if self._fetcher is not None:
            await self._threads.call(self._fetcher.close)
            self._threads.close()
