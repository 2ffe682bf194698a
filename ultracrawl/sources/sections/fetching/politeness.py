"""The `politeness` section of a source: every reason for which a site is asked later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from ultracrawl.rules.frontier.politeness.windows import Span
from ultracrawl.sources.mistakes import format_value, mistake
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Seconds

LONGEST = 86_400 * 366


def _check_span(text: str) -> str:
    try:
        Span.parse(text, None)
    except ValueError as error:
        raise mistake(
            f"{format_value(text)} is not a span of the week: {error}", "write it as `Mon:08.30-Fri:17.45`"
        ) from None
    return text


def _check_rate(value: object) -> object:
    """Let a number of seconds or `suspend` pass, with one mistake for what is neither."""
    try:
        right = value == "suspend" or 0 <= float(str(value)) <= LONGEST
    except ValueError:
        right = False
    if not right:
        raise mistake(
            f"{format_value(value)} is no number of seconds", "write for example `30`, or `suspend`"
        )
    return value


SpanName = Annotated[str, AfterValidator(_check_span)]
SpanRate = Annotated[Seconds | Literal["suspend"], BeforeValidator(_check_rate)]


class BackOffSection(Section):
    """How a site that fails on the network is treated: more and more slowly, until it is given up."""

    longest: Seconds = Field(default=600.0, examples=[300])
    """Seconds to which network errors may lengthen the delay of a site; each doubles it."""
    limit: int = Field(default=50, ge=1, examples=[8])
    """Network errors, less one for each answer, at which a site is given up for this run."""


class PolitenessSection(Section):
    """How gently a site is treated; a site is a host together with its port."""

    delay: Seconds = Field(default=0.5, examples=[0.5])
    """Seconds between the starts of two requests to a site."""
    concurrency: int = Field(default=2, ge=1, le=1000, examples=[2])
    """Requests to a site that may run at once."""
    per_address: bool = Field(default=False, examples=[True])
    """Let hosts with the same network address share delay and concurrency."""
    variable_delay: Mapping[SpanName, SpanRate] = Field(
        default={}, examples=[{"Mon:08.30-Fri:17.45": 30, "Tue:02-Tue:04": "suspend"}]
    )
    """Other delays in spans of the week (local time), or `suspend`: nothing is fetched."""
    backoff: BackOffSection = Field(
        default=BackOffSection.by_default(), examples=[{"longest": 300, "limit": 8}]
    )
    """What network errors do to the delay of a site."""
    longest_retry_after: Seconds = Field(default=3600.0, examples=[600])
    """Most seconds for which `Retry-After` of an answer 429 or 503 is obeyed."""
    throttle: Annotated[float, Field(gt=0, le=1000)] | None = Field(default=None, examples=[0.5])
    """Requests that a site works on at a time, on average: the slower it answers, the longer the delay. None: off."""
