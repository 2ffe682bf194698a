"""Converter for Markdown (CommonMark), by rendering it as HTML."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from ultracrawl.content.charset.decoding import decode
from ultracrawl.content.converters.conversion import Sink, Source
from ultracrawl.content.html.page import parse_html

_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.{0,20000}?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"([A-Za-z][\w-]{0,50})\s*:\s*(\S.*)")
_HEADING = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_NAMES = {"author": "author", "description": "description", "date": "created", "subject": "subject"}


def convert(source: Source, sink: Sink) -> None:
    """Convert text and links; the title is that of the front matter, else the first heading."""
    text, _ = decode(source.body, source.content_type, source.default_charset)
    if matter := _FRONT_MATTER.match(text):
        text = text[matter.end() :]
        _read_front_matter(matter[1], sink)
    html = MarkdownIt("commonmark", {"maxNesting": 50}).enable("table").render(text)
    page = parse_html(f"<meta charset=utf-8>{html}".encode(), url="")
    if heading := _HEADING.search(html):
        sink.set_title(parse_html(f"<title>{_TAG.sub('', heading[1])}</title>".encode(), url="").title)
    for link in page.links:
        sink.link(link.href)
    sink.add(page.text)


def _read_front_matter(matter: str, sink: Sink) -> None:
    """Read simple fields; the front matter is not parsed as YAML, because it may be invalid."""
    for line in matter.splitlines():
        field = _FIELD.fullmatch(line.strip())
        if field is None:
            continue
        name, value = field[1].lower(), field[2].strip("'\"[] ")
        if name == "title":
            sink.set_title(value)
        elif name in ("lang", "language"):
            sink.set_language(value)
        elif name in ("keywords", "tags"):
            sink.keywords(value)
        elif name in _NAMES:
            sink.meta(_NAMES[name], value)
