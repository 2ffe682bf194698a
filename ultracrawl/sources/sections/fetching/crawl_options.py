"""The options of a source for its crawl: scope, order, politeness, recrawling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from ultracrawl import __version__
from ultracrawl.sources.sections.completion import CompletionSection
from ultracrawl.sources.sections.fetching.errors import DeletionSection, ErrorsSection, ModificationSection
from ultracrawl.sources.sections.fetching.ftp import FtpSection
from ultracrawl.sources.sections.fetching.politeness import PolitenessSection, RobotsSection
from ultracrawl.sources.sections.fetching.priority import PrioritySection
from ultracrawl.sources.sections.log import LogSection
from ultracrawl.sources.sections.recrawl.feeds import FeedsSection, SitemapsSection
from ultracrawl.sources.sections.recrawl.refresh import OrphansSection, RefreshSection
from ultracrawl.sources.sections.scope.boundary import BoundarySection, Paths
from ultracrawl.sources.sections.scope.filters import FiltersSection
from ultracrawl.sources.sections.scope.limits import LimitsSection
from ultracrawl.sources.sections.scope.links import LinksSection
from ultracrawl.sources.sections.scope.sites import SitesSection
from ultracrawl.sources.sections.scope.urls import UrlsSection
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Depth, HeaderText


class CrawlOptions(Section):
    """The part of `SourceOptions` for crawling."""

    FETCH_OPTIONS: ClassVar = frozenset({
        "boundary", "only", "exclude", "urls", "crawling_mode", "depth", "sitemaps", "politeness", "sites",
        "priority", "limits", "refresh", "orphans", "redirects", "user_agent", "errors", "deletion", "modification",
        "completion", "log",
    })  # fmt: skip

    boundary: BoundarySection = Field(default=BoundarySection.by_default(), examples=[{"schemes": ["https"]}])
    """Which URLs belong to the source."""
    only: Paths = Field(default=(), examples=[["/docs/"]])
    """The only paths that belong to the source, on all of its hosts; the same as `boundary.paths` for the host `*`."""
    exclude: Paths = Field(default=(), examples=[["/docs/archive/"]])
    """Paths that do not belong to the source, on all of its hosts, even if `only` names them."""
    urls: UrlsSection = Field(
        default=UrlsSection.by_default(), examples=[{"remove_params": ["session", "tracking"]}]
    )
    """How URLs are canonicalised and rewritten."""
    crawling_mode: Literal["accept-all", "examine", "index-only"] = Field(
        default="accept-all", examples=["examine"]
    )
    """What a crawl does: fetch, follow links and index (`accept-all`), without indexing until `ultracrawl approve`
    (`examine`), or without following links (`index-only`).
    """
    depth: Depth = Field(default=None, examples=[10])
    """Maximum link steps from a start URL, which has depth 0; `FULL`: no limit."""
    robots: RobotsSection = Field(default=RobotsSection.by_default(), examples=[{"name": "ultracrawl"}])
    """Which directives of site owners are obeyed."""
    sitemaps: SitemapsSection = Field(
        default=SitemapsSection.by_default(), examples=[{"trust_lastmod": False}]
    )
    """Which sitemaps are read, and whether they are trusted."""
    politeness: PolitenessSection = Field(default=PolitenessSection.by_default(), examples=[{"delay": 0.5}])
    """Delays and concurrency of requests to a site."""
    sites: SitesSection = Field(default=SitesSection.by_default(), examples=[{"max_sites": 16}])
    """How many sites are crawled at once, and which hosts belong together."""
    priority: PrioritySection = Field(
        default=PrioritySection.by_default(), examples=[{"levels": 2, "pop_scheme": "pri"}]
    )
    """Priority levels of the queue."""
    limits: LimitsSection = Field(default=LimitsSection.by_default(), examples=[{"timeout": 30}])
    """Limits for one page, one site and one run."""
    refresh: RefreshSection = Field(
        default=RefreshSection.by_default(), examples=[{"mode": "scratch", "interval": "36 h"}]
    )
    """What is recrawled, and when."""
    orphans: OrphansSection = Field(default=OrphansSection.by_default(), examples=[{"after": 5}])
    """What happens to documents that nothing links to any more."""
    redirects: Literal["follow-temporary", "strict"] = Field(default="follow-temporary", examples=["strict"])
    """Redirects that may leave the boundary: temporary ones (302, 303, 307), or none."""
    user_agent: HeaderText = Field(
        default=f"ultracrawl/{__version__}", examples=["ultracrawl (+https://www.example.com/crawler)"]
    )
    """The User-Agent header. Add an address at which site owners can reach you."""
    links: LinksSection = Field(
        default=LinksSection.by_default(), examples=[{"img": True, "refresh_seconds": 5}]
    )
    """Which kinds of links are followed, and which META refreshes are redirects."""
    errors: ErrorsSection = Field(
        default=ErrorsSection.by_default(), examples=[{"http": {"5xx": "DELETE:10"}}]
    )
    """What happens to a URL and its document after errors."""
    feeds: FeedsSection = Field(
        default=FeedsSection.by_default(),
        examples=[{"urls": ["https://news.example.com/feed.xml"], "follow_links": False}],
    )
    """Which RSS and Atom feeds are read, and what happens to the pages they name."""
    post_payload: Mapping[str, str] = Field(
        default={}, repr=False, examples=[{"prefix:https://www.example.com/catalogue/": "view=full"}]
    )
    """Bodies to send by POST, by URL or by `prefix:` and a URL prefix; as form fields unless a header sets another
    type. An exact URL takes precedence, then the longest prefix.
    """
    ftp: FtpSection = Field(default=FtpSection.by_default(), examples=[{"passive": False}])
    """Connections to FTP servers."""
    deletion: DeletionSection = Field(default=DeletionSection.by_default(), examples=[{"percent": 5}])
    """How many documents may be deleted from the index in one run."""
    modification: ModificationSection = Field(
        default=ModificationSection.by_default(), examples=[{"percent": 5}]
    )
    """How many documents may become alike each other in one run."""
    filters: FiltersSection = Field(
        default=FiltersSection.by_default(), examples=[{"file": "config/filter.conf"}]
    )
    """Filters of the portal robot, which decide about links and documents."""
    completion: CompletionSection = Field(
        default=CompletionSection.by_default(), examples=[{"command": "/usr/local/bin/mail-report"}]
    )
    """What happens after a run."""
    log: LogSection = Field(
        default=LogSection.by_default(),
        examples=[{"screened": True}],
    )
    """Logs written in addition to the document table."""
