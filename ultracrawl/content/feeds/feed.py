"""Parser for feeds: RSS 0.9x, 1.0, 2.0, Atom 0.3 and 1.0, and JSON Feed 1.

XML is read without the declarations of a DTD, and without entities.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from ultracrawl.content.html.page import parse_html
from ultracrawl.content.mime import declared_type
from ultracrawl.content.xml import XmlElement, XmlRefusedError, joined, read_tree
from ultracrawl.dataclass import dataclass
from ultracrawl.model.dates import read_lastmod

FEED_TYPES = frozenset(
    {
        "application/rss+xml",
        "application/atom+xml",
        "application/rdf+xml",
        "application/feed+json",
    }
)
XML_TYPES = frozenset({"text/xml", "application/xml", "application/x-rss+xml", "text/rss+xml"})
MAX_ENTRIES = 10_000
"""Maximum entries of one feed."""

_MAX_FIELD_CHARS = 20_000
_HEAD_BYTES = 4096
_ROOT = re.compile(
    # The atomic group `(?>` prevents exponential backtracking over many comments.
    rb"(?:\s|<\?[^>]*\?>|<!--(?>.*?-->)|<!doctype[^>\[]*>)*<(?:[\w-]+:)?(?:rss|feed|rdf|channel)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_ROOTS = frozenset({"rss", "feed", "rdf", "channel"})
_ENTRIES = frozenset({"item", "entry"})
_TITLES = ("title", "atom:title", "dc:title", "media:title", "itunes:title")
_DATES = ("published", "pubdate", "issued", "atom:published", "dcterms:issued", "dc:date", "date")
_LATER_DATES = ("dcterms:created", "created", "updated", "atom:updated", "modified", "dcterms:modified")
_TEXTS = (
    "content:encoded",
    "content",
    "atom:content",
    "xhtml:body",
    "description",
    "summary",
    "atom:summary",
)
_OTHER_TEXTS = ("body", "fullitem", "dc:description", "itunes:summary", "media:description")
"""Where a field of an entry may stand; the first that has something is taken."""
_FEED_FIELDS = frozenset({"title", "dc:title", "description", "subtitle", "tagline"})
_PLAIN = frozenset({"text", "text/plain"})


class FeedEntry(NamedTuple):
    """An entry of a feed; `date` in seconds since the epoch, 0 if unknown."""

    url: str
    title: str = ""
    text: str = ""
    date: float = 0.0


@dataclass(frozen=True, slots=True)
class Feed:
    """A parsed feed; `problem` is the error at which parsing ended, if any."""

    title: str = ""
    description: str = ""
    entries: tuple[FeedEntry, ...] = ()
    problem: str = ""

    @property
    def text(self) -> str:
        """The text for the index: description, then title and text of each entry."""
        parts = [self.description, *(part for entry in self.entries for part in (entry.title, entry.text))]
        return "\n".join(map(plain_text, filter(None, parts)))


def is_feed(content_type: str, body: bytes) -> bool:
    """Whether a response is a feed: by its media type, or by the root element if it may be XML."""
    declared = declared_type(content_type)
    if declared in FEED_TYPES:
        return True
    may_be = not declared or declared in XML_TYPES or declared in ("text/plain", "application/octet-stream")
    return may_be and _ROOT.match(body[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf")) is not None


def parse_feed(body: bytes, url: str, content_type: str = "") -> Feed:
    """Parse the feed at `url`; never raises. One whose DTD declares something has no entries."""
    if body[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return _parse_json(body, url)
    reader = _Reader()
    try:
        problem = read_tree(body, reader, url, content_type=content_type)
    except XmlRefusedError as refusal:
        return Feed(problem=str(refusal))
    if not reader.known_root:
        problem = problem or "the XML is not a feed"
    elif len(reader.entries) >= MAX_ENTRIES:
        problem = f"more than {MAX_ENTRIES} entries"
    return Feed(reader.title, reader.description, tuple(reader.entries), problem)


def plain_text(markup: str) -> str:
    """Return the text of a title or description, which may be HTML."""
    if "<" not in markup and "&" not in markup:
        return " ".join(markup.split())
    page = parse_html(markup.encode("utf-8", "replace"), url="", content_type="text/html; charset=utf-8")
    return " ".join(page.text.split())


def _markup(element: XmlElement) -> str:
    """Return the content of an element as HTML: escaped, as elements, or coded (RFC 4287, 3.1.1 and 4.1.3.3)."""
    kind = element.attributes.get("type", "").strip().lower()
    if element.children:
        return "".join(_as_html(element))[:_MAX_FIELD_CHARS]
    text = element.text
    is_foreign = "/" in kind and not kind.startswith("text/") and not kind.endswith(("xml", "html"))
    if element.attributes.get("mode", "").strip().lower() == "base64" or (is_foreign and text):
        text = _decoded(text)
    return (escape(text, quote=False) if kind in _PLAIN else text)[:_MAX_FIELD_CHARS]


def _as_html(element: XmlElement) -> Iterator[str]:
    """Yield the texts and tags in an element, however deep it is."""
    waiting = [iter(element.parts)]
    names: list[str] = []
    while waiting:
        part = next(waiting[-1], None)
        if part is None:
            waiting.pop()
            if names:
                yield f"</{names.pop()}>"
        elif isinstance(part, str):
            yield escape(part, quote=False)
        else:
            name = part.name.rpartition(":")[2]
            yield f"<{name}>"
            names.append(name)
            waiting.append(iter(part.parts))


def _decoded(text: str) -> str:
    try:
        return b64decode(text, validate=False).decode()
    except ValueError:
        return ""


class _Reader:
    """Receives the elements of a feed; those of an entry's own kind come before those of others."""

    def __init__(self) -> None:
        self._entry: XmlElement | None = None
        self.known_root = False
        self.title = ""
        self.description = ""
        self.entries: list[FeedEntry] = []

    def start_tree(self, element: XmlElement, around: Sequence[XmlElement]) -> bool:
        """Handle the start of an element; return False to stop parsing."""
        if not around:
            self.known_root = element.name.removeprefix("rdf:") in _ROOTS
            return self.known_root
        if self._entry is None and element.name in _ENTRIES:
            self._entry = element
        return len(self.entries) < MAX_ENTRIES

    def end_tree(self, element: XmlElement, around: Sequence[XmlElement]) -> bool:
        """Handle the end of an element: an entry, a field of the feed, or a part of one of them."""
        if element is self._entry:
            self._entry = None
            if (entry := _entry(element)) is not None:
                self.entries.append(entry)
            return False
        if self._entry is not None or any(one.name in _FEED_FIELDS for one in around[1:3]):
            return True
        if around and around[-1].name.removeprefix("rdf:") in _ROOTS:
            if element.name in ("title", "dc:title"):
                self.title = self.title or plain_text(_markup(element))
            elif element.name in _FEED_FIELDS:
                self.description = self.description or _markup(element)
        return False


def _entry(element: XmlElement) -> FeedEntry | None:
    """Return the entry that an element is; None if it has no address."""
    fields: dict[str, list[XmlElement]] = {}
    inner = [part for child in element.children if child.name == "media:group" for part in child.children]
    for part in (*element.children, *inner):
        fields.setdefault(part.name, []).append(part)
    url = _address(element, fields)
    if not url:
        return None
    dates = (
        read_lastmod(one.text).moment for name in (*_DATES, *_LATER_DATES) for one in fields.get(name, ())
    )
    date = next((moment.timestamp() for moment in dates if moment is not None), 0.0)
    return FeedEntry(url, plain_text(_first(fields, _TITLES)), _first(fields, (*_TEXTS, *_OTHER_TEXTS)), date)


def _first(fields: Mapping[str, Sequence[XmlElement]], names: Iterable[str]) -> str:
    found = (_markup(one).strip() for name in names for one in fields.get(name, ()))
    return next(filter(None, found), "")


def _address(element: XmlElement, fields: Mapping[str, Sequence[XmlElement]]) -> str:
    """Return where an entry leads: its link, the identifier that is one, or what RDF says that it is about."""
    for name in ("link", "atom:link"):
        for one in fields.get(name, ()):
            relation = one.attributes.get("rel", "alternate").strip().lower().rpartition("/")[2]
            link = one.attributes.get("href", "" if name != "link" else one.text).strip()
            if link and relation == "alternate":
                return joined(one.base, link)
    about = next((value for name, value in element.attributes.items() if name.lower() == "rdf:about"), "")
    names = [one.text for name in ("guid", "id") for one in fields.get(name, ()) if _is_permanent(one)]
    return next((one for one in (*names, about.strip()) if "://" in one), "")


def _is_permanent(element: XmlElement) -> bool:
    said = next((text for name, text in element.attributes.items() if name.lower() == "ispermalink"), "")
    return said.strip().lower() != "false"


def _parse_json(body: bytes, url: str) -> Feed:
    """Parse a JSON Feed (version 1.1); the address of an item is its `url`, else `external_url`, else its `id`."""
    try:
        feed = json.loads(body.decode("utf-8-sig", "replace"), parse_int=str)  # a number may have any length
    except (ValueError, RecursionError):
        return Feed(problem="broken JSON")
    items = feed.get("items")
    if not isinstance(items, list):
        return Feed(problem="the JSON is not a feed")
    problem = f"more than {MAX_ENTRIES} entries" if len(items) > MAX_ENTRIES else ""
    entries = (_item(one, url) for one in items[:MAX_ENTRIES] if isinstance(one, dict))
    found = tuple(entry for entry in entries if entry is not None)
    return Feed(_text(feed, "title"), _text(feed, "description"), found, problem)


def _item(item: Mapping[str, object], url: str) -> FeedEntry | None:
    link = _text(item, "url") or _text(item, "external_url")
    if not link and "://" in (name := _text(item, "id")):
        link = name
    place = joined(url, link) if link else ""
    if not place:
        return None
    text = item.get("content_html") or escape(
        _text(item, "content_text") or _text(item, "summary"), quote=False
    )
    moment = read_lastmod(_text(item, "date_published") or _text(item, "date_modified")).moment
    date = moment.timestamp() if moment is not None else 0.0
    return FeedEntry(
        place, _text(item, "title"), text[:_MAX_FIELD_CHARS] if isinstance(text, str) else "", date
    )


def _text(values: Mapping[str, object], name: str) -> str:
    """Return a text of JSON in one line; empty if there is none."""
    value = values.get(name)
    return " ".join(value[:_MAX_FIELD_CHARS].split()) if isinstance(value, str) else ""
