"""The sections `politeness` and `robots` of a source: delays, concurrency and throttling; directives of site owners."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from ultracrawl.rules.frontier.politeness.windows import Span
from ultracrawl.rules.robots.permission import Reservation
from ultracrawl.sources.mistakes import format_value, mistake
from ultracrawl.sources.sections.section import Editable, Section
from ultracrawl.sources.values import HeaderText, Seconds, one_or_list

MAX_DELAY = 86_400 * 366


def _check_span(text: str) -> str:
    try:
        Span.parse(text, None)
    except ValueError as error:
        raise mistake(
            f"{format_value(text)} is not a span of the week: {error}", "write it as `Mon:08.30-Fri:17.45`"
        ) from None
    return text


def _check_rate(value: object) -> object:
    """Accept a number of seconds or `suspend`; anything else is one mistake."""
    try:
        is_valid = value == "suspend" or 0 <= float(str(value)) <= MAX_DELAY
    except ValueError:
        is_valid = False
    if not is_valid:
        raise mistake(
            f"{format_value(value)} is no number of seconds", "write for example `30`, or `suspend`"
        )
    return value


SpanName = Annotated[str, AfterValidator(_check_span)]
SpanRate = Annotated[Seconds | Literal["suspend"], BeforeValidator(_check_rate)]


class BackOffSection(Section):
    """Back-off after network errors of a site, until it is given up."""

    longest: Editable[Seconds] = Field(default=600.0, examples=[300])
    """Maximum delay of a site after network errors, in seconds. Each error doubles the delay."""
    limit: Editable[int] = Field(default=50, ge=1, examples=[8])
    """Number of network errors at which a site is abandoned for this run. Each response reduces the number by one."""


class PolitenessSection(Section):
    """Delays and concurrency of requests to a site. A site is a host with its port."""

    delay: Editable[Seconds] = Field(default=0.5, examples=[0.5])
    """Seconds between the starts of two requests to a site."""
    concurrency: Editable[int] = Field(default=2, ge=1, le=1000, examples=[2])
    """Maximum concurrent requests to a site."""
    per_address: Editable[bool] = Field(default=False, examples=[True])
    """Apply delay and concurrency to all hosts with the same network address together."""
    variable_delay: Editable[Mapping[SpanName, SpanRate]] = Field(
        default={}, examples=[{"Mon:08.30-Fri:17.45": 30, "Tue:02-Tue:04": "suspend"}]
    )
    """Delays for spans of the week (local time), or `suspend` to fetch nothing."""
    backoff: BackOffSection = Field(
        default=BackOffSection.by_default(), examples=[{"longest": 300, "limit": 8}]
    )
    """Back-off after network errors."""
    longest_retry_after: Editable[Seconds] = Field(default=3600.0, examples=[600])
    """Maximum seconds for which `Retry-After` of a 429 or 503 response is obeyed."""
    throttle: Editable[Annotated[float, Field(gt=0, le=1000)] | None] = Field(default=None, examples=[0.5])
    """Target average of concurrent requests at a site: the slower it responds, the longer the delay. None: off."""


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
    timeout: Annotated[Seconds, Field(gt=0)] | None = Field(default=None, examples=[60])
    """Seconds after which a request for robots.txt is given up. None: as `limits.timeout`."""
    timeout_ignore: bool = Field(default=False, examples=[True])
    """Crawl a site without rules if its robots.txt timed out. Use it only for your own sites."""
    auth_ignore: bool = Field(default=True, examples=[False])
    """If the response for robots.txt is 401, 402, 403 or 407, crawl the site without rules. If off, do not crawl it."""
