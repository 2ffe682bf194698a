"""What an answer for robots.txt means (RFC 9309 section 2.3.1, FAST `robots_*`, Ultra Search 11)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from ultracrawl.rules.robots.rules import RobotsRules

MAX_REDIRECTS = 5
"""Redirects to follow for robots.txt before it counts as missing (RFC 9309 section 2.3.1.2)."""

ASKED_AGAIN_AFTER = 60.0
"""Seconds after which a robots.txt that could not be had is asked for again, unless `ttl` is shorter."""

LONGEST_DELAY = 86_400.0
"""Seconds; a site that asks for more between two requests gets this."""

_AUTHENTICATION = frozenset({401, 402, 403, 407})
_TOO_MANY_REQUESTS = 429
_DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21}


@dataclass(frozen=True, slots=True)
class RobotsPolicy:
    """How strictly one source follows robots.txt; times are seconds.

    `ttl`: age at which rules are fetched again. `timeout`: when a request for robots.txt counts as timed out.
    `auth_ignore`: 401, 402, 403 and 407 mean "no robots.txt" (else the site is not crawled).
    `timeout_ignore`: a site whose robots.txt timed out is crawled without rules. `obey_delay`: a crawl delay
    replaces the source's own.
    """

    obey: bool = True
    name: str = "ultracrawl"
    ttl: float = 86400.0
    timeout: float = 300.0
    auth_ignore: bool = True
    timeout_ignore: bool = False
    obey_delay: bool = False

    @property
    def needed(self) -> bool:
        """Whether robots.txt has to be known before a page is asked for; sitemaps are another matter."""
        return self.obey or self.obey_delay

    def judge_response(
        self, status: int | None, body: bytes = b"", *, error: str = "", timed_out: bool = False
    ) -> RobotsRules:
        """Return the rules that follow from the answer for robots.txt, after redirects.

        `status` is None if there was no answer: then `error` says why in a few words and `timed_out` whether
        it was a time-out. Rules with `unavailable` set hold for this run only. Without `obey`, permission is
        given whatever the answer, and only sitemaps and delays are taken from it.
        """
        if status is not None and 200 <= status < 300:
            rules = RobotsRules.parse(body, name=self.name)
            return rules if self.obey else rules.ignored()
        if not self.obey:
            return self._free("robots.txt is not obeyed for this source")
        return self._judge_silence(error, timed_out) if status is None else self._judge_status(status)

    def expired(self, fetched: float, now: float) -> bool:
        """Return whether rules fetched at `fetched` are too old at `now` (seconds of one clock)."""
        return now - fetched >= self.ttl

    def is_young(self, rules: RobotsRules, age: float) -> bool:
        """Return whether stored rules, or the failure to get any, still hold; `age` is in seconds.

        An age below 0 is that of a clock that was wrong.
        """
        return 0 <= age < (min(self.ttl, ASKED_AGAIN_AFTER) if rules.unavailable else self.ttl)

    def delay(self, rules: RobotsRules, own: float) -> float:
        """Return the seconds between two requests: the site's crawl delay if obeyed and given, else `own`."""
        if not self.obey_delay:
            return own
        asked = rules.request_rate if rules.crawl_delay is None else rules.crawl_delay
        return own if asked is None else min(asked, LONGEST_DELAY)

    def _judge_silence(self, error: str, timed_out: bool) -> RobotsRules:
        if timed_out and self.timeout_ignore:
            return self._free("robots.txt timed out, which this source ignores")
        what = error or "no answer"
        return self._barred("robots.txt timed out" if timed_out else f"robots.txt cannot be read: {what}")

    def _judge_status(self, status: int) -> RobotsRules:
        if status in _AUTHENTICATION and not self.auth_ignore:
            return self._barred(f"robots.txt answers {status}, which this source takes as a refusal")
        if 300 <= status < 500 and status != _TOO_MANY_REQUESTS:
            return self._free(f"the site has no robots.txt (status {status})")
        return self._barred(f"robots.txt answers {status}")

    def _free(self, reason: str) -> RobotsRules:
        return RobotsRules.allow_all(reason, name=self.name)

    def _barred(self, reason: str) -> RobotsRules:
        return RobotsRules.deny_all(reason, name=self.name)


def origin_of(url: str) -> str:
    """Return `scheme://host:port` of an absolute URL, the key under which rules are kept, or empty."""
    path = url.find("/", len("https://"))
    return _origin(url if path < 0 else url[:path])


@lru_cache(maxsize=1024)  # each page asks several times
def _origin(start: str) -> str:
    """Return the origin of URLs that begin so; what follows behind a slash is no part of it."""
    try:
        parts = urlsplit(start)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return ""
    host = parts.hostname
    if not host or port is None:
        return ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}"
