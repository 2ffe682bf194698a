"""The `sitemaps` section of a source: which sitemaps are read, and how far they are believed."""

from __future__ import annotations

from pydantic import Field

from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Seconds, UrlList


class SitemapsSection(Section):
    """Lists of pages that sites publish: where they are looked for, and what they decide."""

    use: bool = Field(default=True, examples=[False])
    """Read sitemaps; if not, none is read, however it was found."""
    discover: bool = Field(default=True, examples=[False])
    """Look for sitemaps in robots.txt, and at `/sitemap.xml` of start hosts where it names none."""
    urls: UrlList = Field(default=(), examples=[["https://www.example.com/pages.xml.gz"]])
    """Further sitemaps, on any host; they may name pages of every host inside."""
    trust_lastmod: bool = Field(default=True, examples=[False])
    """Do not ask for known pages that a sitemap says have not changed since they were fetched."""
    ttl: Seconds = Field(default=300.0, examples=[3600])
    """Age at which a sitemap is asked for again; until then a run takes what it said as it was stored."""
    files: int = Field(default=1000, ge=1, le=100_000, examples=[1000])
    """Most sitemap files, indexes included, that are read in one run."""
