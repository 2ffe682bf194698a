"""The sections `feeds` and `sitemaps` of a source: which lists of a site are read, and whether they are trusted."""

from typing import Any, ClassVar

from pydantic import Field, ValidationInfo, model_validator

from ultracrawl.rules.recrawl.feed_links import FeedRule
from ultracrawl.sources.durations import Interval
from ultracrawl.sources.reading.rule_files import with_urls_of_files
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import FileNames, Seconds, UrlList


class FeedsSection(Section):
    """RSS and Atom feeds (FAST 5.29)."""

    LIST_OPTION: ClassVar = "urls"
    FETCH_OPTIONS: ClassVar = frozenset({
        "urls", "url_files", "discover", "follow_links", "ignore_rules", "delete_expired", "max_age", "max_links",
    })  # fmt: skip

    urls: UrlList = Field(default=(), examples=[["https://news.example.com/feed.xml"]])
    """Feeds to read, in addition to the start URLs."""
    url_files: FileNames = Field(default=(), examples=[["seeds/feeds.txt"]])
    """Text files with further feeds, one per line. They are read again for every run."""
    discover: bool = Field(default=False, examples=[True])
    """Process every feed found by links as a feed instead of a document."""
    follow_links: bool = Field(default=True, examples=[False])
    """Follow the links of pages that a feed names. If off, only these pages are fetched."""
    ignore_rules: bool = Field(default=False, examples=[True])
    """Fetch pages that a feed names even if rules about domains, ports, paths and URIs exclude them."""
    index: bool = Field(default=False, examples=[True])
    """Index the feed itself too, with its texts."""
    delete_expired: bool = Field(default=False, examples=[True])
    """Delete pages that have expired in the feed from the index, unless other links lead to them."""
    max_age: Interval = Field(default=None, examples=["7 d"])
    """Time after which a page of a feed expires. None: no limit."""
    max_links: int | None = Field(default=128, ge=1, le=1_000_000, examples=[50])
    """Maximum number of pages per feed. When there are more, the oldest expire. None: no limit."""

    @property
    def on(self) -> bool:
        """Whether feeds are processed."""
        return bool(self.urls) or self.discover

    @property
    def rule(self) -> FeedRule:
        """The compiled rule for the expiry of links."""
        return FeedRule(self.delete_expired, self.max_age, self.max_links)

    @model_validator(mode="before")
    @classmethod
    def _read_url_files(cls, data: Any, info: ValidationInfo) -> Any:
        return with_urls_of_files(data, "url_files", "urls", info) if isinstance(data, dict) else data


class SitemapsSection(Section):
    """Discovery and use of sitemaps."""

    ADVICE: ClassVar = dict.fromkeys(
        ("url", "start", "index"), "write `urls: [https://www.example.com/sitemap.xml]`"
    )
    LIST_OPTION: ClassVar = "urls"

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
