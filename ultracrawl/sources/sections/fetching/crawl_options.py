"""The options of a source about its crawl: what is fetched, in which order, how gently and how often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from ultracrawl import __version__
from ultracrawl.sources.sections.completion import CompletionSection
from ultracrawl.sources.sections.fetching.failures import DeletionSection, ErrorsSection
from ultracrawl.sources.sections.fetching.ftp import FtpSection
from ultracrawl.sources.sections.fetching.politeness import PolitenessSection
from ultracrawl.sources.sections.fetching.priority import PrioritySection
from ultracrawl.sources.sections.fetching.robots import RobotsSection
from ultracrawl.sources.sections.log import LogSection
from ultracrawl.sources.sections.recrawl.feeds import FeedsSection
from ultracrawl.sources.sections.recrawl.refresh import OrphansSection, RefreshSection
from ultracrawl.sources.sections.recrawl.sitemaps import SitemapsSection
from ultracrawl.sources.sections.scope.boundary import BoundarySection
from ultracrawl.sources.sections.scope.filters import FiltersSection
from ultracrawl.sources.sections.scope.limits import LimitsSection
from ultracrawl.sources.sections.scope.links import LinksSection
from ultracrawl.sources.sections.scope.sites import SitesSection
from ultracrawl.sources.sections.scope.urls import UrlsSection
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Depth, HeaderText


class CrawlOptions(Section):
    """What `SourceOptions` has of options about fetching."""

    boundary: BoundarySection = Field(
        default=BoundarySection(),
        description="What belongs to the source.",
        examples=[{"schemes": ["https"]}],
    )
    urls: UrlsSection = Field(
        default=UrlsSection(),
        description="How links become URLs: canonical form and rewriting.",
        examples=[{"remove_params": ["session", "tracking"]}],
    )
    crawling_mode: Literal["accept-all", "examine", "index-only"] = Field(
        default="accept-all",
        description="What a crawl does: fetch, follow links and index (`accept-all`), all but index, until "
        "`ultracrawl approve` (`examine`), or all but follow links (`index-only`).",
        examples=["examine"],
    )
    depth: Depth = Field(
        default=None,
        description="Most link steps from a start URL, which has depth 0; `FULL` is no limit.",
        examples=[10],
    )
    robots: RobotsSection = Field(
        default=RobotsSection(),
        description="How far the wishes of site owners are followed.",
        examples=[{"name": "ultracrawl"}],
    )
    sitemaps: SitemapsSection = Field(
        default=SitemapsSection(),
        description="Which sitemaps are read, and how far they are believed.",
        examples=[{"trust_lastmod": False}],
    )
    politeness: PolitenessSection = Field(
        default=PolitenessSection(), description="How gently sites are treated.", examples=[{"delay": 0.5}]
    )
    sites: SitesSection = Field(
        default=SitesSection(),
        description="How many sites are crawled at a time, and which hosts belong together.",
        examples=[{"max_sites": 16}],
    )
    priority: PrioritySection = Field(
        default=PrioritySection(),
        description="Levels of the queue: which URLs go ahead of others.",
        examples=[{"levels": 2, "pop_scheme": "pri"}],
    )
    limits: LimitsSection = Field(
        default=LimitsSection(), description="Bounds for one page and one run.", examples=[{"timeout": 30}]
    )
    refresh: RefreshSection = Field(
        default=RefreshSection(),
        description="What is fetched again, and when.",
        examples=[{"mode": "scratch", "interval": "36 h"}],
    )
    orphans: OrphansSection = Field(
        default=OrphansSection(),
        description="What becomes of documents that nothing leads to any more.",
        examples=[{"after": 5}],
    )
    redirects: Literal["follow-temporary", "strict"] = Field(
        default="follow-temporary",
        description="Which redirects may leave the boundary: temporary ones (302, 303, 307), or none.",
        examples=["strict"],
    )
    user_agent: HeaderText = Field(
        default=f"ultracrawl/{__version__}",
        description="The User-Agent header. Add an address where site owners can reach you.",
        examples=["ultracrawl (+https://www.example.com/crawler)"],
    )
    links: LinksSection = Field(
        default=LinksSection(),
        description="Which kinds of links are followed, and what is a redirect.",
        examples=[{"img": True, "refresh_seconds": 5}],
    )
    errors: ErrorsSection = Field(
        default=ErrorsSection(),
        description="What errors mean for a URL and its document.",
        examples=[{"http": {"5xx": "DELETE:10"}}],
    )
    feeds: FeedsSection = Field(
        default=FeedsSection(),
        description="Which RSS and Atom feeds are read, and what becomes of what they name.",
        examples=[{"urls": ["https://news.example.com/feed.xml"], "follow_links": False}],
    )
    post_payload: Mapping[str, str] = Field(
        default={},
        repr=False,
        description="Bodies sent by POST, as form fields unless a header says otherwise: by URL, or by `prefix:` and "
        "the beginning of URLs. An exact URL wins, then the longest beginning.",
        examples=[{"prefix:https://www.example.com/catalogue/": "view=full"}],
    )
    ftp: FtpSection = Field(
        default=FtpSection(),
        description="How FTP servers are spoken to.",
        examples=[{"passive": False}],
    )
    deletion: DeletionSection = Field(
        default=DeletionSection(),
        description="How many documents may leave the index in one run.",
        examples=[{"percent": 5}],
    )
    filters: FiltersSection = Field(
        default=FiltersSection(),
        description="Filters of the portal robot, which decide over links and documents.",
        examples=[{"file": "config/filter.conf"}],
    )
    completion: CompletionSection = Field(
        default=CompletionSection(),
        description="What happens when a run is over.",
        examples=[{"command": "/usr/local/bin/mail-report"}],
    )
    log: LogSection = Field(
        default=LogSection(),
        description="Logs that are kept beside the document table.",
        examples=[{"screened": True}],
    )
