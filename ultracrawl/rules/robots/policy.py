"""The meaning of responses for robots.txt (RFC 9309 section 2.3.1, FAST `robots_*`, Ultra Search 11)."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.robots.rules import RobotsRules

MAX_REDIRECTS = 5
"""Maximum number of redirects for robots.txt before it counts as missing (RFC 9309 section 2.3.1.2)."""

RETRY_INTERVAL = 60.0
"""Seconds after which a robots.txt that could not be fetched is requested again, unless `ttl` is shorter."""

MAX_DELAY = 86_400.0
"""Maximum crawl delay in seconds."""

_AUTHENTICATION = frozenset({401, 402, 403, 407})
TOO_MANY_REQUESTS = 429
_DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21}


@dataclass(frozen=True, slots=True)
class RobotsPolicy:
    """How strictly one source follows robots.txt; times are seconds.

    `ttl`: age at which rules are fetched again. `timeout`: time-out of a request for robots.txt.
    `auth_ignore`: 401, 402, 403 and 407 mean "no robots.txt" (else the site is not crawled).
    `timeout_ignore`: a site whose robots.txt timed out is crawled without rules. `obey_delay`: a crawl delay
    replaces the delay of the source.
    """

    obey: bool = True
    name: str = "ultracrawl"
    ttl: float = 86400.0
    timeout: float = 30.0
    auth_ignore: bool = True
    timeout_ignore: bool = False
    obey_delay: bool = False

    @property
    def needed(self) -> bool:
        """Whether robots.txt has to be known before a page is requested (sitemaps aside)."""
        return self.obey or self.obey_delay

    def judge_response(
        self, status: int | None, body: bytes = b"", *, error: str = "", timed_out: bool = False
    ) -> RobotsRules:
        """Return the rules that result from the final response for robots.txt, after redirects.

        `status` is None if there was no response: then `error` says why in a few words and `timed_out` whether
        it was a time-out. Rules with `unavailable` set hold for this run only. Without `obey`, everything is allowed,
        and only sitemaps and delays are used.
        """
        if status is not None and 200 <= status < 300:
            rules = RobotsRules.parse(body, name=self.name)
            return rules if self.obey else rules.ignored()
        if not self.obey:
            return self._allow_all("robots.txt is not obeyed for this source")
        return self._judge_failure(error, timed_out) if status is None else self._judge_status(status)

    def expired(self, fetched: float, now: float) -> bool:
        """Return whether rules fetched at `fetched` are too old at `now` (seconds of one clock)."""
        return now - fetched >= self.ttl

    def is_fresh(self, age: float, *, unavailable: bool) -> bool:
        """Return whether stored rules, or the failure to fetch them (`unavailable`), are still valid.

        `age` is in seconds.

        A negative age, from a clock that was wrong, is not.
        """
        return 0 <= age < (min(self.ttl, RETRY_INTERVAL) if unavailable else self.ttl)

    def delay(self, rules: RobotsRules, own: float) -> float:
        """Return the seconds between two requests: the site's crawl delay if obeyed and given, else `own`."""
        if not self.obey_delay:
            return own
        delay = rules.request_rate if rules.crawl_delay is None else rules.crawl_delay
        return own if delay is None else min(delay, MAX_DELAY)

    def _judge_failure(self, error: str, timed_out: bool) -> RobotsRules:
        if timed_out and self.timeout_ignore:
            return self._allow_all("robots.txt timed out, which this source ignores")
        what = error or "no answer"
        return self._deny_all("robots.txt timed out" if timed_out else f"robots.txt cannot be read: {what}")

    def _judge_status(self, status: int) -> RobotsRules:
        if status in _AUTHENTICATION and not self.auth_ignore:
            return self._deny_all(
                f"robots.txt returned status {status}, which this source treats as `Disallow: /`"
            )
        if 300 <= status < 500 and status != TOO_MANY_REQUESTS:
            return self._allow_all(f"the site has no robots.txt (status {status})")
        return self._deny_all(f"robots.txt returned status {status}")

    def _allow_all(self, reason: str) -> RobotsRules:
        return RobotsRules.allow_all(reason, name=self.name)

    def _deny_all(self, reason: str) -> RobotsRules:
        return RobotsRules.deny_all(reason, name=self.name)


def origin_of(url: str) -> str:
    """Return `scheme://host:port` of an absolute URL, the key of cached rules, or empty."""
    path = url.find("/", len("https://"))
    return _origin(url if path < 0 else url[:path])


@lru_cache(maxsize=1024)  # called several times per page
def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return ""
    host = parts.hostname
    if not host or port is None:
        return ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}"
