"""The options of a source for its crawl, with the sections about errors, losses, FTP, limits and logs."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

from ultracrawl import __version__
from ultracrawl.rules.recrawl.failure_policy import DEFAULT_HTTP, FailureRule, FailureRuleError
from ultracrawl.sources.mistakes import mistake, must_match
from ultracrawl.sources.secrets import Secret
from ultracrawl.sources.sections.completion import CompletionSection
from ultracrawl.sources.sections.fetching.authentication import EntryName
from ultracrawl.sources.sections.fetching.limits import LimitsSection
from ultracrawl.sources.sections.fetching.politeness import PolitenessSection, RobotsSection
from ultracrawl.sources.sections.fetching.priority import PrioritySection
from ultracrawl.sources.sections.recrawl.feeds import FeedsSection, SitemapsSection
from ultracrawl.sources.sections.recrawl.refresh import OrphansSection, RefreshSection
from ultracrawl.sources.sections.scope.boundary import BoundarySection, Paths
from ultracrawl.sources.sections.scope.filters import FiltersSection
from ultracrawl.sources.sections.scope.links import LinksSection
from ultracrawl.sources.sections.scope.urls import UrlsSection
from ultracrawl.sources.sections.section import Editable, Section
from ultracrawl.sources.sections.sites import SitesSection
from ultracrawl.sources.values import Depth, HeaderText, HostName, PluginName
from ultracrawl.system.plugins import FEATURES

User = Annotated[
    str,
    must_match(r"[^\x00-\x20\x7f]+", "is no user of an FTP server", "write the name without blanks"),
]
UrlPath = Annotated[
    str, must_match(r"(?s)/.*", "is no path", "write it with a slash in front, as `/private/`")
]
Email = Annotated[
    str,
    must_match(
        r"[^\s@\x00-\x1f]+@[^\s@\x00-\x1f]+",
        "is no e-mail address",
        "write for example `crawler@example.com`",
    ),
]


class FtpAccountEntry(Section):
    """A user and a password, and the URLs they are for (FAST 5.20)."""

    host: HostName = Field(examples=["ftp.example.com"])
    """The only host to which user and password are sent, on any port."""
    path: UrlPath = Field(default="/", examples=["/private/"])
    """Use the account only for URLs with this path prefix. Of several matching accounts, the one with the longest
    path applies."""
    user: User = Field(examples=["mirror"])
    """The user."""
    password: Secret = Field(examples=["${FTP_PASSWORD}"])
    """The password: `${NAME}` of the environment, `file:PATH`, encrypted, or as it is."""


class FtpSection(Section):
    """Connections to FTP servers. `ftp` must be in `boundary.schemes`."""

    FETCH_OPTIONS: ClassVar = frozenset({"passive", "email", "accounts"})

    passive: bool = Field(default=True, examples=[False])
    """Passive mode: the crawler opens data connections. If off, the server opens them."""
    search_links: bool = Field(default=True, examples=[False])
    """Follow links in documents of FTP servers. Directories are always followed."""
    email: Email = Field(default="anonymous@example.com", examples=["crawler@example.com"])
    """The password of anonymous logins: an address at which server owners can reach you."""
    accounts: Mapping[EntryName, FtpAccountEntry] = Field(
        default={},
        repr=False,
        examples=[{"mirror": {"host": "ftp.example.com", "user": "mirror", "password": "${FTP_PASSWORD}"}}],
    )
    """Users and passwords, by names of your own. Without a matching one the login is anonymous."""


def _checked(actions: Mapping[str, str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for pattern, action in actions.items():
        try:
            rule = FailureRule.parse(pattern, action)
        except FailureRuleError as error:
            raise mistake(error.problem, error.instead) from None
        if rule.pattern in found:
            raise mistake(f"`{rule.pattern}` is written twice", "remove one of them")
        found[rule.pattern] = action
    return found


def _texts(value: object) -> object:
    """Accept status codes that YAML reads as numbers."""
    if not isinstance(value, dict):
        return value
    return {str(key): action for key, action in value.items()}


ErrorActions = Annotated[Mapping[str, str], BeforeValidator(_texts), AfterValidator(_checked)]


class ErrorsSection(Section):
    """What happens to a URL and its document after errors."""

    http: ErrorActions = Field(
        default=dict(DEFAULT_HTTP), examples=[{"404": "DELETE:2, RETRY:1", "5xx": "DELETE:10", "net": "KEEP"}]
    )
    """Actions by status (`404`, `40x`, `5xx`), `net`, `ttl` (timeouts) or `int` (internal processing): `KEEP`, or
    `DELETE:n` to delete after n errors in a row; `RETRY:n` is the number of retries in a run.
    """
    ftp: ErrorActions = Field(default={"550": "DELETE"}, examples=[{"550": "DELETE", "4xx": "KEEP, RETRY:2"}])
    """The same for the replies of FTP servers."""


class DeletionSection(Section):
    """The deletion guard: how many documents may be deleted from the index in one run."""

    percent: float = Field(default=10.0, ge=0, le=100, examples=[10])
    """Maximum percentage of the source's documents deleted from the index in one run. If more would be deleted, none
    is."""
    always: int = Field(default=10, ge=0, examples=[10])
    """This many documents may always be deleted, whatever their percentage."""


class ModificationSection(Section):
    """The change guard: how many documents may lose their words in one run."""

    percent: float = Field(default=10.0, ge=0, le=100, examples=[10])
    """Maximum percentage of the source's documents that may lose nearly all of their own words in one run, or to one
    text over several. If more would, the former versions stay in the index. 100: the guard is off."""
    always: int = Field(default=5, ge=0, examples=[5])
    """This many documents may always lose their words, whatever their percentage."""


class LogSection(Section):
    """Logs written in addition to the document table."""

    screened: bool = Field(default=False, examples=[True])
    """Keep a log of excluded links: URL, rule, page and time of each."""
    candidates: bool = Field(default=False, examples=[True])
    """Keep a log of all checked URLs: verdict, stage, rule, page, counter."""
    fetch: bool = Field(default=False, examples=[True])
    """Keep a log of downloads: status, type, bytes, seconds, hops, URL and outcome of each."""
    postprocess: Literal["text", "xml", "none"] = Field(default="none", examples=["xml"])
    """Keep a log of the decision about each processed item, in columns or as XML elements."""
    header: bool = Field(default=False, examples=[True])
    """Keep a log of the headers of all requests and responses. Secret ones are masked."""
    scheduler: bool = Field(default=False, examples=[True])
    """Keep a log of the URLs that adaptive refreshing selects, with all parts of their scores."""
    dsfeed: bool = Field(default=False, examples=[True])
    """Keep a log of what is sent to the index, and the results."""
    site: bool = Field(default=False, examples=[True])
    """Keep a log of the events of each site: start, idle, refresh, suspend, resume, done."""
    days: int = Field(default=0, ge=0, le=10_000, examples=[30])
    """Number of days for which logs of events are kept, each day in a file of its own. 0: the logs are not divided."""
    runs: int = Field(default=7, ge=0, le=10_000, examples=[30])
    """Number of logs of single runs to keep, the current one included; 0 writes none."""
    robot: int | None = Field(default=None, ge=0, le=5, examples=[2])
    """Verbosity of the log of a source with filters, 0 (errors) to 5. None: no log."""

    @property
    def writes_files(self) -> bool:
        """Whether any log is switched on."""
        single = (
            self.screened,
            self.candidates,
            self.fetch,
            self.header,
            self.scheduler,
            self.dsfeed,
            self.site,
        )
        return any(single) or self.postprocess != "none" or self.runs > 0 or self.robot is not None


class CrawlOptions(Section):
    """The part of `SourceOptions` for crawling."""

    FETCH_OPTIONS: ClassVar = frozenset({
        "boundary", "only", "exclude", "urls", "crawling_mode", "depth", "sitemaps", "politeness", "sites",
        "priority", "limits", "refresh", "orphans", "redirects", "user_agent", "errors", "deletion", "modification",
        "completion", "log",
    })  # fmt: skip

    boundary: BoundarySection = Field(default=BoundarySection.by_default(), examples=[{"schemes": ["https"]}])
    """Which URLs belong to the source."""
    only: Editable[Paths] = Field(default=(), examples=[["/docs/"]])
    """The only paths that belong to the source, on all of its hosts; the same as `boundary.paths` for the host `*`."""
    exclude: Editable[Paths] = Field(default=(), examples=[["/docs/archive/"]])
    """Paths that do not belong to the source, on all of its hosts, even if `only` names them."""
    urls: UrlsSection = Field(
        default=UrlsSection.by_default(), examples=[{"normalise": ["session_ids", "tracking"]}]
    )
    """How URLs are canonicalised and rewritten."""
    crawling_mode: Editable[Literal["accept-all", "examine", "index-only"]] = Field(
        default="accept-all", examples=["examine"]
    )
    """What a crawl does: fetch, follow links and index (`accept-all`), without indexing until `ultracrawl approve`
    (`examine`), or without following links (`index-only`).
    """
    depth: Editable[Depth] = Field(default=None, examples=[10])
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
    refresh: RefreshSection = Field(default=RefreshSection.by_default(), examples=[{"interval": "36 h"}])
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
    """How many documents may lose nearly all of their own words in one run."""
    features: Mapping[Annotated[str, PluginName(FEATURES)], Mapping[str, JsonValue]] = Field(
        default={}, examples=[{"visit-log": {"file": "var/visits.csv"}}]
    )
    """Parts of the crawl that plug-ins bring, as logs of their own, by name, with their options."""
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
