"""Onto which level a URL is put: by host and URL rules of the levels, or always onto the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ultracrawl.rules.boundary.matcher import Addresses, DomainTable, UriTable, no_addresses
from ultracrawl.rules.boundary.rules import DomainRule, UriRule
from ultracrawl.rules.frontier.levels import nearest
from ultracrawl.rules.urls.canonical import UrlPolicy, host_of


@dataclass(frozen=True, slots=True)
class LevelRule:
    """The hosts and URLs of one level; one match is enough."""

    level: int
    hosts: tuple[DomainRule, ...] = ()
    uris: tuple[UriRule, ...] = ()


class LevelRules:
    """Gives the level of a URL (FAST 5.14): start URLs have one of their own, others that of the first match.

    Levels are tried from 1 on; without rules, and for URLs that no rule matches, the level is `default`.
    """

    def __init__(
        self,
        levels: int = 1,
        *,
        default: int = 1,
        start: int = 1,
        rules: Iterable[LevelRule] = (),
        seeds: Collection[str] = (),
        policy: UrlPolicy | None = None,
        addresses: Addresses = no_addresses,
    ) -> None:
        self.levels = levels
        self.default = nearest(default, levels)
        self.start = nearest(start, levels)
        self._seeds = frozenset(seeds)
        self._addresses = addresses
        self._tables = [
            (rule.level, DomainTable(rule.hosts), UriTable(rule.uris, policy or UrlPolicy()))
            for rule in sorted(rules, key=lambda rule: rule.level)
        ]

    def of(self, url: str) -> int:
        """Return the level of a canonical URL."""
        if self.levels == 1:
            return 1
        if url in self._seeds:
            return self.start
        if self._tables:
            host = host_of(url)
            for level, hosts, uris in self._tables:
                if hosts.find(host, self._addresses) or uris.find(url):
                    return nearest(level, self.levels)
        return self.default
