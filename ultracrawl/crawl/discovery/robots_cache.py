"""The robots.txt rules of every origin of a crawl: fetched before its first page, and again after they expire."""

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
from ultracrawl.crawl.transport.outgoing import ANONYMOUS
from ultracrawl.crawl.visit import STEP_TIMEOUT_FACTOR
from ultracrawl.model import UrlOutcome
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.frontier.politeness.retry_after import RETRY_AFTER_STATUS, retry_after
from ultracrawl.rules.robots.lines import PARSED_BYTES
from ultracrawl.rules.robots.policy import MAX_REDIRECTS, RETRY_INTERVAL, origin_of
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.rules.urls.canonical import UrlPolicy, site_of
from ultracrawl.stores import StoredRobots

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.transport.outgoing import Send

_FORM = UrlPolicy()


@dataclass(slots=True)
class _CachedRules:
    """The rules of an origin, and when they were fetched (monotonic seconds)."""

    rules: RobotsRules
    fetched: float
    used: bool = False
    """Whether they were used for a request; fetched rules serve at least one, however soon they expire."""


class RobotsCache:
    """Caches the rules of each origin; one task per origin fetches them, and everyone who needs them awaits that task.

    Requests for robots.txt observe the politeness delay of their site. Where a mirror stands in for a site, the
    robots.txt of the mirror counts. If rules cannot be fetched again, the previous ones stay in force (RFC 9309 2.4). A
    failure of an earlier crawl is tried again at once. A busy server with a `Retry-After` header is asked again after
    that time. Responses are stored with the project, so that no other run or source requests them before they expire;
    the rules are derived again each time, by the current definition.
    """

    def __init__(self, context: CrawlContext, send: Send) -> None:
        """Initialise; `send` downloads requests that are not visits."""
        self._context = context
        self._policy = context.rules.robots
        self._send = send
        # Read now: a changed definition also sets `force` later, but needs no new response.
        self._ignores_stored = context.run.force
        self._began = context.clock()
        self._cached: dict[str, _CachedRules] = {}
        self._tasks: dict[str, asyncio.Task[RobotsRules]] = {}
        self._credential_free: dict[str, asyncio.Task[RobotsRules]] = {}
        self._network_errors: dict[str, Failure] = {}
        self._looked_up: set[str] = set()

    @property
    def fetching(self) -> int:
        """The number of origins whose rules are being fetched."""
        return len(self._tasks)

    def ready(self, url: str) -> bool:
        """Return whether a request may be made now: the rules of its origin are known and not expired, or not used."""
        policy = self._policy
        if not policy.needed:
            return True
        cached = self._rules_of(url)
        if cached is None and not origin_of(url):
            return True  # URLs without a server have no robots.txt
        if cached is None or (cached.used and policy.expired(cached.fetched, time.monotonic())):
            return False
        cached.used = True
        return True

    def known(self, url: str) -> RobotsRules | None:
        """Return the rules for a URL if they were fetched, however long ago."""
        cached = self._rules_of(url)
        return cached.rules if cached else None

    def _rules_of(self, url: str) -> _CachedRules | None:
        origin = origin_of(self._context.queue.request_url(url))
        cached = self._cached.get(origin)
        if cached is not None or origin in self._looked_up:
            return cached
        self._looked_up.add(origin)
        if not self._load_stored(origin):
            return None
        self._context.queue.restore_robots_rules(url, self._cached[origin].rules)
        return self._rules_of(url)  # these rules may have switched the site to a mirror

    def _load_stored(self, origin: str) -> bool:
        """Load the rules of an origin from the store, unless they have expired; returns whether it did."""
        context = self._context
        stored = None if self._ignores_stored else latest_answer(context.sites, context.rules, origin)
        if stored is None:
            return False
        rules, now = self._judge(stored), context.clock()
        if rules.unavailable and stored.asked < self._began:
            return False  # whoever starts a crawl may have repaired what was wrong in the one before
        policy, age = self._policy, now - stored.asked
        if not policy.is_fresh(rules, age):
            if not 0 <= now - stored.failed < min(RETRY_INTERVAL, policy.ttl):
                return False
            age = 0.0
        self._cached[origin] = _CachedRules(rules, time.monotonic() - age)
        return True

    def _judge(self, answer: StoredRobots) -> RobotsRules:
        return self._policy.judge_response(
            answer.status or None, answer.body, error=answer.error, timed_out=answer.timed_out
        )

    def network_error(self, url: str) -> Failure | None:
        """Return the network error of the latest request for the robots.txt of a URL, if it failed that way."""
        return self._network_errors.get(origin_of(self._context.queue.request_url(url)))

    def fetch(self, url: str, *, has_turn: bool = False) -> asyncio.Task[RobotsRules]:
        """Return the task that fetches the rules for a URL; a running one is reused.

        `has_turn`: the site has already spent a turn on it.
        """
        origin = origin_of(self._context.queue.request_url(url))
        task = self._tasks.get(origin)
        if task is None:
            task = self._tasks[origin] = asyncio.ensure_future(self._renew(origin, has_turn=has_turn))
        return task

    def fetch_without_credentials(self, url: str) -> asyncio.Task[RobotsRules]:
        """Return the task that fetches the rules for a URL requested by a script in a page.

        The request carries no credentials, so the response is used for nothing else and not stored.
        """
        origin = origin_of(url)
        if origin not in self._credential_free:
            self._credential_free[origin] = asyncio.ensure_future(self._fetch_uncached(origin))
        return self._credential_free[origin]

    def abandon_requests(self) -> None:
        """Stop waiting for responses, without judging their origins: the crawl ends."""
        for task in (*self._tasks.values(), *self._credential_free.values()):
            task.cancel()

    async def _fetch_uncached(self, origin: str) -> RobotsRules:
        return self._judge(
            await self._fetch_with_retries(f"{origin}/robots.txt", has_turn=False, anonymous=True)
        )

    async def _renew(self, origin: str, *, has_turn: bool) -> RobotsRules:
        context = self._context
        try:
            if self._load_stored(origin):  # another crawl has fetched them meanwhile
                return self._cached[origin].rules
            answer = await self._fetch_with_retries(f"{origin}/robots.txt", has_turn=has_turn)
        finally:
            del self._tasks[origin]
        answer = replace(answer, origin=origin, asked=context.clock(), body=answer.body[: PARSED_BYTES + 1])
        rules, before = self._judge(answer), latest_answer(context.sites, context.rules, origin)
        if before is not None and rules.unavailable and not (kept := self._judge(before)).unavailable:
            rules, answer = kept, replace(before, failed=answer.asked)
        keep_answer(context.sites, context.rules, answer)
        self._cached[origin] = _CachedRules(rules, time.monotonic())
        return rules

    async def _fetch_with_retries(self, url: str, *, has_turn: bool, anonymous: bool = False) -> StoredRobots:
        """Return the response, after retries for as long as the server sends `Retry-After`."""
        for retries_left in reversed(range(self._context.source.limits.retries + 1)):
            answer, retry_after_seconds = await self._fetch(url, has_turn=has_turn, anonymous=anonymous)
            if not (retries_left and retry_after_seconds):
                break
            await self._take_turn(url)
            has_turn = True
        return answer

    async def _fetch(self, url: str, *, has_turn: bool, anonymous: bool) -> tuple[StoredRobots, float]:
        """Return the response after redirects, and the seconds of its `Retry-After` (0 for none)."""
        origin = origin_of(url)
        self._network_errors.pop(origin, None)
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
                if known.outcome is UrlOutcome.NETWORK_ERROR and origin_of(url) == origin:
                    self._network_errors[origin] = known
                return StoredRobots(url, error=str(known.cause), timed_out=timed_out), 0.0
            location = response.headers.get("Location")
            if response.status not in REDIRECTS or not location:
                answer = StoredRobots(url, status=response.status, body=response.body)
                return answer, self._hold_site(url, response)
            target = _target(url, location)
            if not target:
                break
            url = target
        # RFC 9309 2.3.1.2: after that many redirects robots.txt counts as missing.
        return StoredRobots(url, status=404), 0.0

    def _hold_site(self, url: str, response: Response) -> float:
        """Hold the site for the time of its `Retry-After` header; returns the seconds."""
        if response.status not in RETRY_AFTER_STATUS:
            return 0.0
        longest = self._context.rules.pace.longest_retry_after
        seconds = retry_after(header_of(response, "Retry-After"), self._context.clock(), longest)
        if seconds:
            self._context.queue.hold_site(_site(url), seconds)
        return seconds

    async def _take_turn(self, url: str) -> None:
        await self._context.queue.wait_for_turn(_site(url))

    async def _download(self, url: str, *, anonymous: bool) -> Response:
        timeout = self._policy.timeout
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


def _target(url: str, location: bytes) -> str:
    """Return the canonical target of a redirect, empty if it is no web address."""
    return _FORM.canonical(location.decode("utf-8", "replace"), url) or ""
