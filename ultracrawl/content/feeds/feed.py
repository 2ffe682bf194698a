"""Parser for RSS 0.9x, 1.0, 2.0 and Atom feeds (no DTD, no entities)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urljoin

from ultracrawl.content.html.page import parse_html
from ultracrawl.content.mime import declared_type
from ultracrawl.content.xml import XmlRefusedError, read_xml
from ultracrawl.model.dates import read_lastmod

FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml"})
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
_DATES = ("published", "pubdate", "date", "issued", "updated", "modified")
_TEXTS = ("encoded", "content", "description", "summary")


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
    """Parse the feed at `url`; never raises. A feed with a DTD or entities has no entries."""
    reader = _Reader(url)
    try:
        problem = read_xml(body, reader, content_type=content_type)
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


@dataclass(slots=True)
class _Entry:
    """The current entry: the first value of each field, and its depth in the tree."""

    depth: int
    fields: dict[str, str] = field(default_factory=dict)


class _Reader:
    """Receives the elements of a feed; namespaces are ignored."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._depth = 0
        self._entry: _Entry | None = None
        self.known_root = False
        self.title = ""
        self.description = ""
        self.entries: list[FeedEntry] = []

    def start_element(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Handle the start of an element; return False to stop parsing."""
        self._depth += 1
        if self._depth == 1:
            self.known_root = name in _ROOTS
            return self.known_root
        if self._entry is None and name in _ENTRIES:
            self._entry = _Entry(self._depth)
        elif self._entry is not None and name == "link" and "href" in attributes:
            if attributes.get("rel", "alternate").strip().lower() == "alternate":
                self._entry.fields.setdefault("link", attributes["href"].strip())
        elif self._entry is not None and name == "guid":
            self._entry.fields["permalink"] = attributes.get("ispermalink", attributes.get("isPermaLink", ""))
        return len(self.entries) < MAX_ENTRIES

    def end_element(self, name: str, text: str) -> None:
        """Handle the end of an element: a field of the entry or of the feed, or the entry itself."""
        entry, text = self._entry, text.strip()
        if entry is not None and self._depth == entry.depth:
            self._close(entry)
            self._entry = None
        elif entry is not None and text and self._depth == entry.depth + 1:
            entry.fields.setdefault(name, text[:_MAX_FIELD_CHARS])
        elif entry is None and text and self._depth <= 3:
            if name == "title":
                self.title = self.title or plain_text(text[:_MAX_FIELD_CHARS])
            elif name in ("description", "subtitle"):
                self.description = self.description or text[:_MAX_FIELD_CHARS]
        self._depth -= 1

    def _close(self, entry: _Entry) -> None:
        fields = entry.fields
        link = fields.get("link", "")
        guid = fields.get("guid", "")
        if not link and fields.get("permalink", "").lower() != "false" and "://" in guid:
            link = guid
        try:
            url = urljoin(self._url, link) if link else ""
        except ValueError:  # the link is no URL
            return
        if not url:
            return
        text = next((fields[name] for name in _TEXTS if name in fields), "")
        dates = (read_lastmod(fields[name]).moment for name in _DATES if name in fields)
        date = next((moment.timestamp() for moment in dates if moment is not None), 0.0)
        self.entries.append(FeedEntry(url, plain_text(fields.get("title", "")), text, date))
