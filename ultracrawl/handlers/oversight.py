"""What a crawl has to say about each download: which addresses it may go to, what it shows there, and who listens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from pydispatch import dispatcher  # type: ignore[import-untyped]  # it has no stubs
from scrapy import signals
from scrapy.exceptions import NotConfigured, StopDownload
from scrapy.http import Headers
from twisted.python.failure import Failure

from ultracrawl.crawl import context_of, feature_of
from ultracrawl.crawl.auth.chain import AuthChain

if TYPE_CHECKING:
    from scrapy import Request
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


def is_heard(sender: object, signal: object) -> bool:
    """Return whether a signal of a sender has receivers; sending it without any costs as much as a small page."""
    get = dispatcher.getReceivers
    return bool(get(sender, signal) or get(dispatcher.Any, signal))


_SIGNALS = (signals.headers_received, signals.bytes_received)


class DownloadWatch:
    """Sends `headers_received` and `bytes_received`; a receiver that raises `StopDownload` ends the download."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._sender = crawler.signals.sender

    @property
    def wanted(self) -> bool:
        """Whether a signal has receivers; sending without any would cost more than the rest of a small download."""
        return any(map(self._is_heard, _SIGNALS))

    def headers(
        self, request: Request, values: dict[bytes, list[bytes]], length: int | None
    ) -> StopDownload | None:
        """Send `headers_received`; returns the `StopDownload` that a receiver raised."""
        headers = Headers()
        dict.update(headers, values)  # the names are normal already
        return self._send(signals.headers_received, request, headers=headers, body_length=length)

    def chunk(self, request: Request, data: bytes) -> StopDownload | None:
        """Send `bytes_received`; returns the `StopDownload` that a receiver raised."""
        if not self._is_heard(signals.bytes_received):
            return None
        return self._send(signals.bytes_received, request, data=data)

    def _is_heard(self, signal: object) -> bool:
        return is_heard(self._sender, signal)

    def _send(self, signal: object, request: Request, **values: Any) -> StopDownload | None:
        spider = self._crawler.spider
        results = self._crawler.signals.send_catch_log(
            signal=signal, request=request, spider=spider, **values
        )
        for _, result in results:
            if isinstance(result, Failure) and isinstance(result.value, StopDownload):
                return result.value
        return None
