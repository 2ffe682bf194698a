"""The address guard as the handlers see it: anything that answers for an IP address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from scrapy.exceptions import NotConfigured

from ultracrawl.extensions import CrawlSession

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.model import Decision


class AddressGuard(Protocol):
    """Answers whether an address may be connected to; `ultracrawl.boundary.AddressPolicy` is one."""

    def check(self, address: str, /) -> Decision:
        """Return the answer for the text of an IPv4 or IPv6 address."""


def guard_of(crawler: Crawler) -> AddressGuard | None:
    """Return the guard of a crawl's source; None for a spider that is not made from a definition."""
    try:
        return CrawlSession.of(crawler).rules.addresses
    except NotConfigured:
        return None
