"""Adds headers by URL prefix and client certificates by site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scrapy import Request
from scrapy.http import Response

from ultracrawl.rules.access.credentials import ClientCertificate
from ultracrawl.rules.access.prefix import UrlPrefix
from ultracrawl.rules.urls.canonical import split
from ultracrawl.run.transport.outgoing import VISITOR, Send, send_with

CERTIFICATE_KEY = "ultracrawl_certificate"
"""Key in `Request.meta` of the client certificate for the request."""


class SiteHeaders:
    """Adds the headers of every prefix that covers a URL; for the same header, the longest prefix wins."""

    def __init__(self, headers: Sequence[tuple[UrlPrefix, Mapping[str, str]]]) -> None:
        self._headers = sorted(headers, key=lambda entry: len(entry[0]))

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request with the headers of its URL."""
        if VISITOR in request.meta:
            return await send(request)
        added: dict[str, str] = {}
        for prefix, headers in self._headers:
            if prefix.covers(request.url):
                added.update((name.title(), value) for name, value in headers.items())
        return await (send_with(request, send, added) if added else send(request))


class SiteCertificates:
    """Adds the client certificate of its site to each https request."""

    def __init__(self, certificates: Mapping[tuple[str, int], ClientCertificate]) -> None:
        self._certificates = certificates

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request with its certificate."""
        parts = split(request.url)
        certificate = self._certificates.get((parts.host, parts.port)) if parts.scheme == "https" else None
        if certificate is None or VISITOR in request.meta:
            return await send(request)
        return await send_with(request, send, {}, {CERTIFICATE_KEY: certificate})
