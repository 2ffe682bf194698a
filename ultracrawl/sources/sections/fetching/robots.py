"""Which rules of site owners a source obeys."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from ultracrawl.rules.robots.permission import Reservation
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import HeaderText, Seconds, one_or_list


class RobotsSection(Section):
    """What of robots.txt and of robots directives in pages is obeyed."""

    FETCH_OPTIONS: ClassVar = frozenset({"obey_delay", "ttl", "timeout", "timeout_ignore", "auth_ignore"})

    obey: bool = Field(default=True, examples=[True])
    """Obey robots.txt. Switch it off only for sites that are your own."""
    name: HeaderText = Field(default="ultracrawl", examples=["ultracrawl"])
    """The name by which robots.txt addresses this crawler; may hold blanks."""
    meta: bool = Field(default=True, examples=[True])
    """Obey `noindex` and `nofollow` of META robots and of X-Robots-Tag headers."""
    follow_nofollow_links: bool = Field(default=False, examples=[True])
    """Follow links that are marked `rel=nofollow`."""
    obey_reservations: Annotated[tuple[Reservation, ...], one_or_list(Reservation)] = Field(
        default=(Reservation.SEARCH,), examples=[["search", "ai", "tdm"]]
    )
    """Uses that you make of the index; pages whose owner reserves one of them stay out of it."""
    obey_delay: bool = Field(default=False, examples=[True])
    """Let Crawl-delay or Request-rate of robots.txt replace the delay for its site."""
    ttl: Seconds = Field(default=86_400.0, examples=[86400])
    """Age at which robots.txt is fetched again before the next request to its site."""
    timeout: Seconds = Field(default=300.0, gt=0, examples=[30])
    """Seconds after which a request for robots.txt is given up."""
    timeout_ignore: bool = Field(default=False, examples=[True])
    """Crawl a site whose robots.txt timed out, without rules. Only for sites that are your own."""
    auth_ignore: bool = Field(default=True, examples=[False])
    """Take 401, 402, 403 and 407 for robots.txt as if there were none; if not, leave the site alone."""
