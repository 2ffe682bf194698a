"""The robots.txt and tdmrep.json of every origin: fetched before its first page, and again after they expire."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.rules.robots.lines import PARSED_BYTES
from ultracrawl.rules.robots.policy import RETRY_INTERVAL, TOO_MANY_REQUESTS, origin_of
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.rules.robots.tdm import NOTHING_RESERVED, TDM_PATH, TdmRules
from ultracrawl.run.discovery.robots_answers import keep_answer, latest_answer
from ultracrawl.run.discovery.site_files import SiteFiles
from ultracrawl.run.results import NOTHING_RESERVED as NONE_STATED
from ultracrawl.run.results import SiteReservations

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.download_errors.kinds import Failure
    from ultracrawl.run.transport.outgoing import Send
    from ultracrawl.stores import StoredRobots


@dataclass(slots=True)
class _CachedRules:
    """The rules of an origin, and when they were fetched (monotonic seconds)."""

    rules: RobotsRules
    tdm: TdmRules
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

    tdmrep.json is fetched with robots.txt, if the source obeys reservations from text and data mining. One that cannot
    be fetched reserves nothing (TDMRep 6.2).
    """

    def __init__(self, context: CrawlContext, send: Send) -> None:
        """Initialise; `send` downloads requests that are not visits."""
        self._context = context
        self._policy = context.rules.robots
        self._reads_tdm = context.rules.permission.obeys_tdm
        self._is_needed = self._policy.needed or self._reads_tdm
        self._has_mirrors = bool(context.source.sites.aliases)
        self._files = SiteFiles(context, send)
        # Read now: a changed definition also sets `force` later, but needs no new response.
        self._ignores_stored = context.run.force
        self._began = context.clock()
        self._cached: dict[str, _CachedRules] = {}
        self._tasks: dict[str, asyncio.Task[RobotsRules]] = {}
        self._credential_free: dict[str, asyncio.Task[RobotsRules]] = {}
        self._looked_up: set[str] = set()

    @property
    def fetching(self) -> int:
        """The number of origins whose rules are being fetched."""
        return len(self._tasks)

    def ready(self, url: str) -> bool:
        """Return whether a request may be made now: the rules of its origin are known and not expired, or not used."""
        if not self._is_needed:
            return True
        cached = self._rules_of(url)
        if cached is None and not origin_of(url):
            return True  # URLs without a server have no robots.txt
        if cached is None or (cached.used and self._policy.expired(cached.fetched, time.monotonic())):
            return False
        cached.used = True
        return True

    def known(self, url: str) -> RobotsRules | None:
        """Return the rules for a URL if they were fetched, however long ago."""
        cached = self._rules_of(url)
        return cached.rules if cached else None

    def reserves(self, url: str) -> bool:
        """Return whether the tdmrep.json of its site reserves a URL; False if the source does not obey such files."""
        cached = self._rules_of(url) if self._reads_tdm else None
        return cached is not None and cached.tdm.reserves(url)

    def reservations(self, url: str) -> SiteReservations:
        """Return what robots.txt (Content-Signal) and tdmrep.json reserve of a URL, as far as they are obeyed."""
        cached = self._rules_of(url)
        if cached is None or not (cached.rules.content_signals or self._reads_tdm):
            return NONE_STATED
        stated = SiteReservations(
            cached.rules.content_signals, tdm=self._reads_tdm and cached.tdm.reserves(url)
        )
        return stated if any(stated) else NONE_STATED

    def _origin(self, url: str) -> str:
        """Return the origin that is asked for the pages of a URL: a mirror may stand in for its site."""
        return origin_of(self._context.queue.request_url(url) if self._has_mirrors else url)

    def _rules_of(self, url: str) -> _CachedRules | None:
        origin = self._origin(url)
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
        stored = self._stored_rules(origin)
        tdm = stored and self._stored_tdm(origin, stored[0])
        if not (stored and tdm):
            return False
        rules, age = stored
        self._cached[origin] = _CachedRules(rules, tdm, time.monotonic() - age)
        return True

    def _stored_rules(self, origin: str) -> tuple[RobotsRules, float] | None:
        """Return the stored rules of robots.txt and their age in seconds, None if they have to be fetched."""
        stored = self._stored(origin)
        if stored is None:
            return None
        rules = self._judge(stored)
        age = self._age(stored, unavailable=bool(rules.unavailable))
        return None if age is None else (rules, age)

    def _stored_tdm(self, origin: str, rules: RobotsRules) -> TdmRules | None:
        """Return the stored rules of tdmrep.json, none if it is not needed; None if they have to be fetched."""
        url = origin + TDM_PATH
        # A site that robots.txt closes now has no pages to judge, and the file is closed like any other.
        if not (self._reads_tdm and origin.startswith("http")) or rules.blocks(url):
            return NOTHING_RESERVED
        stored = self._stored(url)
        if stored is None or self._age(stored, unavailable=_has_failed(stored)) is None:
            return None
        return _tdm_rules(stored)

    def _stored(self, key: str) -> StoredRobots | None:
        context = self._context
        return None if self._ignores_stored else latest_answer(context.sites, context.rules, key)

    def _age(self, stored: StoredRobots, *, unavailable: bool) -> float | None:
        """Return the age of a stored response in seconds, None if it has to be fetched again."""
        if unavailable and stored.received < self._began:
            return None  # whoever starts a crawl may have repaired what was wrong in the one before
        now = self._context.clock()
        age = now - stored.received
        if self._policy.is_fresh(age, unavailable=unavailable):
            return age
        return 0.0 if 0 <= now - stored.failed < min(RETRY_INTERVAL, self._policy.ttl) else None

    def _judge(self, answer: StoredRobots) -> RobotsRules:
        return self._policy.judge_response(
            answer.status or None, answer.body, error=answer.error, timed_out=answer.timed_out
        )

    def network_error(self, url: str) -> Failure | None:
        """Return the network error or refused address of the latest request for the robots.txt of a URL, if any."""
        return self._files.network_errors.get(self._origin(url))

    def fetch(self, url: str, *, has_turn: bool = False) -> asyncio.Task[RobotsRules]:
        """Return the task that fetches the rules for a URL; a running one is reused.

        `has_turn`: the site has already spent a turn on it.
        """
        origin = self._origin(url)
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
        return self._judge(await self._files.fetch(f"{origin}/robots.txt", has_turn=False, anonymous=True))

    async def _renew(self, origin: str, *, has_turn: bool) -> RobotsRules:
        try:
            # Another crawl may have fetched them meanwhile.
            stored = self._stored_rules(origin)
            if stored is None:
                rules, age = await self._fetch_rules(origin, has_turn=has_turn), 0.0
                has_turn = False
            else:
                rules, age = stored
            tdm = self._stored_tdm(origin, rules) or await self._fetch_tdm(origin, has_turn=has_turn)
        finally:
            del self._tasks[origin]
        self._cached[origin] = _CachedRules(rules, tdm, time.monotonic() - age)
        return rules

    async def _fetch_rules(self, origin: str, *, has_turn: bool) -> RobotsRules:
        context = self._context
        answer = await self._fetch(f"{origin}/robots.txt", origin, has_turn=has_turn)
        rules, before = self._judge(answer), latest_answer(context.sites, context.rules, origin)
        if before is not None and rules.unavailable and not (kept := self._judge(before)).unavailable:
            rules, answer = kept, replace(before, failed=answer.received)
        keep_answer(context.sites, context.rules, answer)
        return rules

    async def _fetch_tdm(self, origin: str, *, has_turn: bool) -> TdmRules:
        context, url = self._context, origin + TDM_PATH
        answer = await self._fetch(url, url, has_turn=has_turn)
        before = latest_answer(context.sites, context.rules, url)
        if before is not None and _has_failed(answer) and not _has_failed(before):
            answer = replace(before, failed=answer.received)
        keep_answer(context.sites, context.rules, answer)
        return _tdm_rules(answer)

    async def _fetch(self, url: str, key: str, *, has_turn: bool) -> StoredRobots:
        answer = await self._files.fetch(url, has_turn=has_turn)
        body = answer.body[: PARSED_BYTES + 1]
        return replace(answer, origin=key, received=self._context.clock(), body=body)


def _has_failed(answer: StoredRobots) -> bool:
    """Return whether a file could not be had for now; a client error means that there is none."""
    return not answer.status or answer.status == TOO_MANY_REQUESTS or answer.status >= 500


def _tdm_rules(answer: StoredRobots) -> TdmRules:
    return TdmRules.parse(answer.body) if 200 <= answer.status < 300 else NOTHING_RESERVED
