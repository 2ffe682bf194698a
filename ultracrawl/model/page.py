"""What one parse of one response gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class LinkKind(StrEnum):
    """Where in a page a link stood; boundary, depth and link options may treat kinds differently."""

    A = "a"
    AREA = "area"
    FRAME = "frame"
    IFRAME = "iframe"
    IMG = "img"
    LINK = "link"
    SCRIPT = "script"
    SCRIPT_TEXT = "script text"
    """A string literal in a script that looks like a URL."""
    STYLE = "style"
    OBJECT = "object"
    EMBED = "embed"
    APPLET = "applet"
    FORM = "form"
    META = "meta"
    META_REFRESH = "meta refresh"
    COMMENT = "comment"
    LAYER = "layer"
    CARD = "card"
    GO = "go"
    TEXT = "text"
    CANONICAL = "canonical"
    ALTERNATE = "alternate"
    NEXT = "next"
    """`<link rel>` of next, prev and their like: the pages of one series."""
    SITEMAP = "sitemap"
    REDIRECT = "redirect"


class Link(NamedTuple):
    """A link as written in the page: not yet absolute, not yet canonical."""

    href: str
    kind: LinkKind
    text: str = ""
    nofollow: bool = False


@dataclass(frozen=True, slots=True)
class RobotsDirectives:
    """What META robots and X-Robots-Tag, taken together, allow for one page; the strictest wins."""

    index: bool = True
    follow: bool = True
    others: tuple[str, ...] = ()
    """Further directives kept as attributes (`nosnippet`, `noarchive`, `noai`, `unavailable_after: ...`)."""


ALLOW_ALL = RobotsDirectives()


class Section(NamedTuple):
    """A part of a text that a URL with a fragment can lead to, or that has a heading of its own."""

    offset: int
    """Where in the text it begins; it ends where the next one of its level, or a higher one, begins."""
    level: int
    """1 for the highest heading to 6; what has an id and no heading has 7 (an entry of a list of definitions, say)."""
    anchor: str
    """The id that a fragment names; empty if the part has none."""
    title: str
    """As it stands there in the text, or its beginning."""

    def stands_in(self, text: str) -> bool:
        """Tell whether a text has this part where it should; that of somebody else may not."""
        return text.startswith(self.title, self.offset)


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that one pass over one parsed tree found; URLs in it are as written in the page."""

    title: str = ""
    text: str = ""
    language: str = ""
    charset: str = ""
    base: str = ""
    """The value of `<base href>` joined to the page's URL, or empty."""
    canonical: str = ""
    refresh: tuple[float, str] | None = None
    """META refresh: seconds and target (empty target = the page itself)."""
    meta: dict[str, list[str]] = field(default_factory=dict)
    """META names and properties in lower case, with all their values."""
    robots: RobotsDirectives = ALLOW_ALL
    links: tuple[Link, ...] = ()
    picked: dict[str, list[str]] = field(default_factory=dict)
    """What rules of the source took out of its tree, by the name of the document attribute."""
    sections: tuple[Section, ...] = ()
    """The parts of the text, in their order."""
    truncated: str = ""
    """Which limit left a part of the page unread, in a few words, or empty."""
