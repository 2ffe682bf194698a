"""Tolerant parser for sitemaps, with a fast path for those that look like the example of the protocol."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from ultracrawl.content.charset.decoding import decode, find_charset
from ultracrawl.content.xml import XmlRefusedError, joined, read_xml
from ultracrawl.dataclass import dataclass, field
from ultracrawl.model.dates import NO_LASTMOD, LastMod, read_lastmod
from ultracrawl.system.nouns import counted

MAX_UNZIPPED = 50 * 1024 * 1024
"""Maximum bytes of a decompressed sitemap; the limit of the sitemap protocol."""

_GZIP = zlib.MAX_WBITS | 16
_MAX_MEMBERS = 1000


def is_gzip(data: bytes) -> bool:
    """Return whether `data` starts like a gzip stream."""
    return data.startswith(b"\x1f\x8b")


def unzip(data: bytes, limit: int = MAX_UNZIPPED) -> tuple[bytes, bool]:
    """Return the decompressed data, at most `limit` bytes, and whether it is truncated or broken.

    Data before an error is returned.
    """
    chunks: list[bytes] = []
    left = limit
    for _ in range(_MAX_MEMBERS):
        stream = zlib.decompressobj(_GZIP)
        try:
            chunk = stream.decompress(data, left)
        except zlib.error:
            return b"".join(chunks), True
        chunks.append(chunk)
        left -= len(chunk)
        if not stream.eof or left <= 0:
            return b"".join(chunks), True
        data = stream.unused_data
        if not is_gzip(data):
            break
    return b"".join(chunks), False


MAX_HEAD_CHARS = 20_000
"""Maximum characters before the first entry."""

_HEAD = re.compile(
    r"\ufeff?\s*(?:<\?xml\s[^<>]*\?>\s*)?(?:<\?xml-stylesheet\s[^<>]*\?>\s*|<!--(?:[^-]|-[^-])*-->\s*)*"
    r"<urlset(?:\s[^<>]*[^<>/])?>\s*"
)
_ENTRY = re.compile(
    r"<url>\s*<loc>([^<]*)</loc>\s*(?:<lastmod>([^<]*)</lastmod>\s*)?"
    r"(?:<changefreq>([^<]*)</changefreq>\s*)?(?:<priority>([^<]*)</priority>\s*)?</url>\s*"
)
_TAIL = re.compile(r"</urlset>\s*(?:<!--(?:[^-]|-[^-])*-->\s*)*\Z")
_IRREGULAR = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|&(?!amp;)|]]>")

Fields = tuple[str, str, str, str]
"""`loc`, `lastmod`, `changefreq` and `priority` of an entry as written; empty if missing."""


def regular_entries(data: bytes, content_type: str = "") -> list[Fields] | None:
    """Return the entries of a sitemap that only has plain entries in the usual order, about a microsecond each.

    None means that the XML parser has to read it: it has other elements or mistakes, or is no sitemap.
    """
    text = data.decode(find_charset(data, content_type), "replace")
    head = _HEAD.match(text, 0, MAX_HEAD_CHARS)
    if head is None or _IRREGULAR.search(text):
        return None
    entries: list[Fields] = []
    at = head.end()
    for entry in _contiguous(text, at):
        entries.append((entry[1].strip(), entry[2] or "", entry[3] or "", entry[4] or ""))
        at = entry.end()
    return entries if _TAIL.match(text, at) else None


def _contiguous(text: str, at: int) -> Iterator[re.Match[str]]:
    """Yield matches that follow each other without a gap."""
    match_entry = _ENTRY.match
    match = match_entry(text, at)
    while match is not None:
        yield match
        match = match_entry(text, match.end())


MAX_URLS = 50_000
"""Maximum entries of one file; the limit of the protocol."""

_MAX_URL_LENGTH = 8192
_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})
_STARTS_XML = ("<", "\ufeff<")


class SitemapKind(StrEnum):
    """The format of a file; `UNKNOWN` has no entries."""

    URLS = "urlset"
    INDEX = "index"
    TEXT = "text"
    RSS = "rss"
    ATOM = "atom"
    UNKNOWN = "unknown"


class SitemapUrl(NamedTuple):
    """One entry; `alternates` are pairs of language and URL."""

    loc: str
    lastmod: datetime | None = None
    changefreq: str = ""
    priority: float | None = None
    alternates: tuple[tuple[str, str], ...] = ()
    changed_by: float = 0.0
    """The latest time that `lastmod` may mean, in seconds since the epoch; 0 without `lastmod`."""


@dataclass(frozen=True, slots=True)
class Sitemap:
    """A parsed file: pages in `urls`, further sitemaps in `children`, the error in `problem`."""

    kind: SitemapKind
    urls: tuple[SitemapUrl, ...] = ()
    children: tuple[SitemapUrl, ...] = ()
    problem: str = ""


def parse_sitemap(data: bytes, url: str, content_type: str = "") -> Sitemap:
    """Parse the sitemap at `url`; never raises.

    A broken file has the entries before the error, one with a DTD or entities has none; both have a `problem`.
    """
    problem = ""
    if is_gzip(data):
        data, cut = unzip(data)
        problem = "the compressed data is broken or too large" if cut else ""
    if not data.strip():
        return Sitemap(SitemapKind.UNKNOWN, problem=problem or "the file is empty")
    text, _ = decode(data[:1000], content_type)
    if not text.lstrip().startswith(_STARTS_XML):
        return _parse_text(data, content_type, problem)
    entries = regular_entries(data, content_type)
    if entries is not None:
        return _regular(entries, problem)
    collector = _Collector(url)
    try:
        broken = read_xml(data, collector, content_type=content_type)
    except XmlRefusedError as refusal:
        return Sitemap(SitemapKind.UNKNOWN, problem=str(refusal))
    return collector.result(problem or broken)


def _regular(entries: list[Fields], problem: str) -> Sitemap:
    if len(entries) > MAX_URLS:
        problem = f"more than {MAX_URLS} entries"
    found = [_regular_url(entry) for entry in entries[:MAX_URLS]]
    urls = tuple(url for url in found if url is not None)
    return Sitemap(SitemapKind.URLS, urls, problem=problem or _skipped(len(found) - len(urls)))


def _skipped(number: int) -> str:
    """Return the problem of entries whose address is relative, or none."""
    return f"{counted(number, 'entry')} without an absolute URL" if number else ""


def _regular_url(fields: Fields) -> SitemapUrl | None:
    loc, lastmod, changefreq, priority = fields
    if "&" in loc or "#" in loc or not loc.startswith("http"):
        loc = _repaired(loc.replace("&amp;", "&"))
    if not _is_url(loc):
        return None
    moment, latest = read_lastmod(lastmod) if lastmod else NO_LASTMOD
    return SitemapUrl(loc, moment, _changefreq(changefreq), _priority(priority), (), latest)


def _parse_text(data: bytes, content_type: str, problem: str) -> Sitemap:
    text, _ = decode(data, content_type)
    lines = (line.strip() for line in text.splitlines())
    urls = tuple(SitemapUrl(loc) for loc in map(_repaired, lines) if _is_url(loc))
    if not urls:
        return Sitemap(SitemapKind.UNKNOWN, problem=problem or "neither XML nor a list of URLs")
    if len(urls) > MAX_URLS:
        problem = f"more than {MAX_URLS} entries"
    return Sitemap(SitemapKind.TEXT, urls[:MAX_URLS], problem=problem)


def _repaired(loc: str) -> str:
    """Return a location without fragment, with a scheme, and without double escapes of `&`."""
    loc = loc.partition("#")[0].replace("&amp;", "&")
    return f"http://{loc}" if loc.startswith("www.") else loc


def _is_url(text: str) -> bool:
    return text[:8].lower().startswith(("http://", "https://", "ftp://")) and len(text) <= _MAX_URL_LENGTH


_ROOTS = {
    "urlset": SitemapKind.URLS,
    "sitemapindex": SitemapKind.INDEX,
    "rss": SitemapKind.RSS,
    "rdf": SitemapKind.RSS,
    "channel": SitemapKind.RSS,
    "feed": SitemapKind.ATOM,
}
_ENTRIES = {
    SitemapKind.URLS: frozenset({"url", "sitemap"}),
    SitemapKind.INDEX: frozenset({"url", "sitemap"}),
    SitemapKind.RSS: frozenset({"item"}),
    SitemapKind.ATOM: frozenset({"entry"}),
}
_DATES = ("lastmod", "updated", "atom:updated", "modified", "pubdate", "date", "dc:date", "published")


@dataclass(slots=True)
class _Entry:
    """The current entry: the first value of each field, and its depth in the tree."""

    depth: int
    is_sitemap: bool
    fields: dict[str, str] = field(default_factory=dict)
    alternates: list[tuple[str, str]] = field(default_factory=list)


class _Collector:
    """Receives the elements of all XML formats and makes entries of them; `image:loc` is no address of a page."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._kind = SitemapKind.UNKNOWN
        self._depth = 0
        self._entry: _Entry | None = None
        self._full = False
        self._skipped = 0
        self.urls: list[SitemapUrl] = []
        self.children: list[SitemapUrl] = []

    def start_element(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Handle the start of an element; return False to stop parsing."""
        self._depth += 1
        if self._depth == 1:
            self._kind = _ROOTS.get(name.removeprefix("rdf:"), SitemapKind.UNKNOWN)
            return self._kind is not SitemapKind.UNKNOWN
        if self._entry is None and name in _ENTRIES[self._kind]:
            self._entry = _Entry(self._depth, name == "sitemap")
        elif self._entry is not None and name.rpartition(":")[2] == "link" and "href" in attributes:
            self._add_link(self._entry, attributes)
        self._full = len(self.urls) + len(self.children) >= MAX_URLS
        return not self._full

    def end_element(self, name: str, text: str) -> None:
        """Handle the end of an element: a field of the entry, or the entry itself."""
        entry = self._entry
        if entry is not None and self._depth == entry.depth:
            entry.fields.setdefault("text", text.strip())
            self._close(entry)
            self._entry = None
        elif entry is not None and self._depth == entry.depth + 1 and text.strip():
            if name == "loc" and "loc" in entry.fields:  # an end tag is missing: this is the next entry
                self._close(entry)
                self._entry = entry = _Entry(entry.depth, entry.is_sitemap)
            entry.fields.setdefault(name, text.strip())
        elif entry is not None and name == "url" and text.strip():  # `<loc><url>...</url></loc>`
            entry.fields.setdefault("loc", text.strip())
        self._depth -= 1

    def result(self, problem: str) -> Sitemap:
        """Return the parsed sitemap."""
        if self._kind is SitemapKind.UNKNOWN and not problem:
            problem = "the XML is neither a sitemap nor a feed"
        if self._full:
            problem = f"more than {MAX_URLS} entries"
        problem = problem or _skipped(self._skipped)
        return Sitemap(self._kind, tuple(self.urls), tuple(self.children), problem)

    def _add_link(self, entry: _Entry, attributes: Mapping[str, str]) -> None:
        rel = attributes.get("rel", "alternate").lower()
        if self._kind is SitemapKind.ATOM and rel == "alternate":
            entry.fields.setdefault("link", attributes["href"].strip())
        elif rel == "alternate":
            entry.alternates.append((attributes.get("hreflang", ""), attributes["href"].strip()))

    def _close(self, entry: _Entry) -> None:
        loc = _repaired(self._location(entry))
        if not _is_url(loc):
            self._skipped += 1
            return
        moment, latest = _lastmod(entry.fields)
        url = SitemapUrl(
            loc,
            moment,
            _changefreq(entry.fields.get("changefreq", "")),
            _priority(entry.fields.get("priority", "")),
            tuple(entry.alternates),
            latest,
        )
        (self.children if entry.is_sitemap else self.urls).append(url)

    def _location(self, entry: _Entry) -> str:
        fields = entry.fields
        if self._kind in (SitemapKind.URLS, SitemapKind.INDEX):
            return fields.get("loc") or fields.get("text", "")
        link = fields.get("link") or fields.get("guid", "")
        return joined(self._url, link) if link else ""


def _lastmod(fields: Mapping[str, str]) -> LastMod:
    for name in _DATES:
        if name in fields and (lastmod := read_lastmod(fields[name])).moment:
            return lastmod
    return NO_LASTMOD


def _changefreq(text: str) -> str:
    word = text.strip().lower()
    return word if word in _FREQUENCIES else ""


def _priority(text: str) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value <= 1.0 else None
