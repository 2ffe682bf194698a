"""What bounds a source and its runs."""

from __future__ import annotations

from pydantic import Field

from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Seconds, Size


class LimitsSection(Section):
    """Bounds that keep one page, one site or one run from taking everything."""

    max_size: Size = Field(
        default=32 << 20, description="Largest body that is read, after decompression.", examples=["32 MB"]
    )
    timeout: Seconds = Field(
        default=30.0,
        gt=0,
        description="Seconds after which a download is given up (status 902).",
        examples=[30],
    )
    redirects: int = Field(
        default=10, ge=0, le=100, description="Redirects followed in a row.", examples=[10]
    )
    pages: int | None = Field(
        default=None, ge=1, description="Pages fetched in one run; without a number, all.", examples=[10000]
    )
    pages_per_site: int | None = Field(
        default=None,
        ge=1,
        description="Pages fetched from one site in one run; its further URLs are not asked for.",
        examples=[20000],
    )
    seconds: Seconds | None = Field(
        default=None,
        gt=0,
        description="Seconds after which a run ends; the next one goes on with what is left.",
        examples=[3600],
    )
    bytes: Size | None = Field(
        default=None,
        description="Bytes read in one run; what is left waits for the next one.",
        examples=["2 GB"],
    )
    documents: int | None = Field(
        default=None,
        ge=1,
        description="Documents in the index from which on only known URLs are asked for (refresh-only mode).",
        examples=[50000],
    )
    documents_slack: int = Field(
        default=1000,
        ge=0,
        description="New URLs are let in again when there are so many documents less than that.",
        examples=[500],
    )
    disk_free: float = Field(
        default=0.0,
        ge=0,
        le=100,
        description="Free part of the disk of the state, in percent, below which only known URLs are asked for; "
        "0: off.",
        examples=[10],
    )
    disk_free_slack: float = Field(
        default=3.0,
        ge=0,
        le=100,
        description="New URLs are let in again when so much more is free, in percentage points.",
        examples=[5],
    )
    nodes_per_page: int = Field(
        default=1_000_000,
        ge=1,
        description="Tags and comments of an HTML page that are read; what stands behind them is left out.",
        examples=[100_000],
    )
    links_per_page: int = Field(
        default=10_000,
        ge=1,
        description="Different links of a page that are followed; further ones are left out.",
        examples=[2000],
    )
    seconds_per_page: Seconds = Field(
        default=30.0,
        gt=0,
        description="Seconds after which reading a large page (256 kB or more) is given up (status 958).",
        examples=[10],
    )
    urls_per_site: int | None = Field(
        default=1_000_000,
        ge=1,
        description="URLs of one site that are kept known; a site that makes up more is a trap.",
        examples=[200000],
    )
    query_variations: int | None = Field(
        default=20_000,
        ge=1,
        description="Different queries of one path that are kept known; more come from calendars and filters.",
        examples=[500],
    )
    url_length: int = Field(
        default=2048,
        ge=16,
        le=65536,
        description="Longest URL, in characters; longer links are dropped.",
        examples=[2048],
    )
    retries: int = Field(
        default=2, ge=0, le=100, description="Further attempts after an error that may pass.", examples=[2]
    )
    retry_delay: Seconds = Field(
        default=2.0,
        description="Seconds before the first further attempt; doubled for each one after.",
        examples=[2],
    )
