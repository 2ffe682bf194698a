"""Streams of events that pages ask for: they do not end, so they are read for a while."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.exceptions import StopDownload
from scrapy.http import Response

from ultracrawl.run.rendering.part_origin import STREAM_TYPE, is_stream

if TYPE_CHECKING:
    from scrapy.http import Headers
    from scrapy.signalmanager import SignalManager

    from ultracrawl.run.transport.outgoing import Send

SECONDS = 1.0
"""Seconds after which a stream ends with what it sends next."""
MAX_SECONDS = 2.0
"""Seconds after which it ends if it sends nothing."""
_STREAM = "ultracrawl_stream"
"""Request meta key: what has come of a stream."""


class EventStreams:
    """Sends requests; the response to one for a stream of events is what comes within a second or two."""

    def __init__(self, send: Send, signal_manager: SignalManager) -> None:
        """Initialise; the signals tell what comes of a download before it has ended."""
        self._send = send
        self._signals = signal_manager

    async def __call__(self, request: Request) -> Response:
        """Return the response to a request."""
        accept = (request.headers.get("Accept") or b"").decode("latin-1")
        if not is_stream({"accept": accept}):
            return await self._send(request)
        coming = _Coming()
        request.meta.update({_STREAM: coming, "download_timeout": MAX_SECONDS})
        # For no longer than a stream is read: as long as they are connected, each chunk of each download calls them.
        self._signals.connect(coming.headers_received, signals.headers_received)
        self._signals.connect(coming.bytes_received, signals.bytes_received)
        try:
            return await self._send(request)
        except Exception:
            if not coming.is_stream:
                raise
            return Response(request.url, 200, coming.headers, bytes(coming.body), request=request)
        finally:
            self._signals.disconnect(coming.headers_received, signals.headers_received)
            self._signals.disconnect(coming.bytes_received, signals.bytes_received)


class _Coming:
    """What has come of a stream so far."""

    def __init__(self) -> None:
        self.headers: Headers | None = None
        self.body = bytearray()
        self._began = time.monotonic()

    @property
    def is_stream(self) -> bool:
        """Whether what comes is a stream that can be read in part."""
        if self.headers is None or "Content-Encoding" in self.headers:
            return False
        return (self.headers.get("Content-Type") or b"").lower().startswith(STREAM_TYPE.encode())

    def headers_received(self, headers: Headers, request: Request) -> None:
        """Note the headers of the response."""
        if request.meta.get(_STREAM) is self:
            self.headers = headers

    def bytes_received(self, data: bytes, request: Request) -> None:
        """Note a part of the body. Raises `StopDownload` when that is enough."""
        if request.meta.get(_STREAM) is self:
            self.body += data
            if time.monotonic() - self._began > SECONDS:
                raise StopDownload(fail=False)
