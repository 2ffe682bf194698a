"""Redirects to another spelling of the URL that was requested."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response

from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.access.login import joined
from ultracrawl.rules.urls.canonical import UrlPolicy, site_of
from ultracrawl.run.transport.headers import url_in_header
from ultracrawl.run.transport.outgoing import Send, send_with

MAX_SPELLINGS = 3
"""Spellings of a URL that are requested one after another."""


class OwnRedirects:
    """Requests a URL in the spelling that its server wants, where both have one canonical form.

    By `urls.normalise` all spellings of a URL become one. Its server may redirect that to another one, `/docs` to
    `/docs/`: as a link this would lead to the page itself. Only spellings at the same site are requested here, because
    robots.txt and credentials belong to it, and never one by http in place of https.
    """

    def __init__(self, policy: UrlPolicy) -> None:
        self._policy = policy

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request; again as long as the response leads to another spelling of its URL."""
        response, tried = await send(request), {request.url}
        while response.status in REDIRECTS and len(tried) <= MAX_SPELLINGS:
            spelling = joined(response.url, url_in_header(response, "Location"))
            if spelling in tried or not self._is_spelling(spelling, request.url):
                break
            tried.add(spelling)
            response = await send_with(request, send, {}, url=spelling)
        return response

    def _is_spelling(self, url: str, requested: str) -> bool:
        if site_of(url) != site_of(requested) or (
            requested.startswith("https:") and not url.startswith("https:")
        ):
            return False
        return self._policy.canonical(url) == requested
