"""What page owners permit: directives, reservations and expiry, from page, headers and robots.txt."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ultracrawl.content.directives import parse_directives
from ultracrawl.model import NO_CAUSE, Cause, CauseCode, Page
from ultracrawl.model.page import ALLOW_ALL
from ultracrawl.rules.robots.permission import TDM_RESERVED, expiry, reservations_of, tdm_words
from ultracrawl.run.ending import NOT_LET_IN
from ultracrawl.run.results import NOTHING_RESERVED, Head, SiteReservations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
    attributes: Mapping[str, list[str]]
    """All declarations as document attributes, whether they are obeyed or not."""


_UNRESTRICTED = PagePermissions(NO_CAUSE, hides_text=False, expires=False, attributes={})


class PermissionReader:
    """Reads the permissions of pages, by the rules of one source."""

    def __init__(
        self,
        context: CrawlContext,
        ask_site: Callable[[str], SiteReservations],
    ) -> None:
        """Initialise; `ask_site` returns what robots.txt and tdmrep.json reserve of a URL, as far as known."""
        self._ask_site = ask_site
        self._clock = context.clock
        self._permission = context.rules.permission
        boundary = context.rules.boundary
        self._follow_only = boundary.follow_only if boundary.has_index_rules else None
        self._robot = context.source.robots.name

    def site_reserves(self, visit: Visit) -> bool:
        """Return whether tdmrep.json reserves a page, unless the page itself, which has to be read, permits its use."""
        return self._reserved_by_site(visit).tdm

    def page_permissions(self, visit: Visit, page: Page, head: Head) -> PagePermissions:
        """Return the permissions of a page, from the page, its headers and the robots.txt of its site."""
        directives, meta = page.robots, page.meta.get(TDM_RESERVED, ())
        site = self._reserved_by_site(visit)
        stated = directives.others or meta or head.reserved or site is not NOTHING_RESERVED
        if not stated and directives.index:
            return _UNRESTRICTED
        tdm = tdm_words(meta, head.reserved, in_file=site.tdm)
        reserved = reservations_of(directives.others, tdm, site.signals)
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

    def head_refusal(self, visit: Visit, head: Head) -> Cause:
        """Return why a page stays out of the index by its headers or robots.txt, or `NO_CAUSE`."""
        tags: Sequence[str] = head.page.x_robots_tag
        site = self._reserved_by_site(visit)
        if not (tags or head.reserved) and site is NOTHING_RESERVED:
            return NO_CAUSE
        directives = parse_directives((), tags, name=self._robot) if tags else ALLOW_ALL
        tdm = tdm_words((), head.reserved, in_file=site.tdm)
        reserved = reservations_of(directives.others, tdm, site.signals)
        return self._permission.refusal(directives, reserved, self._clock())

    def followed_only(self, visit: Visit) -> Cause:
        """Return why a page is read for its links only, or `NO_CAUSE`."""
        if visit.fetch.without_login:
            return NOT_LET_IN.cause
        if visit.fetch.follow_only:
            return Cause(CauseCode.FOLLOWED_TYPE, visit.fetch.media_type)
        rule = None if self._follow_only is None else self._follow_only(visit.url)
        return Cause(CauseCode.RULE, rule) if rule else NO_CAUSE

    def _reserved_by_site(self, visit: Visit) -> SiteReservations:
        if visit.reserved is None:
            visit.note_reserved(self._ask_site(visit.url))
        return visit.reserved or NOTHING_RESERVED
