"""The `limits` section of a source: limits for one page, one site and one run."""

from pydantic import Field

from ultracrawl.sources.sections.section import Editable, Section
from ultracrawl.sources.values import Seconds, Size


class LimitsSection(Section):
    """Limits for one page, one site and one run."""

    max_size: Editable[Size] = Field(default=32 << 20, examples=["32 MB"])
    """Maximum size of a body, after decompression."""
    timeout: Editable[Seconds] = Field(default=30.0, gt=0, examples=[30])
    """Seconds after which a download is given up (status 902)."""
    redirects: Editable[int] = Field(default=10, ge=0, le=100, examples=[10])
    """Maximum number of redirects in a row."""
    pages: Editable[int | None] = Field(default=None, ge=1, examples=[10000])
    """Maximum number of pages fetched in one run. None: no limit."""
    pages_per_site: Editable[int | None] = Field(default=None, ge=1, examples=[20000])
    """Maximum number of pages fetched from one site in one run. None: no limit."""
    seconds: Editable[Seconds | None] = Field(default=None, gt=0, examples=[3600])
    """Seconds after which a run ends. The next one continues. Time in which it is paused counts, too."""
    bytes: Editable[Size | None] = Field(default=None, examples=["2 GB"])
    """Maximum bytes read in one run. The next one continues."""
    documents: Editable[int | None] = Field(default=None, ge=1, examples=[50000])
    """Number of documents in the index from which on only known URLs are fetched (refresh-only mode)."""
    documents_slack: Editable[int] = Field(default=1000, ge=0, examples=[500])
    """New URLs are accepted again when there are fewer than `documents` less this number, also in a later run. If it is
    not smaller than `documents`, it is a tenth of them."""
    disk_free: Editable[float] = Field(default=0.0, ge=0, le=100, examples=[10])
    """Percentage of free space on the disk of the state below which only known URLs are fetched; 0: off."""
    disk_free_slack: Editable[float] = Field(default=3.0, ge=0, le=100, examples=[5])
    """New URLs are accepted again when this much more is free, in percentage points, also in a later run."""
    nodes_per_page: Editable[int] = Field(default=1_000_000, ge=1, examples=[100_000])
    """Maximum number of tags and comments of an HTML page. The rest of the page is ignored."""
    links_per_page: Editable[int] = Field(default=25_000, ge=1, examples=[2000])
    """Maximum number of different links followed per page. Further ones are ignored."""
    seconds_per_page: Editable[Seconds] = Field(default=30.0, gt=0, examples=[10])
    """Seconds of processor time after which parsing a large page (256 kB or more) is given up (status 958). A page that
    takes ten times as long by the clock on the wall is read again at the end of the run."""
    urls_per_site: Editable[int | None] = Field(default=1_000_000, ge=1, examples=[200000])
    """Maximum number of known URLs per site. A site with more is a crawler trap. Also the maximum number of files
    and folders that are listed of a remote folder."""
    query_variations: Editable[int | None] = Field(default=20_000, ge=1, examples=[500])
    """Maximum number of known queries per path. More usually come from calendars and filters."""
    trap_pages: Editable[int | None] = Field(default=100, ge=10, examples=[50])
    """Number of pages without new content after which a pattern of URLs is a crawler trap, if it goes on growing: none
    of its new URLs is requested then. From a quarter of them on, they wait for the others of their site. None:
    no pattern is one."""
    traps_allowed: Editable[tuple[str, ...]] = Field(
        default=(), examples=[["https://www.example.com/cal?month=*"]]
    )
    """Patterns of URLs that are no crawler traps, written as `ultracrawl status` shows them."""
    url_length: Editable[int] = Field(default=2048, ge=16, le=65536, examples=[2048])
    """Maximum length of a URL, in characters. Longer links are dropped."""
    retries: Editable[int] = Field(default=2, ge=0, le=100, examples=[2])
    """Number of retries after a temporary error."""
    retry_delay: Editable[Seconds] = Field(default=2.0, examples=[2])
    """Seconds before the first retry, doubled for each further one."""
