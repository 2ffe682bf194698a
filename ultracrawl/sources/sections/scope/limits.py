"""What bounds a source and its runs."""

from __future__ import annotations

from pydantic import Field

from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Seconds, Size


class LimitsSection(Section):
    """Bounds that keep one page, one site or one run from taking everything."""

    max_size: Size = Field(default=32 << 20, examples=["32 MB"])
    """Largest body that is read, after decompression."""
    timeout: Seconds = Field(default=30.0, gt=0, examples=[30])
    """Seconds after which a download is given up (status 902)."""
    redirects: int = Field(default=10, ge=0, le=100, examples=[10])
    """Redirects followed in a row."""
    pages: int | None = Field(default=None, ge=1, examples=[10000])
    """Pages fetched in one run; without a number, all."""
    pages_per_site: int | None = Field(default=None, ge=1, examples=[20000])
    """Pages fetched from one site in one run; its further URLs are not asked for."""
    seconds: Seconds | None = Field(default=None, gt=0, examples=[3600])
    """Seconds after which a run ends; the next one goes on with what is left."""
    bytes: Size | None = Field(default=None, examples=["2 GB"])
    """Bytes read in one run; what is left waits for the next one."""
    documents: int | None = Field(default=None, ge=1, examples=[50000])
    """Documents in the index from which on only known URLs are asked for (refresh-only mode)."""
    documents_slack: int = Field(default=1000, ge=0, examples=[500])
    """New URLs are let in again when there are so many documents less than that."""
    disk_free: float = Field(default=0.0, ge=0, le=100, examples=[10])
    """Free part of the disk of the state, in percent, below which only known URLs are asked for; 0: off."""
    disk_free_slack: float = Field(default=3.0, ge=0, le=100, examples=[5])
    """New URLs are let in again when so much more is free, in percentage points."""
    nodes_per_page: int = Field(default=1_000_000, ge=1, examples=[100_000])
    """Tags and comments of an HTML page that are read; what stands behind them is left out."""
    links_per_page: int = Field(default=10_000, ge=1, examples=[2000])
    """Different links of a page that are followed; further ones are left out."""
    seconds_per_page: Seconds = Field(default=30.0, gt=0, examples=[10])
    """Seconds after which reading a large page (256 kB or more) is given up (status 958)."""
    urls_per_site: int | None = Field(default=1_000_000, ge=1, examples=[200000])
    """URLs of one site that are kept known; a site that makes up more is a trap."""
    query_variations: int | None = Field(default=20_000, ge=1, examples=[500])
    """Different queries of one path that are kept known; more come from calendars and filters."""
    url_length: int = Field(default=2048, ge=16, le=65536, examples=[2048])
    """Longest URL, in characters; longer links are dropped."""
    retries: int = Field(default=2, ge=0, le=100, examples=[2])
    """Further attempts after an error that may pass."""
    retry_delay: Seconds = Field(default=2.0, examples=[2])
    """Seconds before the first further attempt; doubled for each one after."""
