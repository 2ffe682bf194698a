"""The priority level of a URL, by host and URL rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.boundary.matcher import Addresses, DomainTable, UriTable, no_addresses
from ultracrawl.rules.frontier.levels import clamp_level
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY, host_of

_NO_HOSTS, _NO_URIS = DomainTable(()), UriTable((), DEFAULT_POLICY)


@dataclass(frozen=True, slots=True)
class LevelRule:
    """The hosts and URLs of one level; a match of one is enough."""

    level: int
    hosts: DomainTable = _NO_HOSTS
    uris: UriTable = _NO_URIS


class LevelRules:
    """Determines the level of a URL (FAST 5.14): `start` for start URLs, else that of the first matching rule.

    Levels are tried from 1 upwards; a URL that no rule matches has the level `default`.
    """

    def __init__(
        self,
        levels: int = 1,
        *,
        default: int = 1,
        start: int = 1,
        rules: Iterable[LevelRule] = (),
        seeds: Collection[str] = (),
        addresses: Addresses = no_addresses,
    ) -> None:
        self.levels = levels
        self.default = clamp_level(default, levels)
        self.start = clamp_level(start, levels)
        self._seeds = frozenset(seeds)
        self._addresses = addresses
        self._rules = sorted(rules, key=lambda rule: rule.level)

    def of(self, url: str) -> int:
        """Return the level of a canonical URL."""
        if self.levels == 1:
            return 1
        if url in self._seeds:
            return self.start
        if self._rules:
            host = host_of(url)
            for rule in self._rules:
                if rule.hosts.find(host, self._addresses) or rule.uris.find(url):
                    return clamp_level(rule.level, self.levels)
        return self.default
