"""Fetches a few pages of a site as its crawl would: after robots.txt, one at a time, and within limits."""

from __future__ import annotations

import time
from collections.abc import Callable

from ultracrawl.dataclass import dataclass
from ultracrawl.model import Cause, CauseCode
from ultracrawl.rules.robots.policy import MAX_REDIRECTS, RobotsPolicy, origin_of
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.service.probing.client import ProbeClient, ProbeResponse, follow


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a look at a site: the number of requests, and the seconds that they and the delays take together."""

    requests: int = 30
    seconds: float = 45.0


class Visitor:
    """Requests pages that robots.txt allows, at most `limits`, with `delay` seconds between two requests to a site.

    A longer delay in robots.txt replaces `delay`. `sleep` waits, `clock` returns seconds.
    """

    def __init__(
        self,
        client: ProbeClient,
        policy: RobotsPolicy,
        delay: float,
        limits: Limits = Limits(),
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._policy = policy
        self._delay = delay
        self._requests_left = limits.requests
        self._clock, self._sleep = clock, sleep
        self._seconds_left = limits.seconds
        self._next: dict[str, float] = {}
        self._rules: dict[str, RobotsRules] = {}
        self._silences: dict[str, CauseCode] = {}
        """Why a robots.txt could not be read, by origin; `NONE` if the server answered."""
        self.is_exhausted = False
        """Whether a request was not sent because of the limits."""

    def fetch(self, url: str) -> ProbeResponse:
        """Return the response for a URL, without following redirects; its `cause` says why there is none."""
        rules = self.rules_for(url)
        decision = rules.allowed(url)
        if decision.accept:
            return self._request(url)
        if rules.unavailable:
            silence = self._silences.get(origin_of(url), "")
            return ProbeResponse(url, cause=Cause(CauseCode.ROBOTS_UNKNOWN, decision.reason, silence))
        return ProbeResponse(url, cause=Cause(CauseCode.ROBOTS, decision.rule, decision.reason))

    def rules_for(self, url: str) -> RobotsRules:
        """Return the rules of the robots.txt for a URL; each is requested once."""
        origin = origin_of(url)
        if origin not in self._rules:
            last = self._read_robots(f"{url.partition('://')[0]}://{site_of(url)}/robots.txt")
            self._rules[origin] = self._policy.judge_response(
                last.status or None,
                last.body,
                error=str(last.cause),
                timed_out=last.cause.code is CauseCode.TIMEOUT,
            )
            self._silences[origin] = last.cause.code
        return self._rules[origin]

    def forbids(self, url: str) -> bool:
        """Return whether a robots.txt that was read forbids a URL; sends no request."""
        rules = self._rules.get(origin_of(url))
        return rules is not None and rules.blocks(url)

    def _read_robots(self, url: str) -> ProbeResponse:
        return follow(url, self._request, MAX_REDIRECTS)[-1]

    def _request(self, url: str) -> ProbeResponse:
        site, begin = site_of(url), self._clock()
        wait = max(self._next.get(site, 0.0) - begin, 0.0)
        if not self._requests_left or wait > self._seconds_left:
            self.is_exhausted = True
            return ProbeResponse(url, cause=Cause(CauseCode.STATED, "no more requests are sent"))
        self._sleep(wait)
        response = self._client.request_url(url, "GET")
        self._requests_left -= 1
        self._seconds_left -= self._clock() - begin
        self._next[site] = self._clock() + self._delay_of(url)
        return response

    def _delay_of(self, url: str) -> float:
        rules = self._rules.get(origin_of(url))
        return self._delay if rules is None else max(self._delay, self._policy.delay(rules, self._delay))
