"""Scrapy's signals about a download that is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydispatch import dispatcher  # type: ignore[import-untyped]  # it has no stubs
from scrapy import signals
from scrapy.exceptions import StopDownload
from scrapy.http import Headers
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

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
        get = dispatcher.getReceivers
        return bool(get(self._sender, signal) or get(dispatcher.Any, signal))

    def _send(self, signal: object, request: Request, **values: Any) -> StopDownload | None:
        spider = self._crawler.spider
        results = self._crawler.signals.send_catch_log(
            signal=signal, request=request, spider=spider, **values
        )
        for _, result in results:
            if isinstance(result, Failure) and isinstance(result.value, StopDownload):
                return result.value
        return None
