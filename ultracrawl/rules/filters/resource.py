"""What a filter sees of one resource: named sources, the description in the making, the links found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from urllib.parse import SplitResult, urlsplit

from ultracrawl.content.html.main_content import ContentRule, rule_for
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.limits import DEFAULTS, PageLimits
from ultracrawl.content.mime import sniff_type
from ultracrawl.model import NO_CAUSE, Cause, CauseCode, LinkKind, Page
from ultracrawl.model.page import Link

UNKNOWN = "unknown"
"""The type of a resource whose server named none, beside the one that its bytes show."""

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
"""Sources that there are before the resource was fetched; all others are made, or come with the answer."""

HEADER_SOURCES = (
    "content-charset",
    "content-encoding",
    "content-length",
    "content-type",
    "expires",
    "last-modified",
)
"""Sources that come with the answer; META tags of the same names do not replace them."""

_HEADERS_ONLY = frozenset(HEADER_SOURCES) - {"expires", "last-modified"}
"""Those that META tags do not give even if the header is missing: they speak of the answer, not of the page."""

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
"""Where `enumerate-urls` looks for links."""

LOCAL_SCHEME = "file"
LOCAL_HOST = "localhost"
"""The host of files, whose URLs name none."""
_PORTS = {"http": "80", "https": "443", "ftp": "21"}
CASELESS = frozenset({"host", "protocol", "type"})
"""Sources whose case means nothing: they are in lower case, and compared without it."""

_ALIASES = {"enumeration-filter": "enumeration filter", "generation-filter": "generation filter"}
_SHOWS_NONE = "application/octet-stream"
_SCRIPTED_TYPE = "text/html; charset=utf-8"
_Values = tuple[str, ...]


def named_host(parts: SplitResult) -> str:
    """Return the host of a URL in lower case."""
    return (parts.hostname or (LOCAL_HOST if parts.scheme == LOCAL_SCHEME else "")).lower()


def source_name(name: str) -> str:
    """Return the one spelling of a source's name; names are compared without case."""
    name = name.lower()
    return _ALIASES.get(name, name)


@dataclass(slots=True)
class Fetched:
    """An answer: header values by name in lower case, and the body without transfer and content coding."""

    headers: Mapping[str, str]
    body: bytes
    converted: Page | None = None
    """The page that a converter made of it, if one did."""


@dataclass(frozen=True, slots=True)
class Scripted:
    """What the scripts of a page made of it, and where they wanted to lead the reader."""

    html: bytes
    """In UTF-8."""
    targets: tuple[str, ...] = ()
    kept: bool = False
    """It is read in place of the body; if not, only its links are."""


@dataclass
class Resource:
    """A resource as both filters find it; what one of them assigns, the other does not see.

    `robot` holds the sources that are the same for all resources: `csid` and the names of the two filters.
    """

    url: str
    depth: int = 0
    robot: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    """The numeric address of the host, if it is known."""
    fetched: Fetched | None = None
    scripted: Scripted | None = None
    """What scripts made of the body, if they were run."""
    robots_name: str = "ultracrawl"
    """The name by which META tags speak to the crawler."""
    limits: PageLimits = DEFAULTS
    """How much of a page is read."""
    content: tuple[ContentRule, ...] = ()
    """What of a page is its text."""
    read: Page | None = None
    """What `page` is without scripts, if it was read already."""
    number: int = 0
    """Its number among the resources of its run, from 1; 0 until it is known whether it is fetched."""

    def note_number(self, number: int) -> None:
        """Take the how-manieth of its run it is."""
        self.number = number

    def note_fetched(self, fetched: Fetched) -> None:
        """Take the answer."""
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
        """Take what is known of the page, if anything is, and how it is read."""
        self.read, self.scripted = read, scripted
        self.robots_name, self.limits, self.content = robots_name, limits, content

    @cached_property
    def given(self) -> dict[str, _Values]:
        """The sources that exist before the fetch."""
        parts = urlsplit(self.url)
        named = {
            "depth": str(self.depth),
            "host": named_host(parts),
            "ip": self.address,
            "protocol": parts.scheme.lower(),
            "path": parts.path + (f"?{parts.query}" if parts.query else ""),
            "url": self.url,
            **self.robot,
        }
        return {name: (value,) for name, value in named.items() if value}

    @cached_property
    def found(self) -> dict[str, _Values]:
        """The sources that come with the answer; META data gives way to headers."""
        if self.fetched is None:
            return {}
        headers = self.fetched.headers
        found: dict[str, _Values] = {}
        if self.content_type in ("text/html", "application/xhtml+xml"):
            found = {
                name: tuple(values) for name, values in self.page.meta.items() if name not in _HEADERS_ONLY
            }
        found.update((name, (headers[name],)) for name in HEADER_SOURCES if headers.get(name))
        _, _, charset = headers.get("content-type", "").partition("charset=")
        if charset:
            found["content-charset"] = (charset.strip(" \"'"),)
        found.setdefault("content-length", (str(len(self.fetched.body)),))
        return found

    @property
    def named_type(self) -> str:
        """The type that the server named, without parameters and in lower case; empty if it named none."""
        named = self.fetched.headers.get("content-type", "") if self.fetched else ""
        return named.partition(";")[0].strip().lower()

    @cached_property
    def content_type(self) -> str:
        """The type that the server named, else what the bytes show, or `unknown`."""
        if self.named_type or self.fetched is None:
            return self.named_type or UNKNOWN
        found = sniff_type(self.fetched.body)
        return UNKNOWN if found == _SHOWS_NONE else found

    @cached_property
    def page(self) -> Page:
        """The body as a page, or what scripts made of it; parsed when it is first asked for."""
        assert self.fetched is not None
        content_type = self.fetched.headers.get("content-type", "")
        page = self.read or self._parsed(self.fetched.body, content_type)
        if self.scripted is None:
            return page
        made = self._parsed(self.scripted.html, _SCRIPTED_TYPE)
        links = (*made.links, *(Link(url, LinkKind.SCRIPT_TEXT) for url in self.scripted.targets))
        if not self.scripted.kept:
            return replace(page, links=links)
        # What the server forbids is not undone by a script.
        index, follow = made.robots.index and page.robots.index, made.robots.follow and page.robots.follow
        return replace(made, links=links, robots=replace(made.robots, index=index, follow=follow))

    def _parsed(self, body: bytes, content_type: str) -> Page:
        assert self.fetched is not None
        named = self.fetched.headers.get("x-robots-tag")
        return parse_html(
            body,
            url=self.url,
            content_type=content_type,
            link_kinds=LINKS,
            x_robots_tag=(named,) if named else (),
            robots_name=self.robots_name,
            content=rule_for(self.url, self.content),
            limits=self.limits,
        )


class View:
    """One filter's view of one resource. Sources are texts; some have several values."""

    __slots__ = ("_own", "cause", "converted", "links", "rd", "resource")

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self._own: dict[str, _Values | None] = {}
        self.rd: dict[str, list[str]] = {}
        """The fields of the resource description, each with its values."""
        self.links: list[str] = []
        """URLs found, as written."""
        self.cause = NO_CAUSE
        """Why the resource was denied; about a rule, as it is counted."""
        self.converted: Page | None = None
        """What the body was converted to, if it was."""

    def values(self, name: str) -> _Values:
        """Return all values of a source; the name is one that `source_name` gave."""
        if name in self._own:
            return self._own[name] or ()
        resource = self.resource
        known = resource.given.get(name) or (resource.found.get(name) if resource.fetched else None)
        if known is None:
            return (resource.content_type,) if name == "type" and resource.fetched else ()
        return tuple(value.lower() for value in known) if name in CASELESS else known

    def value(self, name: str) -> str:
        """Return the first value of a source, empty if there is none."""
        values = self.values(name)
        return values[0] if values else ""

    def assign(self, name: str, *values: str) -> None:
        """Give a source new values."""
        self._own[name] = tuple(value.lower() for value in values) if name in CASELESS else values

    def clear(self, name: str) -> None:
        """Remove a source; what is fetched does not change by it."""
        self._own[name] = None

    def matches(self, name: str, test: Callable[[str], object]) -> bool:
        """Return whether a value of a source passes a test.

        A host passes with or without its port, a type that no server named as what the bytes show or as `unknown`.
        """
        values: Iterable[str] = self.values(name) or ("",)
        if name == "host":
            values = self._hosts()
        elif (
            name == "type"
            and name not in self._own
            and self.resource.fetched
            and not self.resource.named_type
        ):
            values = (*values, UNKNOWN)
        return any(test(value) for value in values)

    def _hosts(self) -> _Values:
        host = self.value("host")
        port = urlsplit(self.resource.url).port or _PORTS.get(self.value("protocol"), "")
        return (host, f"{host}:{port}") if port and host else (host,)

    @property
    def type(self) -> str:
        """The type by which functions choose resources."""
        return self.value("type") or UNKNOWN

    @property
    def page(self) -> Page:
        """The page that the body is, or was converted to."""
        return self.converted or self.resource.page

    def add_field(self, name: str, value: str) -> None:
        """Add a value to a field of the description; the same value is kept once."""
        values = self.rd.setdefault(name, [])
        if value not in values:
            values.append(value)

    def deny(self, rule: str, detail: str) -> None:
        """Note what denies the resource, as it is counted, and why."""
        self.cause = Cause(CauseCode.FILTER, rule, detail)
