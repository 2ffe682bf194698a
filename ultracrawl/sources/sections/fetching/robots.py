"""The `robots` section of a source: which directives of site owners it obeys."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from ultracrawl.rules.robots.permission import Reservation
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import HeaderText, Seconds, one_or_list


class RobotsSection(Section):
    """Which parts of robots.txt and of robots directives in pages are obeyed."""

    FETCH_OPTIONS: ClassVar = frozenset({"obey_delay", "ttl", "timeout", "timeout_ignore", "auth_ignore"})

    obey: bool = Field(default=True, examples=[True])
    """Obey robots.txt. Switch it off only for your own sites."""
    name: HeaderText = Field(default="ultracrawl", examples=["ultracrawl"])
    """The name of this crawler in robots.txt. It may contain blanks."""
    meta: bool = Field(default=True, examples=[True])
    """Obey `noindex` and `nofollow` of META robots and X-Robots-Tag headers."""
    follow_nofollow_links: bool = Field(default=False, examples=[True])
    """Follow links marked `rel=nofollow`."""
    obey_reservations: Annotated[tuple[Reservation, ...], one_or_list(Reservation)] = Field(
        default=(Reservation.SEARCH,), examples=[["search", "ai-input", "tdm"]]
    )
    """Your uses of the index. Pages whose owner reserves one of these uses are not indexed."""
    obey_delay: bool = Field(default=False, examples=[True])
    """Use Crawl-delay or Request-rate of robots.txt as the delay of the site."""
    ttl: Seconds = Field(default=86_400.0, examples=[86400])
    """Maximum age of robots.txt. An older one is fetched again before the next request to the site."""
    timeout: Seconds = Field(default=300.0, gt=0, examples=[30])
    """Seconds after which a request for robots.txt is given up."""
    timeout_ignore: bool = Field(default=False, examples=[True])
    """Crawl a site without rules if its robots.txt timed out. Use it only for your own sites."""
    auth_ignore: bool = Field(default=True, examples=[False])
    """If the response for robots.txt is 401, 402, 403 or 407, crawl the site without rules. If off, do not crawl it."""
