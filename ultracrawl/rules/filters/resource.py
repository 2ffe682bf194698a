"""Resources as filters see them: named sources, the description being built, the links found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from urllib.parse import SplitResult, urlsplit

from ultracrawl.content.html.main_content import ContentRule, rule_for
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.html.rendered import merge_rendered
from ultracrawl.content.limits import DEFAULT_LIMITS, PageLimits
from ultracrawl.content.mime import sniff_type
from ultracrawl.dataclass import dataclass, field
from ultracrawl.model import NO_CAUSE, Cause, CauseCode, LinkKind, Page

UNKNOWN = "unknown"
"""The type of a resource without a declared type, in addition to the one detected in its body."""

BEFORE_FETCH = frozenset(
    {
        "csid",
        "depth",
        "enumeration filter",
        "generation filter",
        "host",
        "ip",
        "path",
        "protocol",
        "url",
    }
)
"""Sources available before the fetch; all others come from the response or from functions."""

HEADER_SOURCES = (
    "content-charset",
    "content-encoding",
    "content-length",
    "content-type",
    "expires",
    "last-modified",
)
"""Sources from response headers; META tags of the same names do not replace them."""

_HEADERS_ONLY = frozenset(HEADER_SOURCES) - {"expires", "last-modified"}
"""Sources that META tags never set: they describe the response, not the page."""

LINKS = frozenset(
    {
        LinkKind.A,
        LinkKind.AREA,
        LinkKind.LINK,
        LinkKind.FRAME,
        LinkKind.IFRAME,
        LinkKind.META_REFRESH,
        LinkKind.CANONICAL,
        LinkKind.ALTERNATE,
        LinkKind.NEXT,
    }
)
"""The link kinds that `enumerate-urls` collects."""

LOCAL_SCHEME = "file"
LOCAL_HOST = "localhost"
"""The host of `file` URLs."""
_PORTS = {"http": "80", "https": "443", "ftp": "21"}
CASELESS = frozenset({"host", "protocol", "type"})
"""Case-insensitive sources; their values are in lower case."""

_ALIASES = {"enumeration-filter": "enumeration filter", "generation-filter": "generation filter"}
_UNDETECTED = "application/octet-stream"
_SCRIPTED_TYPE = "text/html; charset=utf-8"
_Values = tuple[str, ...]


def named_host(parts: SplitResult) -> str:
    """Return the host of a URL in lower case."""
    return (parts.hostname or (LOCAL_HOST if parts.scheme == LOCAL_SCHEME else "")).lower()


def source_name(name: str) -> str:
    """Return the normalised name of a source; names are case-insensitive."""
    name = name.lower()
    return _ALIASES.get(name, name)


@dataclass(slots=True)
class Fetched:
    """A response: header values by name in lower case, and the body without transfer and content coding."""

    headers: Mapping[str, str]
    body: bytes
    converted: Page | None = None
    """The result of conversion, None if the body was not converted."""
    convertible: bool = False
    """Whether the body can still be converted: a directive that converts raises `ConversionNeededError`."""


class ConversionNeededError(Exception):
    """Raised by a directive that needs the converted body; it runs again once the body was converted."""


@dataclass(frozen=True, slots=True)
class Scripted:
    """A page after its scripts were run, and the URLs to which they navigated."""

    html: bytes
    """In UTF-8."""
    targets: tuple[str, ...] = ()
    kept: bool = False
    """Whether it replaces the body; else only its links are used."""
    url: str = ""
    """The URL that scripts gave to it; empty if they left it."""


@dataclass
class Resource:
    """A resource before filtering; each filter has a `View` of its own.

    `robot` has the sources that are the same for all resources: `csid` and the names of the two filters.
    """

    url: str
    depth: int = 0
    robot: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    """The IP address of the host; empty if unknown."""
    fetched: Fetched | None = None
    scripted: Scripted | None = None
    """The page after its scripts, if they were run."""
    robots_name: str = "ultracrawl"
    """The robot's name in META tags."""
    limits: PageLimits = DEFAULT_LIMITS
    """Limits of parsing."""
    content: tuple[ContentRule, ...] = ()
    """Rules for the main content of pages."""
    read: Page | None = None
    """The page parsed from the body, if it was parsed already."""
    coding: str = ""
    """The content coding of the response as sent; its body is kept decoded."""
    number: int = 0
    """Its number in the run, from 1; 0 until it is known whether it is fetched."""

    def note_number(self, number: int) -> None:
        """Set its number in the run."""
        self.number = number

    def note_coding(self, coding: str) -> None:
        """Set the content coding of the response."""
        self.coding = coding.strip().lower()

    def note_fetched(self, fetched: Fetched) -> None:
        """Set the response."""
        self.fetched = fetched

    def note_page(
        self,
        read: Page | None,
        scripted: Scripted | None,
        *,
        robots_name: str,
        limits: PageLimits,
        content: tuple[ContentRule, ...],
    ) -> None:
        """Set the parsed page, if there is one, and the options of parsing."""
        self.read, self.scripted = read, scripted
        self.robots_name, self.limits, self.content = robots_name, limits, content

    @cached_property
    def given(self) -> dict[str, _Values]:
        """The sources available before the fetch."""
        parts = urlsplit(self.url)
        values = {
            "depth": str(self.depth),
            "host": named_host(parts),
            "ip": self.address,
            "protocol": parts.scheme.lower(),
            "path": parts.path + (f"?{parts.query}" if parts.query else ""),
            "url": self.url,
            **self.robot,
        }
        return {name: (value,) for name, value in values.items() if value}

    @cached_property
    def from_response(self) -> dict[str, _Values]:
        """The sources that come with the response; headers override META data."""
        if self.fetched is None:
            return {}
        headers = self.fetched.headers
        sources: dict[str, _Values] = {}
        if self.content_type in ("text/html", "application/xhtml+xml"):
            sources = {
                name: tuple(values) for name, values in self.page.meta.items() if name not in _HEADERS_ONLY
            }
        sources.update((name, (headers[name],)) for name in HEADER_SOURCES if headers.get(name))
        if self.coding:
            sources["content-encoding"] = (self.coding,)
        _, _, charset = headers.get("content-type", "").partition("charset=")
        if charset:
            sources["content-charset"] = (charset.strip(" \"'"),)
        sources.setdefault("content-length", (str(len(self.fetched.body)),))
        return sources

    @property
    def declared_type(self) -> str:
        """The media type of the Content-Type header in lower case without parameters; empty if there is none."""
        header = self.fetched.headers.get("content-type", "") if self.fetched else ""
        return header.partition(";")[0].strip().lower()

    @cached_property
    def content_type(self) -> str:
        """The declared type, else the one detected in the body, else `unknown`."""
        if self.declared_type or self.fetched is None:
            return self.declared_type or UNKNOWN
        detected = sniff_type(self.fetched.body)
        return UNKNOWN if detected == _UNDETECTED else detected

    @cached_property
    def page(self) -> Page:
        """The page parsed from the body, or from the result of its scripts; parsed on first access."""
        assert self.fetched is not None
        content_type = self.fetched.headers.get("content-type", "")
        page = self.read or self._parse(self.fetched.body, content_type)
        if self.scripted is None:
            return page
        scripted = self.scripted
        rendered = self._parse(scripted.html, _SCRIPTED_TYPE, scripted.url)
        return merge_rendered(
            page, rendered, scripted.targets, url=self.url, rendered_url=scripted.url, kept=scripted.kept
        )

    def _parse(self, body: bytes, content_type: str, url: str = "") -> Page:
        assert self.fetched is not None
        x_robots_tag = self.fetched.headers.get("x-robots-tag")
        return parse_html(
            body,
            url=url or self.url,
            content_type=content_type,
            link_kinds=LINKS,
            x_robots_tag=(x_robots_tag,) if x_robots_tag else (),
            robots_name=self.robots_name,
            content=rule_for(self.url, self.content),
            limits=self.limits,
        )


class View:
    """One filter's view of one resource. Sources have text values, some several."""

    __slots__ = ("_own", "cause", "converted", "inspected", "links", "rd", "resource")

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self._own: dict[str, _Values | None] = {}
        self.rd: dict[str, list[str]] = {}
        """The fields of the resource description, each with its values."""
        self.links: list[str] = []
        """URLs found, as written."""
        self.cause = NO_CAUSE
        """Why the resource was denied; its subject is the rule under which reports count it."""
        self.converted: Page | None = None
        """The result of conversion, None if the body was not converted."""
        self.inspected = 0
        """How many directives under Data have run."""

    def note_inspected(self) -> None:
        """Note that a directive under Data has run."""
        self.inspected += 1

    def values(self, name: str) -> _Values:
        """Return all values of a source by its normalised name (`source_name`)."""
        if name in self._own:
            return self._own[name] or ()
        resource = self.resource
        known = resource.given.get(name) or (resource.from_response.get(name) if resource.fetched else None)
        if known is None:
            return (resource.content_type,) if name == "type" and resource.fetched else ()
        return tuple(value.lower() for value in known) if name in CASELESS else known

    def value(self, name: str) -> str:
        """Return the first value of a source, empty if there is none."""
        values = self.values(name)
        return values[0] if values else ""

    def assign(self, name: str, *values: str) -> None:
        """Set the values of a source."""
        self._own[name] = tuple(value.lower() for value in values) if name in CASELESS else values

    def clear(self, name: str) -> None:
        """Remove a source from this view."""
        self._own[name] = None

    def matches(self, name: str, test: Callable[[str], object]) -> bool:
        """Return whether a value of a source passes a test.

        A host is tested with and without its port, an undeclared type as the detected type and as `unknown`.
        """
        values: Iterable[str] = self.values(name) or ("",)
        if name == "host":
            values = self._hosts()
        elif (
            name == "type"
            and name not in self._own
            and self.resource.fetched
            and not self.resource.declared_type
        ):
            values = (*values, UNKNOWN)
        return any(test(value) for value in values)

    def _hosts(self) -> _Values:
        host = self.value("host")
        port = urlsplit(self.resource.url).port or _PORTS.get(self.value("protocol"), "")
        return (host, f"{host}:{port}") if port and host else (host,)

    @property
    def type(self) -> str:
        """The media type, or `unknown`."""
        return self.value("type") or UNKNOWN

    @property
    def page(self) -> Page:
        """The converted page, else the page parsed from the body."""
        return self.converted or self.resource.page

    def add_field(self, name: str, value: str) -> None:
        """Add a value to a field of the description, unless it has it."""
        values = self.rd.setdefault(name, [])
        if value not in values:
            values.append(value)

    def deny(self, rule: str, detail: str) -> None:
        """Set the cause of the denial: the rule under which reports count it, and the detail."""
        self.cause = Cause(CauseCode.FILTER, rule, detail)
