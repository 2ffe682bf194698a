"""The `sitemaps` section of a source: which sitemaps are read, and whether they are trusted."""

from __future__ import annotations

from pydantic import Field

from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Seconds, UrlList


class SitemapsSection(Section):
    """Discovery and use of sitemaps."""

    use: bool = Field(default=True, examples=[False])
    """Read sitemaps. If off, none is read, however it was found."""
    only: bool = Field(default=False, examples=[True])
    """Follow no links: besides the start URLs, only pages that sitemaps name are crawled."""
    discover: bool = Field(default=True, examples=[False])
    """Look for sitemaps in robots.txt, and at `/sitemap.xml` of start hosts if it names none."""
    urls: UrlList = Field(default=(), examples=[["https://www.example.com/pages.xml.gz"]])
    """Further sitemaps, on any host. They may name pages of every host inside."""
    trust_lastmod: bool = Field(default=True, examples=[False])
    """Do not fetch known pages that are unchanged since the last fetch according to `lastmod`."""
    ttl: Seconds = Field(default=300.0, examples=[3600])
    """Maximum age of a stored sitemap. An older one is fetched again."""
    files: int = Field(default=1000, ge=1, le=100_000, examples=[1000])
    """Maximum number of sitemap files, indexes included, read in one run."""
