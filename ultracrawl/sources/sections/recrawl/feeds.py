"""The `feeds` section of a source: which feeds are read, and what becomes of what they name."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field, ValidationInfo, model_validator

from ultracrawl.rules.recrawl.feed_links import FeedRule
from ultracrawl.sources.durations import Interval
from ultracrawl.sources.reading.rule_files import with_urls_of_files
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import FileNames, UrlList


class FeedsSection(Section):
    """RSS and Atom feeds (FAST 5.29)."""

    FETCH_OPTIONS: ClassVar = frozenset({
        "urls", "url_files", "discover", "follow_links", "ignore_rules", "delete_expired", "max_age", "max_links",
    })  # fmt: skip

    urls: UrlList = Field(default=(), examples=[["https://news.example.com/feed.xml"]])
    """Feeds that are read, beside the start URLs."""
    url_files: FileNames = Field(default=(), examples=[["seeds/feeds.txt"]])
    """Text files with further feeds, one a line; they are read again for every run."""
    discover: bool = Field(default=False, examples=[True])
    """Read every feed that links lead to as a feed, and not as a document."""
    follow_links: bool = Field(default=True, examples=[False])
    """Follow the links of pages that a feed names; if not, only the pages themselves are fetched."""
    ignore_rules: bool = Field(default=False, examples=[True])
    """Fetch pages that a feed names whatever the rules about domains, ports, paths and URIs say."""
    index: bool = Field(default=False, examples=[True])
    """Index the feed itself too, with the texts that it holds."""
    delete_expired: bool = Field(default=False, examples=[True])
    """Let pages whose time in the feed is over leave the index, unless something else leads to them."""
    max_age: Interval = Field(default=None, examples=["7 d"])
    """Time since a feed brought a page, after which it is over; None: no limit."""
    max_links: int | None = Field(default=128, ge=1, le=1_000_000, examples=[50])
    """Pages of one feed that are kept; when more come, the oldest are over. None: no limit."""

    @property
    def on(self) -> bool:
        """Whether any feed is read as one."""
        return bool(self.urls) or self.discover

    @property
    def rule(self) -> FeedRule:
        """When links are over."""
        return FeedRule(self.delete_expired, self.max_age, self.max_links)

    @model_validator(mode="before")
    @classmethod
    def _read_url_files(cls, data: Any, info: ValidationInfo) -> Any:
        return with_urls_of_files(data, "url_files", "urls", info) if isinstance(data, dict) else data
