"""The rules of one robots.txt for one robot: grouping and normalisation here (RFC 9309), matching by Protego.

Protego gets only the rules of the groups that apply to the robot, under the agent `*`, normalised by `robots.paths`:
the longest match wins, Allow wins a tie.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite

from protego import Protego

from ultracrawl.dataclass import dataclass
from ultracrawl.model import Decision
from ultracrawl.rules.robots.lines import (
    RobotsLine,
    decode_robots,
    groups_for,
    read_extension_groups,
    read_groups,
    read_lines,
    robot_name,
)
from ultracrawl.rules.robots.paths import END, path_of, patterns_of

_ROBOTS = re.compile(r"/robots\.txt(?:\?.*)?", re.DOTALL)
_SITE = "http://any.invalid"
_RATE = re.compile(r"(\d{1,9})\s*/\s*(\d{1,9})\s*([smhd]?)(?:\s|$)", re.IGNORECASE)
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True, slots=True)
class RobotsRule:
    """An Allow or Disallow line that applies to the robot, with its line number."""

    allow: bool
    path: str
    line: int

    def __str__(self) -> str:
        return f"{'Allow' if self.allow else 'Disallow'}: {self.path}"


class RobotsRules:
    """The robots.txt of one site for one robot; create it by `parse`, `allow_all` or `deny_all`.

    `crawl_delay` and `request_rate` are seconds per request. `sitemaps` are URLs as written, each
    once. `content_signals` are the values of `Content-Signal` (`{"ai-train": "no"}`). `unavailable` says why
    nothing may be fetched although no rule forbids it, else it is empty.
    """

    __slots__ = (
        "_accept",
        "_end",
        "_forbidding",
        "_matcher",
        "_runs",
        "agent",
        "content_signals",
        "crawl_delay",
        "request_rate",
        "rules",
        "sitemaps",
        "unavailable",
    )

    def __init__(
        self, lines: Iterable[RobotsLine], *, name: str, unavailable: str = "", remark: str = ""
    ) -> None:
        self.agent = robot_name(name)
        self.unavailable = unavailable
        all_lines = tuple(lines)
        groups = groups_for(read_groups(all_lines), self.agent)
        self.rules = tuple(
            RobotsRule(line.directive == "allow", line.value, line.number)
            for group in groups
            for line in group.lines
            if line.value
        )
        patterns = [
            (pattern, rule) for rule in self.rules for pattern in patterns_of(rule.path, allow=rule.allow)
        ]
        self._end = END if any(pattern.endswith(END) for pattern, _ in patterns) else ""
        self._matcher = _protego(patterns)
        self._forbidding = sorted(
            (entry for entry in patterns if not entry[1].allow), key=lambda entry: -len(entry[0])
        )
        self._runs: dict[tuple[int, int], Protego] = {}
        extension_groups = groups_for(read_extension_groups(all_lines), self.agent)
        extensions = [line for group in extension_groups for line in group.lines]
        self.crawl_delay = _last(map(_seconds, _values(extensions, "crawl-delay")))
        self.request_rate = _last(map(_rate, _values(extensions, "request-rate")))
        self.sitemaps = tuple(
            dict.fromkeys(line.value for line in all_lines if line.directive == "sitemap" and line.value)
        )
        self.content_signals: Mapping[str, str] = dict(_signals(_values(extensions, "content-signal")))
        self._accept = Decision(True, "robots", "robots.txt", remark or "no rule of robots.txt forbids it")

    @classmethod
    def parse(cls, body: bytes | str, *, name: str = "ultracrawl") -> RobotsRules:
        """Parse a robots.txt for the robot `name`; never raises, invalid lines are skipped."""
        text = body if isinstance(body, str) else decode_robots(body)
        return cls(read_lines(text.removeprefix("\ufeff")), name=name)

    @classmethod
    def allow_all(cls, reason: str, *, name: str = "ultracrawl") -> RobotsRules:
        """Return rules that allow everything; `reason` says why (`the site has no robots.txt`)."""
        return cls((), name=name, remark=reason)

    @classmethod
    def deny_all(cls, reason: str, *, name: str = "ultracrawl") -> RobotsRules:
        """Return rules that forbid everything for now; `reason` says why (`robots.txt timed out`)."""
        return cls((), name=name, unavailable=reason)

    def ignored(self) -> RobotsRules:
        """Return the sitemaps and delays without rules and signals, for a source that does not obey robots.txt."""
        rules = RobotsRules.allow_all("robots.txt is not obeyed for this source", name=self.agent)
        rules.sitemaps = self.sitemaps
        rules.crawl_delay, rules.request_rate = self.crawl_delay, self.request_rate
        return rules

    def blocks(self, url: str) -> bool:
        """Return whether `url` must not be fetched; the fast form of `allowed`, some microseconds."""
        if self.unavailable:
            return True
        path = self._path(url)
        return bool(path) and not self._matcher.can_fetch(path, "*")

    def allowed(self, url: str) -> Decision:
        """Decide about `url`; a refusal names the deciding line (`Disallow: /private`)."""
        if not self.blocks(url):
            return self._accept
        if self.unavailable:
            return Decision(False, "robots", "robots.txt unavailable", self.unavailable)
        rule = self._blocking_rule(self._path(url))
        return Decision(
            False, "robots", str(rule), f"line {rule.line} of robots.txt, read for {self.agent or '*'}"
        )

    def _path(self, url: str) -> str:
        """Return the URL to pass to Protego; empty if no rule applies, as for robots.txt itself."""
        path = path_of(url) if self.rules else ""
        return "" if not path or _ROBOTS.fullmatch(path) else f"{_SITE}{path}{self._end}"

    def _blocking_rule(self, path: str) -> RobotsRule:
        low, high = 0, len(self._forbidding)
        while high - low > 1:
            middle = (low + high) // 2
            if self._matcher_of(low, middle).can_fetch(path, "*"):
                low = middle
            else:
                high = middle
        return self._forbidding[low][1]

    def _matcher_of(self, low: int, high: int) -> Protego:
        """Return the cached matcher of a slice of the rules, for the binary search of the deciding rule."""
        if (low, high) not in self._runs:
            self._runs[low, high] = _protego(self._forbidding[low:high])
        return self._runs[low, high]


def _protego(patterns: Iterable[tuple[str, RobotsRule]]) -> Protego:
    lines = (f"{'Allow' if rule.allow else 'Disallow'}: {pattern}" for pattern, rule in patterns)
    return Protego.parse("\n".join(["User-agent: *", *lines]))


def _values(lines: Iterable[RobotsLine], directive: str) -> Iterator[str]:
    return (line.value for line in lines if line.directive == directive)


def _last(numbers: Iterable[float | None]) -> float | None:
    """Return the last valid number."""
    return next((number for number in reversed([*numbers]) if number is not None), None)


def _seconds(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None


def _rate(value: str) -> float | None:
    """Return the seconds per request of a rate such as `1/10` or `30/1m 0600-0845`."""
    match = _RATE.match(value)
    if match is None or not int(match[1]):
        return None
    return int(match[2]) * _UNITS[match[3].lower()] / int(match[1])


def _signals(values: Iterable[str]) -> Iterator[tuple[str, str]]:
    for value in values:
        for part in value.split(","):
            name, equals, word = part.partition("=")
            if equals:
                yield name.strip().lower().replace("_", "-"), word.strip().lower()
