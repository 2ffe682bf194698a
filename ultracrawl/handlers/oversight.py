"""What a crawl has to say about each download: which addresses it may go to, what it shows there, and who listens."""

from __future__ import annotations

import logging
from functools import lru_cache
from inspect import CO_VARKEYWORDS
from typing import TYPE_CHECKING, Any, Protocol

from pydispatch import dispatcher  # type: ignore[import-untyped]  # it has no stubs
from scrapy import signals
from scrapy.exceptions import NotConfigured, StopDownload
from scrapy.http import Headers

from ultracrawl.crawl import context_of, feature_of
from ultracrawl.crawl.auth.chain import AuthChain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import CodeType

    from scrapy import Request
    from scrapy.crawler import Crawler

    from ultracrawl.model import Decision

logger = logging.getLogger(__name__)


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


_ANY = id(dispatcher.Any)
_NOBODY: Mapping[Any, list[Any]] = {}
_ALL = ("request", "spider", "signal", "sender", "headers", "body_length", "data")
"""What the two signals of a download come with."""


def is_heard(sender: object, signal: object) -> bool:
    """Return whether a signal of a sender has receivers; sending it without any costs as much as a small page."""
    own, others = dispatcher.connections.get(id(sender), _NOBODY), dispatcher.connections.get(_ANY, _NOBODY)
    return signal in own or signal in others


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
        """Call the receivers of a signal as Scrapy does, but look at what each of them takes only once."""
        spider = self._crawler.spider
        values.update(request=request, spider=spider, signal=signal, sender=self._sender)
        stopped = None
        for receiver in list(dispatcher.liveReceivers(_receivers(self._sender, signal))):
            try:
                receiver(**{name: values[name] for name in _taken(receiver) if name in values})
            except StopDownload as stop:
                stopped = stopped or stop
            except Exception:
                told = {"receiver": receiver}
                logger.exception(
                    "Error caught on signal handler: %(receiver)s", told, extra={"spider": spider}
                )
        return stopped


def _receivers(sender: object, signal: object) -> list[Any]:
    tables = [dispatcher.connections.get(known, _NOBODY) for known in (id(sender), _ANY)]
    return list(dict.fromkeys(one for table in tables for one in table.get(signal, ())))


@lru_cache(maxsize=64)
def _names(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _taken(receiver: Any) -> Iterable[str]:
    """Return the names of what a receiver takes; of all that there is for one that takes anything."""
    function = receiver if hasattr(receiver, "__code__") else getattr(receiver, "__func__", None)
    if function is None:
        function = type(receiver).__call__
    code: CodeType = function.__code__
    return _ALL if code.co_flags & CO_VARKEYWORDS else _names(code)
