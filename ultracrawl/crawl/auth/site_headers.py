"""Headers of a definition that only a part of the web gets, and certificates that only a site gets to see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ultracrawl.crawl.transport.outgoing import Send, send_with
from ultracrawl.rules.access.certificate import ClientCertificate
from ultracrawl.rules.access.prefix import UrlPrefix
from ultracrawl.rules.urls.canonical import split

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

CERTIFICATE = "ultracrawl_certificate"
"""Where the meta of a request has the certificate that may be shown for it."""


class SiteHeaders:
    """Adds the headers of every prefix that covers a URL; where two set the same one, the longer prefix wins."""

    def __init__(self, headers: Sequence[tuple[UrlPrefix, Mapping[str, str]]]) -> None:
        self._headers = sorted(headers, key=lambda one: len(one[0]))

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request with the headers that belong to its URL."""
        found: dict[str, str] = {}
        for prefix, headers in self._headers:
            if prefix.covers(request.url):
                found.update((name.title(), value) for name, value in headers.items())
        return await (send_with(request, send, found) if found else send(request))


class SiteCertificates:
    """Gives each request to an https site the client certificate that is for this site."""

    def __init__(self, certificates: Mapping[tuple[str, int], ClientCertificate]) -> None:
        self._certificates = certificates

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request with its certificate."""
        parts = split(request.url)
        found = self._certificates.get((parts.host, parts.port)) if parts.scheme == "https" else None
        return await (send_with(request, send, {}, {CERTIFICATE: found}) if found else send(request))
