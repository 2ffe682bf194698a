"""What page owners permit: directives, reservations and expiry, from page, headers and robots.txt."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ultracrawl.content.directives import parse_directives
from ultracrawl.model import NO_CAUSE, Cause, CauseCode, Page
from ultracrawl.model.page import ALLOW_ALL
from ultracrawl.rules.robots.permission import TDM_RESERVED, expiry, reservations_of, tdm_words
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.run.transport.headers import has_header, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scrapy.http import Response

    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit


class PagePermissions(NamedTuple):
    """The permissions that a page's owner declares."""

    refusal: Cause
    """Why the page stays out of the index, if it does."""
    hides_text: bool
    """No part of the text may be shown below a hit."""
    expires: bool
    """The page names a date on which it leaves the index."""
    attributes: dict[str, list[str]]
    """All declarations as document attributes, whether they are obeyed or not."""


class PermissionReader:
    """Reads the permissions of pages, by the rules of one source."""

    def __init__(
        self,
        context: CrawlContext,
        robots_of: Callable[[str], RobotsRules | None],
        reserves: Callable[[str], bool],
    ) -> None:
        """Initialise; `robots_of` returns the robots.txt rules for a URL, None if they are not known.

        `reserves` returns whether tdmrep.json reserves a URL.
        """
        self._robots_of = robots_of
        self.site_reserves = reserves
        """Returns whether a URL is reserved unless its page permits it: only the whole page tells."""
        self._clock = context.clock
        self._permission = context.rules.permission
        self._boundary = context.rules.boundary
        self._robot = context.source.robots.name

    def page_permissions(self, page: Page, response: Response) -> PagePermissions:
        """Return the permissions of a page, from the page, its headers and the robots.txt of its site."""
        directives, signals = page.robots, self._signals(response)
        tdm = self._tdm(response, page.meta.get(TDM_RESERVED, ()))
        if not (directives.others or tdm or signals) and directives.index:
            return PagePermissions(NO_CAUSE, hides_text=False, expires=False, attributes={})
        reserved = reservations_of(directives.others, tdm, signals)
        return PagePermissions(
            self._permission.refusal(directives, reserved, self._clock()),
            self._permission.hides_text(directives),
            expiry(directives) is not None,
            {
                name: list(values)
                for name, values in (("robots_directives", directives.others), ("reservations", reserved))
                if values
            },
        )

    def head_refusal(self, response: Response) -> Cause:
        """Return why a page stays out of the index by its headers or robots.txt, or `NO_CAUSE`."""
        signals, tdm = self._signals(response), self._tdm(response)
        if not (signals or tdm or has_header(response, "X-Robots-Tag")):
            return NO_CAUSE
        tags = values_of(response)("X-Robots-Tag")
        directives = parse_directives((), tags, name=self._robot) if tags else ALLOW_ALL
        reserved = reservations_of(directives.others, tdm, signals)
        return self._permission.refusal(directives, reserved, self._clock())

    def followed_only(self, visit: Visit) -> Cause:
        """Return why a page is read for its links only, or `NO_CAUSE`."""
        if visit.fetch.follow_only:
            return Cause(CauseCode.FOLLOWED_TYPE, visit.fetch.media_type)
        rule = self._boundary.follow_only(visit.url)
        return Cause(CauseCode.RULE, rule) if rule else NO_CAUSE

    def _tdm(self, response: Response, meta: Iterable[str] = ()) -> tuple[str, ...]:
        header = values_of(response)(TDM_RESERVED) if has_header(response, TDM_RESERVED) else ()
        return tdm_words(meta, header, in_file=self.site_reserves(response.url))

    def _signals(self, response: Response) -> Mapping[str, str]:
        """Return Content-Signal of the site; empty if robots.txt is not obeyed."""
        rules = self._robots_of(response.url)
        return rules.content_signals if rules is not None else {}
