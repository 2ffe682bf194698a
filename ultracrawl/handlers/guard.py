"""What a crawl's source has to say about each request: which addresses it may go to, and what it shows there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from scrapy.exceptions import NotConfigured

from ultracrawl.extensions import CrawlSession

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.extensions.outgoing import Send
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


def sender_of(crawler: Crawler, send: Send) -> Send:
    """Return what sends a crawl's requests with all that its source shows to servers; `send` does the rest."""
    try:
        return CrawlSession.of(crawler).access.around(send)
    except NotConfigured:
        return send


def proxies_of(crawler: Crawler) -> frozenset[tuple[str, int]]:
    """Return host and port of the proxies that the source names; none without a source."""
    try:
        return CrawlSession.of(crawler).access.proxies
    except NotConfigured:
        return frozenset()
