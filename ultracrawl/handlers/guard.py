"""What of a source applies to each request: which addresses it may go to, and its credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from scrapy.exceptions import NotConfigured

from ultracrawl.crawl import context_of, feature_of
from ultracrawl.crawl.auth.chain import AuthChain

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.model import Decision


class AddressGuard(Protocol):
    """Answers whether an address may be connected to; `ultracrawl.rules.boundary.AddressPolicy` is one."""

    def check(self, address: str, /) -> Decision:
        """Return the answer for the text of an IPv4 or IPv6 address."""


def guard_of(crawler: Crawler) -> AddressGuard | None:
    """Return the guard of a crawl's source; None for a spider that is not made from a definition."""
    try:
        return context_of(crawler).rules.addresses
    except NotConfigured:
        return None


def access_of(crawler: Crawler) -> AuthChain | None:
    """Return the credentials, cookies and proxies of a crawl's source; None for a spider without a definition."""
    try:
        return feature_of(crawler, AuthChain)
    except NotConfigured:
        return None
