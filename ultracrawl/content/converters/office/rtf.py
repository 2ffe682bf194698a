"""Converter for Rich Text Format."""

from __future__ import annotations

import re
from collections.abc import Iterator

from striprtf.striprtf import font_table_group, rtf_to_text, specialchars

from ultracrawl.content.charset.encodings import FALLBACK, codec_of
from ultracrawl.content.converters.conversion import ConversionError, Sink, Source

_HEAD_CHARS = 65_536
_CODEPAGE = re.compile(r"\\ansicpg(\d{3,5})")
_TEXTS = re.compile(
    r"\{\\(title|author|subject|keywords|doccomm|company|category|operator) ?((?:[^{}\\]|\\[^{}]|\\[{}])*)\}"
)
_DATES = re.compile(
    r"\{\\(creatim|revtim)\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})(?:\\hr(\d{1,2})\\min(\d{1,2}))?"
)
_PAGES = re.compile(r"\{\\nofpages(\d{1,6})\}")
_LINK = re.compile(r'HYPERLINK\s+"([^"{}]{1,4000})"')
_OMITTED = re.compile(r"\\(?:deleted|v)(?![a-z0])")
_TOKEN = re.compile(r"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'[0-9a-fA-F]{2}|\\[^a-z]|[{}]|[^\\{}]+|\\")
_NOTE = re.compile(
    r"\{\s*(?:\\\*\s*)?\\(?:footnote|annotation|shptxt|dptxbxtext|header[lrf]?|footer[lrf]?)(?![a-z])[0-9]* ?"
)
"""The start of a group that striprtf leaves out, as it stands beside the text."""
_BRACE = re.compile(r"\\[\\{}]|[{}]")
_HALF = re.compile(r"[\ud800-\udfff]")
_NAMES = {"doccomm": "description", "operator": "last_modified_by"}
_DATE_NAMES = {"creatim": "created", "revtim": "modified"}


def convert(source: Source, sink: Sink) -> None:
    """Convert text, the information group and links of fields, then notes, comments, boxes, headers and footers.

    What is deleted or hidden is left out.
    """
    rtf = source.body.decode("latin-1")
    if not rtf.startswith("{\\rtf"):
        raise ConversionError("this is not RTF")
    codepage = _CODEPAGE.search(rtf, 0, _HEAD_CHARS)
    codec = codec_of(f"cp{codepage[1]}") if codepage else ""
    _read_information(rtf[:_HEAD_CHARS], codec or FALLBACK, sink)
    if _OMITTED.search(rtf):
        rtf = "".join(_without_omitted(rtf))
    for link in _LINK.finditer(rtf):
        sink.link(link[1])
    sink.add(_text(rtf, codec or FALLBACK))
    if notes := list(_notes(rtf)):
        sink.add(_text(f"{{\\rtf1{_fonts(rtf)}{''.join(notes)}}}", codec or FALLBACK))


def _notes(rtf: str) -> Iterator[str]:
    """Yield, in order, the groups that stand beside the text; one in another follows it."""
    first = _NOTE.search(rtf)
    found, around, at = list[list[str]](), list[list[str] | None](), 0
    for brace in _BRACE.finditer(rtf, first.start() if first else len(rtf)):
        start, end = brace.span()
        outer = around[-1] if around else None
        if brace[0] == "{":
            note = _NOTE.match(rtf, start)
            if note is None:
                around.append(outer)
                continue
            if outer is not None:
                outer.append(rtf[at:start])
            found.append([])
            around.append(found[-1])
            at = note.end()
        elif brace[0] == "}" and around:
            around.pop()
            if outer is not None and (not around or around[-1] is not outer):
                outer.append(rtf[at:start])
                at = end
    for parts in found:
        yield f"{{{''.join(parts)}\\par}}"


def _fonts(rtf: str) -> str:
    """Return the table of fonts, which tells the encoding of text in each."""
    return str(font_table_group(rtf))  # type: ignore[no-untyped-call]  # has no types


def _without_omitted(rtf: str) -> Iterator[str]:
    """Yield the parts of RTF without text that a tracked change deleted, or that is hidden; with all its formatting."""
    omitted: frozenset[str] = frozenset()
    around = list[frozenset[str]]()
    for token in _TOKEN.finditer(rtf):
        text, word, number = token[0], token[1], token[2]
        if text == "{":
            around.append(omitted)
        elif text == "}":
            omitted = around.pop() if around else frozenset()
        elif word == "plain":
            omitted = frozenset()
        elif word in ("deleted", "v"):
            omitted = omitted - {word} if number == "0" else omitted | {word}
        elif omitted and (not word or word == "u" or word in specialchars) and text != "\\*":
            continue
        yield text


def _text(rtf: str, codec: str) -> str:
    text = str(rtf_to_text(rtf, encoding=codec, errors="ignore"))  # type: ignore[no-untyped-call]  # has no types
    if _HALF.search(text):  # RTF writes characters beyond the first 65,536 in two halves
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return text


def _read_information(head: str, codec: str, sink: Sink) -> None:
    for name, rtf in _TEXTS.findall(head):
        value = _text(f"{{\\rtf1 {rtf}}}", codec)
        if name == "title":
            sink.set_title(value)
        elif name == "keywords":
            sink.keywords(value)
        else:
            sink.meta(_NAMES.get(name, name), value)
    for name, year, month, day, hour, minute in _DATES.findall(head):
        sink.meta(_DATE_NAMES[name], f"{year}-{month:0>2}-{day:0>2}T{hour or 0:0>2}:{minute or 0:0>2}:00")
    if pages := _PAGES.search(head):
        sink.meta("pages", pages[1])
