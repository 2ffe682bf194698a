"""Answers visits of a source that is listed: by the body that came with the listing, or by asking the fetcher."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Headers

from ultracrawl.agents.entry_texts import completed, unpack_entry
from ultracrawl.agents.port import Entry, Failure, Fetcher, Wanted
from ultracrawl.crawl.ending import Ending
from ultracrawl.crawl.hooks import Feature
from ultracrawl.crawl.listing.answers import entry_headers, entry_response, is_display_url
from ultracrawl.crawl.listing.call_threads import CallThreads
from ultracrawl.crawl.results import FetchResult
from ultracrawl.crawl.transport.headers import values_in
from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome
from ultracrawl.rules.urls.canonical import split
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.http import Response

    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import Visit

GATHERING = 0.02
"""Seconds in which visits gather for one call of a fetcher that takes several documents."""
FAILED = frozenset({UrlOutcome.HTTP_ERROR, UrlOutcome.NETWORK_ERROR, UrlOutcome.FAILED})
"""Ends of documents that are asked for again in the next run."""
_KEPT = FAILED | {UrlOutcome.DUPLICATE}
"""Ends after which what was listed is kept, as who may see the document: it is asked for again although no listing
names it, or takes the place of the one that it repeats."""
_READ = frozenset({UrlOutcome.NEW, UrlOutcome.MODIFIED, UrlOutcome.UNMODIFIED, UrlOutcome.NOT_MODIFIED})
"""Ends of documents that are in the index as the server has them."""


class _Asked(NamedTuple):
    wanted: Wanted
    answer: asyncio.Future[Entry | Failure]


class EntryFetching(Feature):
    """Gives visits their answers. `make_fetcher` is called when the first document is fetched."""

    def __init__(
        self, context: CrawlContext, schemes: frozenset[str], make_fetcher: Callable[[], Fetcher]
    ) -> None:
        self._context = context
        self._schemes = schemes
        self._make = make_fetcher
        self._fetcher: Fetcher | None = None
        self._threads = CallThreads("fetcher")
        self._gathered: list[_Asked] = []
        self._calls: set[asyncio.Task[None]] = set()

    def visit_ended(self, visit: Visit) -> None:
        """Forget what was listed of a document whose visit is over.

        Of one that a web server has it is kept: a server by which nothing changed does not know what a lister says.
        """
        outcome = visit.outcome
        if outcome is None or outcome.transient or outcome in _KEPT:
            return
        of_the_web = outcome in _READ and split(visit.url).scheme not in self._schemes
        entry = self.listed(visit) if of_the_web else None
        if entry is None or entry.body is not None:
            self._context.store.documents.release_document(Retained.LISTED, visit.entry.key)

    def listed(self, visit: Visit) -> Entry | None:
        """Return what the lister said of the document of a visit; None if it was not asked."""
        data = self._context.store.documents.retained_document(Retained.LISTED, visit.entry.key)
        return None if data is None else unpack_entry(data)

    async def answer(self, visit: Visit, entry: Entry | None) -> Response | None:
        """Return the answer to a visit; None if its URL is fetched as those of web sources are.

        Raises `IgnoreRequest` if the visit has ended.
        """
        if entry is not None and entry.display_url and not is_display_url(entry.display_url):
            return self._failed(visit, Failure(StatusCode.BAD_DISPLAY_URL, repr(entry.display_url)))
        if entry is None or entry.body is None:
            if split(visit.url).scheme not in self._schemes:
                return None
            if entry is not None and (refused := self._refused(visit, entry)):
                return refused
            found = await self._fetch(Wanted(visit.url, entry, self._most_bytes))
            if isinstance(found, Failure):
                return self._failed(visit, found)
            entry = found if entry is None else completed(entry, found)
        return self._checked(visit, entry)

    @property
    def _most_bytes(self) -> int:
        source = self._context.source
        limits = [size for size in (source.limits.max_size, source.cut_off) if size]
        return min(limits) + 1 if limits else 0

    def _refused(self, visit: Visit, entry: Entry) -> Response | None:
        """Return an answer without a body for a document whose type is not read: nobody needs its body."""
        headers = Headers(entry_headers(visit.url, entry))
        refusal = self._context.rules.acceptance.refuses_head(values_in(headers), None)
        return None if refusal is None else entry_response(visit.url, entry)

    def _checked(self, visit: Visit, entry: Entry) -> Response:
        most = self._context.source.limits.max_size
        if most and len(entry.body or b"") > most:
            visit.note_answer(FetchResult(status=200, size=len(entry.body or b""), etag=entry.validators))
            ending = Ending(UrlOutcome.NOT_INDEXED, StatusCode.READ_ERROR, Cause(CauseCode.TOO_LARGE))
            self._context.endings.end_visit(visit, ending)
            raise IgnoreRequest(f"{visit.url} is too large")
        return entry_response(visit.url, entry)

    def _failed(self, visit: Visit, failure: Failure) -> Response:
        """Return the answer that says what a web server would say, or end the visit. Raises `IgnoreRequest`."""
        if failure.status < 600:
            return entry_response(visit.url, Entry(visit.url)).replace(status=failure.status)
        unreached = failure.status == StatusCode.IO_ERROR
        outcome = UrlOutcome.NETWORK_ERROR if unreached else UrlOutcome.FAILED
        cause = Cause(CauseCode.STATED, failure.reason) if failure.reason else Cause(CauseCode.IO_ERROR)
        self._context.endings.end_visit(visit, Ending(outcome, failure.status, cause))
        raise IgnoreRequest(failure.reason)

    # ---- calls of the fetcher

    async def _fetch(self, wanted: Wanted) -> Entry | Failure:
        if self._fetcher is None:
            try:
                self._fetcher = self._make()
            except UserError as error:
                self._context.run.fail(error)
                return Failure(StatusCode.IO_ERROR, str(error))
            self._threads = CallThreads("fetcher", self._fetcher.threads)
        loop = asyncio.get_running_loop()
        asked = _Asked(wanted, loop.create_future())
        self._gathered.append(asked)
        if len(self._gathered) >= self._fetcher.batch_size:
            self._dispatch()
        elif len(self._gathered) == 1:
            loop.call_later(GATHERING, self._dispatch)
        return await asked.answer

    def _dispatch(self) -> None:
        """Call the fetcher for what was gathered."""
        gathered, self._gathered = self._gathered, []
        if gathered:
            task = asyncio.ensure_future(self._call(gathered))
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)

    async def _call(self, gathered: Sequence[_Asked]) -> None:
        assert self._fetcher is not None
        try:
            found = await self._threads.call(self._fetcher.fetch, [one.wanted for one in gathered])
            answers: list[Entry | Failure | Exception] = list(found)
        except UserError as error:
            self._context.run.fail(error)
            answers = [Failure(StatusCode.IO_ERROR, str(error))] * len(gathered)
        except WorkError as error:
            answers = [Failure(StatusCode.IO_ERROR, str(error))] * len(gathered)
        except Exception as error:  # the edge to code of a kind
            answers = [error] * len(gathered)
        if len(answers) != len(gathered):
            told = f"the fetcher returned {len(answers)} documents, and was asked for {len(gathered)}"
            answers = [WorkError(told)] * len(gathered)
        for asked, answer in zip(gathered, answers, strict=True):
            if asked.answer.done():
                continue
            if isinstance(answer, Exception):
                asked.answer.set_exception(answer)
            else:
                asked.answer.set_result(answer)

    async def close(self) -> None:
        """Let the fetcher release what it holds."""
        if self._fetcher is not None:
            await self._threads.call(self._fetcher.close)
            self._threads.close()
