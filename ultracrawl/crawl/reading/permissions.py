"""What owners allow a page to be used for: its directives, reservations and end, taken from all places that say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ultracrawl.content import parse_directives
from ultracrawl.crawl.transport.headers import values_of
from ultracrawl.model.page import ALLOW_ALL, RobotsDirectives
from ultracrawl.rules.robots import expiry, reservations_of
from ultracrawl.rules.robots.reservations import TDM_RESERVED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.http import Response

    from ultracrawl.crawl.session import CrawlSession
    from ultracrawl.model import Page


class PagePermissions(NamedTuple):
    """The wishes of a page's owner about the index."""

    refusal: str
    """Why the page stays out of the index, or empty."""
    hides_text: bool
    """No piece of the text may be shown below a hit."""
    expires: bool
    """The page leaves the index on a day that it names."""
    attributes: dict[str, list[str]]
    """All wishes as document attributes, whether they are obeyed or not."""


def page_permissions(session: CrawlSession, page: Page, response: Response) -> PagePermissions:
    """Return what the owner of a page allows, by the page, its headers and the robots.txt of its site."""
    directives = page.robots
    tdm = [*page.meta.get(TDM_RESERVED, ()), *values_of(response)(TDM_RESERVED)]
    reserved = reservations_of(directives.others, tdm, _signals(session, response))
    permission = session.context.rules.permission
    return PagePermissions(
        permission.refusal(directives, reserved, session.context.clock()),
        permission.hides_text(directives),
        expiry(directives) is not None,
        {
            name: list(values)
            for name, values in (("robots_directives", directives.others), ("reservations", reserved))
            if values
        },
    )


def head_refusal(session: CrawlSession, response: Response) -> str:
    """Return why a page stays out of the index by what stands outside its body; empty if nothing says so."""
    signals = _signals(session, response)
    headers = response.headers
    if not (signals or "X-Robots-Tag" in headers or TDM_RESERVED in headers):
        return ""
    values = values_of(response)
    directives = _header_directives(session, values("X-Robots-Tag"))
    reserved = reservations_of(directives.others, values(TDM_RESERVED), signals)
    return session.context.rules.permission.refusal(directives, reserved, session.context.clock())


def _header_directives(session: CrawlSession, values: list[str]) -> RobotsDirectives:
    return parse_directives((), values, name=session.context.source.robots.name) if values else ALLOW_ALL


def _signals(session: CrawlSession, response: Response) -> Mapping[str, str]:
    """Return Content-Signal of the site; none where robots.txt is not obeyed."""
    rules = session.robots.known(response.url)
    return rules.content_signals if rules is not None else {}
