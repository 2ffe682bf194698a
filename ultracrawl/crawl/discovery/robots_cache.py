"""The robots.txt of every origin that a crawl meets: fetched before its first page, and again when it is too old."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError

from ultracrawl.crawl.discovery.robots_answers import keep_answer, latest_answer
from ultracrawl.crawl.download_errors.kinds import Failure, failure_of
from ultracrawl.crawl.transport.headers import header_of
from ultracrawl.crawl.transport.outgoing import BARE
from ultracrawl.crawl.visit import PATIENCE
from ultracrawl.model import UrlOutcome
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.frontier.politeness.retry_after import RETRY_AFTER_STATUS, retry_after
from ultracrawl.rules.robots.lines import PARSED_BYTES
from ultracrawl.rules.robots.policy import ASKED_AGAIN_AFTER, MAX_REDIRECTS, origin_of
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.rules.urls.canonical import UrlPolicy, site_of
from ultracrawl.stores import StoredRobots

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.transport.outgoing import Send

_FORM = UrlPolicy()


@dataclass(slots=True)
class _Copy:
    """The rules of one origin, and when they came (monotonic seconds)."""

    rules: RobotsRules
    fetched: float
    used: bool = False
    """Whether they have allowed a request; a copy serves at least one, however soon it expires."""


class RobotsCache:
    """Knows the rules of each origin; one task an origin fetches them, and whoever needs them awaits that task.

    Requests for robots.txt keep the delay of the site that they go to. Where a copy stands in for a site, its
    robots.txt counts. Rules that are fetched again and cannot be had stay as they were (RFC 9309 2.4). A server
    that is busy and says until when (`Retry-After`) is left alone so long, and then asked again.
    Answers lie in the store of the project, so that neither another run nor the crawl of another source asks before
    their time; what follows from them is concluded anew, by the definition of the day.
    """

    def __init__(self, context: CrawlContext, send: Send) -> None:
        """`send` sends a request on the way of all requests that are no visits."""
        self._context = context
        self._policy = context.rules.robots
        self._send = send
        # As the run was asked for: a changed definition, which forces as well later, needs no other answer.
        self._asks_anew = context.run.force
        self._copies: dict[str, _Copy] = {}
        self._tasks: dict[str, asyncio.Task[RobotsRules]] = {}
        self._bare: dict[str, asyncio.Task[RobotsRules]] = {}
        self._silent: dict[str, Failure] = {}
        self._looked_up: set[str] = set()

    @property
    def fetching(self) -> int:
        """The number of origins whose rules are on their way."""
        return len(self._tasks)

    def ready(self, url: str) -> bool:
        """Whether a request may go out now: the rules of its origin are known and young enough, or not needed."""
        policy = self._policy
        if not policy.needed:
            return True
        copy = self._copy(url)
        if copy is None and not origin_of(url):
            return True  # no server has it, so no robots.txt speaks of it
        if copy is None or (copy.used and policy.expired(copy.fetched, time.monotonic())):
            return False
        copy.used = True
        return True

    def known(self, url: str) -> RobotsRules | None:
        """Return the rules for a URL if they were fetched, however long ago."""
        copy = self._copy(url)
        return copy.rules if copy else None

    def _copy(self, url: str) -> _Copy | None:
        origin = origin_of(self._context.queue.asked_url(url))
        copy = self._copies.get(origin)
        if copy is not None or origin in self._looked_up:
            return copy
        self._looked_up.add(origin)
        if not self._recall(origin):
            return None
        self._context.queue.rules_recalled(url, self._copies[origin].rules)
        return self._copy(url)  # by these rules another host may stand in for the site

    def _recall(self, origin: str) -> bool:
        """Load the rules of an origin from the store, if they are young enough."""
        context = self._context
        stored = None if self._asks_anew else latest_answer(context.sites, context.rules, origin)
        if stored is None:
            return False
        rules, now = self._judge(stored), context.clock()
        policy, age = self._policy, now - stored.asked
        if not policy.is_young(rules, age):
            if not 0 <= now - stored.failed < min(ASKED_AGAIN_AFTER, policy.ttl):
                return False
            age = 0.0
        self._copies[origin] = _Copy(rules, time.monotonic() - age)
        return True

    def _judge(self, answer: StoredRobots) -> RobotsRules:
        return self._policy.judge_response(
            answer.status or None, answer.body, error=answer.error, timed_out=answer.timed_out
        )

    def silence(self, url: str) -> Failure | None:
        """Return the network error with which the server of a URL met the latest request for its rules, if it did."""
        return self._silent.get(origin_of(self._context.queue.asked_url(url)))

    def fetch(self, url: str, *, has_turn: bool = False) -> asyncio.Task[RobotsRules]:
        """Return the task that fetches the rules for a URL, the one that runs already if there is one.

        `has_turn`: a turn of its site was spent on it.
        """
        origin = origin_of(self._context.queue.asked_url(url))
        task = self._tasks.get(origin)
        if task is None:
            task = self._tasks[origin] = asyncio.ensure_future(self._renew(origin, has_turn=has_turn))
        return task

    def fetch_bare(self, url: str) -> asyncio.Task[RobotsRules]:
        """Return the task that fetches the rules for a URL that a script of a page asked for.

        The request carries no credentials, so the answer is used for nothing else and not stored.
        """
        origin = origin_of(url)
        if origin not in self._bare:
            self._bare[origin] = asyncio.ensure_future(self._fetch_bare(origin))
        return self._bare[origin]

    async def _fetch_bare(self, origin: str) -> RobotsRules:
        return self._judge(await self._ask(f"{origin}/robots.txt", has_turn=False, bare=True))

    async def _renew(self, origin: str, *, has_turn: bool) -> RobotsRules:
        context = self._context
        try:
            if self._recall(origin):  # the crawl of another source was here meanwhile
                return self._copies[origin].rules
            answer = await self._ask(f"{origin}/robots.txt", has_turn=has_turn)
        finally:
            del self._tasks[origin]
        answer = replace(answer, origin=origin, asked=context.clock(), body=answer.body[: PARSED_BYTES + 1])
        rules, before = self._judge(answer), latest_answer(context.sites, context.rules, origin)
        if before is not None and rules.unavailable and not (kept := self._judge(before)).unavailable:
            rules, answer = kept, replace(before, failed=answer.asked)
        keep_answer(context.sites, context.rules, answer)
        self._copies[origin] = _Copy(rules, time.monotonic())
        return rules

    async def _ask(self, url: str, *, has_turn: bool, bare: bool = False) -> StoredRobots:
        """Return the answer, asked for again after the time that the server wanted to be left alone (`Retry-After`)."""
        for left in reversed(range(self._context.source.limits.retries + 1)):
            answer, wish = await self._fetch(url, has_turn=has_turn, bare=bare)
            if not (left and wish):
                break
            await self._turn(url)
            has_turn = True
        return answer

    async def _fetch(self, url: str, *, has_turn: bool, bare: bool) -> tuple[StoredRobots, float]:
        """Return the answer after redirects, and for how many seconds the server wants to be left alone."""
        origin = origin_of(url)
        self._silent.pop(origin, None)
        for _ in range(MAX_REDIRECTS + 1):
            if not has_turn:
                await self._turn(url)
            has_turn = False
            try:
                response = await self._download(url, bare=bare)
            except Exception as failure:  # whatever the download handler raises, the origin is judged by it
                timed_out, known = isinstance(failure, DownloadTimeoutError), failure_of(failure)
                if known.outcome is UrlOutcome.NETWORK_ERROR and origin_of(url) == origin:
                    self._silent[origin] = known
                return StoredRobots(url, error=str(known.cause), timed_out=timed_out), 0.0
            location = response.headers.get("Location")
            if response.status not in REDIRECTS or not location:
                answer = StoredRobots(url, status=response.status, body=response.body)
                return answer, self._heed(url, response)
            target = _target(url, location)
            if not target:
                break
            url = target
        # RFC 9309 2.3.1.2: after that many redirects robots.txt counts as missing.
        return StoredRobots(url, status=404), 0.0

    def _heed(self, url: str, response: Response) -> float:
        """Hold the site for as long as the answer asks for (`Retry-After`); returns the seconds."""
        if response.status not in RETRY_AFTER_STATUS:
            return 0.0
        longest = self._context.rules.pace.longest_retry_after
        seconds = retry_after(header_of(response, "Retry-After"), self._context.clock(), longest)
        if seconds:
            self._context.queue.hold_site(_site(url), seconds)
        return seconds

    async def _turn(self, url: str) -> None:
        await self._context.queue.take_turn(_site(url))

    async def _download(self, url: str, *, bare: bool) -> Response:
        timeout = self._policy.timeout
        meta = {
            "download_slot": "robots.txt",
            "download_timeout": timeout,
            **({BARE: True} if bare else {}),
        }
        request = Request(url, headers=dict(self._context.rules.headers), dont_filter=True, meta=meta)
        async with asyncio.timeout(PATIENCE * timeout):  # code of others may hold it for ever
            return await self._send(request)


def _site(url: str) -> str:
    return site_of(_FORM.canonical(url) or url)


def _target(url: str, location: bytes) -> str:
    """Return where a redirect leads, in the form that addresses and secrets are judged by; empty for no web address."""
    return _FORM.canonical(location.decode("utf-8", "replace"), url) or ""
