"""Parts of the web that belong to other sources, so that each URL has one owner (FAST 5.32)."""

from __future__ import annotations

from dataclasses import dataclass

from ultracrawl.rules.boundary.matcher import Addresses, DomainTable, UriTable
from ultracrawl.rules.boundary.rules import DomainRule, UriRule
from ultracrawl.rules.urls.canonical import UrlPolicy


@dataclass(frozen=True, slots=True)
class AreaRules:
    """What belongs to another source: what one of its inclusions names (without any, everything) and none excepts."""

    owner: str
    hosts: tuple[DomainRule, ...] = ()
    uris: tuple[UriRule, ...] = ()
    except_hosts: tuple[DomainRule, ...] = ()
    except_uris: tuple[UriRule, ...] = ()


class Area:
    """The compiled rules of one area."""

    def __init__(self, rules: AreaRules, policy: UrlPolicy) -> None:
        self.rule = f"belongs to {rules.owner}"
        """What is said of a URL inside."""
        self._hosts, self._uris = (
            DomainTable(rules.hosts, excludes=True),
            UriTable(rules.uris, policy, excludes=True),
        )
        self._not_hosts = DomainTable(rules.except_hosts)
        self._not_uris = UriTable(rules.except_uris, policy)
        self._whole = self._hosts.empty and self._uris.empty
        self.asks_addresses = self._hosts.asks_addresses or self._not_hosts.asks_addresses
        """Whether address masks look at the addresses of hosts."""

    def covers(self, host: str, url: str, addresses: Addresses) -> bool:
        """Return whether a canonical URL, with its host, is inside."""
        inside = self._whole or self._uris.find(url) or self._hosts.find(host, addresses)
        if not inside or self._not_uris.find(url):
            return False
        return self._not_hosts.empty or self._not_hosts.find(host, addresses) is None
