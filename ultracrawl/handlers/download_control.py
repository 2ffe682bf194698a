"""Parts of a crawl that download handlers use: address guard, credentials, and Scrapy's download signals."""

from __future__ import annotations

import logging
from functools import lru_cache
from inspect import CO_VARKEYWORDS
from typing import TYPE_CHECKING, Any, Protocol

from pydispatch import dispatcher  # type: ignore[import-untyped]  # it has no stubs
from scrapy import Request, signals
from scrapy.exceptions import NotConfigured, StopDownload
from scrapy.http import Headers

from ultracrawl.run import context_of, parts_of
from ultracrawl.run.auth.chain import AuthChain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import CodeType

    from scrapy.crawler import Crawler

    from ultracrawl.model import Decision

logger = logging.getLogger(__name__)


class AddressGuard(Protocol):
    """Decides whether an address may be connected to; implemented by `ultracrawl.rules.boundary.AddressPolicy`."""

    def check(self, address: str, host: str, /) -> Decision:
        """Return the decision for the text of an IPv4 or IPv6 address, to which a host or its proxy resolves."""


def guard_of(crawler: Crawler) -> AddressGuard | None:
    """Return the address guard of the source; None for a spider without a definition."""
    try:
        return context_of(crawler).rules.addresses
    except NotConfigured:
        return None


def access_of(crawler: Crawler) -> AuthChain | None:
    """Return the credentials, cookies and proxies of the source; None for a spider without a definition."""
    try:
        return parts_of(crawler)[AuthChain]
    except NotConfigured:
        return None


_ANY = id(dispatcher.Any)
_NO_RECEIVERS: Mapping[Any, list[Any]] = {}
_SIGNAL_ARGUMENTS = ("request", "spider", "signal", "sender", "headers", "body_length", "data")
"""Names of the arguments of the two download signals."""


def has_receivers(sender: object, *signals: object) -> bool:
    """Return whether a signal of a sender has receivers; sending it without any costs as much as a small page."""
    connections = dispatcher.connections
    for connected in (connections.get(id(sender)), connections.get(_ANY)):
        if connected and not connected.keys().isdisjoint(signals):
            return True
    return False


_SIGNALS = (signals.headers_received, signals.bytes_received)


class DownloadSignals:
    """Sends `headers_received` and `bytes_received`; a receiver may raise `StopDownload` to end the download."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._sender = crawler.signals.sender

    @property
    def has_receivers(self) -> bool:
        """Whether a signal has receivers; sending without any would cost more than the rest of a small download."""
        return has_receivers(self._sender, *_SIGNALS)

    def send_headers(
        self, request: Request, values: dict[bytes, list[bytes]], length: int | None
    ) -> StopDownload | None:
        """Send `headers_received`; returns the `StopDownload` of a receiver."""
        headers = Headers()
        dict.update(headers, values)  # their names are normalised already
        return self._send(signals.headers_received, request, headers=headers, body_length=length)

    def send_bytes(self, request: Request, data: bytes) -> StopDownload | None:
        """Send `bytes_received`; returns the `StopDownload` of a receiver."""
        if not has_receivers(self._sender, signals.bytes_received):
            return None
        return self._send(signals.bytes_received, request, data=data)

    def _send(self, signal: object, request: Request, **values: Any) -> StopDownload | None:
        """Call the receivers of a signal like Scrapy, but inspect the parameters of each receiver only once."""
        spider = self._crawler.spider
        values.update(request=request, spider=spider, signal=signal, sender=self._sender)
        stopped = None
        for receiver in list(dispatcher.liveReceivers(_receivers(self._sender, signal))):
            try:
                receiver(**{name: values[name] for name in _parameters(receiver) if name in values})
            except StopDownload as stop:
                stopped = stopped or stop
            except Exception:
                logger.exception(
                    "Error caught on signal handler: %(receiver)s",
                    {"receiver": receiver},
                    extra={"spider": spider},
                )
        return stopped


def _receivers(sender: object, signal: object) -> list[Any]:
    found: dict[Any, None] = {}
    for key in (id(sender), _ANY):
        found |= dict.fromkeys(dispatcher.connections.get(key, _NO_RECEIVERS).get(signal, ()))
    return list(found)


@lru_cache(maxsize=64)
def _names(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _parameters(receiver: Any) -> Iterable[str]:
    """Return the parameter names of a receiver; the names of all arguments if it has `**kwargs`."""
    function = receiver if hasattr(receiver, "__code__") else getattr(receiver, "__func__", None)
    if function is None:
        function = type(receiver).__call__
    code: CodeType = function.__code__
    return _SIGNAL_ARGUMENTS if code.co_flags & CO_VARKEYWORDS else _names(code)
