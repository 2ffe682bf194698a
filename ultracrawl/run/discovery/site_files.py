"""Requests for the files that describe a site, robots.txt and tdmrep.json: polite, with redirects and retries."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError

from ultracrawl.model import UrlOutcome
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.frontier.politeness.retry_after import RETRY_AFTER_STATUS, retry_after
from ultracrawl.rules.robots.policy import MAX_REDIRECTS, origin_of
from ultracrawl.rules.urls.canonical import UrlPolicy, site_of
from ultracrawl.run.download_errors.kinds import Failure, failure_of
from ultracrawl.run.transport.headers import header_of, url_in_header
from ultracrawl.run.transport.outgoing import ANONYMOUS, Send
from ultracrawl.run.visit import STEP_TIMEOUT_FACTOR
from ultracrawl.stores import StoredRobots

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.run.context import CrawlContext

_FORM = UrlPolicy()
_NO_ANSWER = frozenset({UrlOutcome.NETWORK_ERROR, UrlOutcome.REJECTED})
"""Outcomes that a page of the same server would have as well; it is REJECTED if its address is refused."""


class SiteFiles:
    """Fetches files that are no pages, with the politeness delay of their site and the time-out of robots.txt."""

    def __init__(self, context: CrawlContext, send: Send) -> None:
        """Initialise; `send` downloads requests that are not visits."""
        self._context = context
        self._send = send
        self.network_errors: dict[str, Failure] = {}
        """By origin, the network error or refused address of the latest request that was not redirected elsewhere."""

    async def fetch(self, url: str, *, has_turn: bool, anonymous: bool = False) -> StoredRobots:
        """Return the response, after retries for as long as the server sends `Retry-After`.

        `has_turn`: the site has already spent a turn on it. `anonymous`: without credentials.
        """
        for retries_left in reversed(range(self._context.source_at(url).limits.retries + 1)):
            answer, retry_after_seconds = await self._fetch(url, has_turn=has_turn, anonymous=anonymous)
            if not (retries_left and retry_after_seconds):
                break
            await self._take_turn(url)
            has_turn = True
        return answer

    async def _fetch(self, url: str, *, has_turn: bool, anonymous: bool) -> tuple[StoredRobots, float]:
        """Return the response after redirects, and the seconds of its `Retry-After` (0 for none)."""
        origin = origin_of(url)
        self.network_errors.pop(origin, None)
        for _ in range(MAX_REDIRECTS + 1):
            if not has_turn:
                await self._take_turn(url)
            has_turn = False
            try:
                response = await self._download(url, anonymous=anonymous)
            except (
                Exception
            ) as failure:  # any error of the download handler counts as a failure of the origin
                timed_out, known = isinstance(failure, DownloadTimeoutError), failure_of(failure)
                if known.outcome in _NO_ANSWER and origin_of(url) == origin:
                    self.network_errors[origin] = known
                return StoredRobots(url, error=str(known.cause), timed_out=timed_out), 0.0
            location = url_in_header(response, "Location")
            if response.status not in REDIRECTS or not location:
                answer = StoredRobots(url, status=response.status, body=response.body)
                return answer, self._hold_site(url, response)
            target = _FORM.canonical(location, url)
            if not target:
                break
            url = target
        # RFC 9309 2.3.1.2: after that many redirects the file counts as missing.
        return StoredRobots(url, status=404), 0.0

    def _hold_site(self, url: str, response: Response) -> float:
        """Hold the site for the time of its `Retry-After` header; returns the seconds."""
        if response.status not in RETRY_AFTER_STATUS:
            return 0.0
        longest = self._context.rules.pace.at(_site(url)).longest_retry_after
        seconds = retry_after(header_of(response, "Retry-After"), self._context.clock(), longest)
        if seconds:
            self._context.queue.hold_site(_site(url), seconds)
        return seconds

    async def _take_turn(self, url: str) -> None:
        await self._context.queue.wait_for_turn(_site(url))

    async def _download(self, url: str, *, anonymous: bool) -> Response:
        timeout = self._context.rules.robots.timeout
        meta = {
            "download_slot": "robots.txt",
            "download_timeout": timeout,
            **({ANONYMOUS: True} if anonymous else {}),
        }
        request = Request(url, headers=dict(self._context.rules.headers), dont_filter=True, meta=meta)
        async with asyncio.timeout(STEP_TIMEOUT_FACTOR * timeout):  # user code may never finish
            return await self._send(request)


def _site(url: str) -> str:
    return site_of(_FORM.canonical(url) or url)
