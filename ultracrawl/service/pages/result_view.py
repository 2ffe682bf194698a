"""What the templates show of an answer: hits with their links, filters with their counts, other pages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from html import unescape
from typing import Any
from urllib.parse import unquote, urlsplit

from babel import UnknownLocaleError
from babel.core import Locale
from markupsafe import Markup, escape

from ultracrawl.dataclass import dataclass, field, replace
from ultracrawl.index.hits.highlighting import collapse_controls
from ultracrawl.rules.attributes.schema import value_text
from ultracrawl.rules.urls.shown import harmless
from ultracrawl.service.pages.search_address import PAGE_SIZE, SearchAddress
from ultracrawl.sources.definition import to_source_name

SHOWN_VALUES = 5
"""Values of a filter that are shown at once; further ones are in a disclosure."""
SHOWN_FOLDERS = 3
"""Parts of the path of a hit that are shown, the last ones."""
_NEARBY_PAGES = 2
_SHOWN_UNKNOWN = 5
"""Names that are no attributes, and words that no page has, of which a page tells."""
LINKED_SCHEMES = frozenset(
    {"http", "https", "ftp", "ftps", "sftp", "file", "smb", "mailto", "news", "notes", "tel"}
)
"""Schemes of URLs that browsers, or programs that they start, can open."""
MAIL_SCHEME = "mail"
"""The scheme of mails without another URL."""
_WORD = re.compile(r"\w+")
_MARKED = re.compile(r"<mark>(.*?)</mark>", re.DOTALL)
_MARK = re.compile(r"(</?mark>)")
_MARKS = {"<mark>": Markup("<mark>"), "</mark>": Markup("</mark>")}
_APART = re.compile(r"</mark>(\s+)<mark>")
_BETWEEN = re.compile(r"[\s\-]*")
_MARKED_SPAN, _BOLD_SPAN = Markup("<mark>{}</mark>"), Markup("<b>{}</b>")
MEDIA_TYPES: Mapping[str, str] = {
    "application/pdf": "PDF",
    "application/msword": "Word",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "application/vnd.ms-excel": "Excel",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
    "application/vnd.ms-powerpoint": "PowerPoint",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
    "application/epub+zip": "EPUB",
    "application/vnd.oasis.opendocument.text": "OpenDocument",
    "application/rtf": "RTF",
    "text/markdown": "Markdown",
    "message/rfc822": "E-mail",
}
"""Names of media types that are the same in all languages."""
WEB_PAGES = frozenset({"text/html", "application/xhtml+xml"})


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section of a hit."""

    title: Markup
    url: str
    snippet: Markup


@dataclass(frozen=True, slots=True)
class HitView:
    """A hit as the page shows it."""

    url: str
    """Where its title leads to; empty if that would run a script."""
    title: Markup
    source: str
    place: str
    """The source as people read it."""
    path: str
    snippet: Markup
    sections: tuple[SectionView, ...]
    kind: str
    """The name of its format; empty for web pages."""
    changed: datetime | None
    more: SearchAddress
    has_copy: bool
    is_mail: bool
    """Whether it is a mail without a URL of its own, which a page of the service shows."""
    document: str
    """The URL of the document, as the index has it."""
    also_at: tuple[tuple[str, str], ...]
    """Link and URL of each copy that was folded into the hit; the link is empty if it would run a script.

    The whole URL, because copies may differ in any of their folders.
    """

    def copy_query(self, language: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the query of the page with its cached copy, or of that with the mail."""
        return [("source", self.source), ("url", self.document), *language]


@dataclass(frozen=True, slots=True)
class ChoiceView:
    """A value of a filter."""

    label: str
    count: int
    is_chosen: bool
    address: SearchAddress
    """The address with this value chosen, or not any more."""


@dataclass(frozen=True, slots=True)
class FilterView:
    """A filter with its values."""

    name: str
    """Its name; empty for those that every page has, which `kind` tells apart."""
    kind: str
    choices: tuple[ChoiceView, ...]

    @property
    def shown(self) -> tuple[ChoiceView, ...]:
        """The values that are shown at once: the first ones, and all that are chosen."""
        return tuple(one for at, one in enumerate(self.choices) if at < SHOWN_VALUES or one.is_chosen)

    @property
    def hidden(self) -> tuple[ChoiceView, ...]:
        """The values in the disclosure."""
        return tuple(one for one in self.choices if one not in self.shown)


@dataclass(frozen=True, slots=True)
class ResultView:
    """The results of a search as the page shows them."""

    total: int
    reading: str
    hits: tuple[HitView, ...]
    filters: tuple[FilterView, ...]
    suggestion: tuple[tuple[str, bool], ...]
    """The words of the corrected query, each with whether it was corrected."""
    suggested: SearchAddress | None
    is_cut: bool
    unknown: tuple[str, ...] = ()
    """What stands before a colon in the query and is no search attribute, the first of them."""
    known: tuple[str, ...] = ()
    """The search attributes, if there are unknown ones."""
    is_corrected: bool = False
    """Whether the hits are those of the corrected query."""
    flaws: tuple[str, ...] = ()
    """What in the query probably does not do what it was written for (`QueryFlaw`)."""
    missing: tuple[str, ...] = ()
    """Words that no page has, the first of them."""
    dating: str = ""
    """What is to be known of an order by date (`_dating`)."""
    pages: tuple[int, ...] = ()
    """Numbers of pages around the present one."""
    last_page: int = 1
    chips: tuple[tuple[str, str, SearchAddress], ...] = field(default=())
    """The chosen values: filter, value, and the address without it."""


def result_view(
    address: SearchAddress, answer: Mapping[str, Any], copies: Collection[tuple[str, str]]
) -> ResultView:
    """Return what the page shows of an answer; `copies` are the documents (source, URL) that have a cached copy."""
    filters = tuple(_filters(address, answer))
    hits = tuple(_hit(address, hit, copies) for hit in answer["hits"])
    last_page = max(1, -(-int(answer["total"]) // PAGE_SIZE))
    nearby = range(max(1, address.page - _NEARBY_PAGES), min(last_page, address.page + _NEARBY_PAGES) + 1)
    suggestion = str(answer["suggestion"])
    return ResultView(
        total=int(answer["total"]),
        reading=str(answer["reading"]),
        hits=hits if address.sort else _with_telling_dates(hits),
        dating=_dating(hits) if address.sort else "",
        filters=filters,
        suggestion=_compared(address.text, suggestion),
        suggested=address.with_text(suggestion) if suggestion else None,
        is_cut=bool(answer["exceeded"]),
        unknown=tuple(answer["unknown_attributes"][:_SHOWN_UNKNOWN]),
        known=tuple(answer["known_attributes"]),
        is_corrected=bool(answer["corrected"]),
        flaws=tuple(answer["flaws"]),
        missing=tuple(answer["unknown_words"][:_SHOWN_UNKNOWN]),
        pages=tuple(nearby),
        last_page=last_page,
        chips=tuple(
            (one.name or one.kind, choice.label, choice.address)
            for one in filters
            for choice in one.choices
            if choice.is_chosen
        ),
    )


def _dating(hits: Sequence[HitView]) -> str:
    """Return what is to be known of an order by date: no hit has one (`none`), or all have the same (`same`)."""
    moments = {hit.changed for hit in hits}
    if not hits or len(moments) > 1:
        return ""
    return "none" if None in moments else "same" if len(hits) > 1 else ""


def _with_telling_dates(hits: Sequence[HitView]) -> tuple[HitView, ...]:
    """Return the hits, without their dates if several have all the same: then it is the day when a site was built."""
    days = {hit.changed and hit.changed.date() for hit in hits}
    return tuple(replace(hit, changed=None) for hit in hits) if len(hits) > 1 == len(days) else tuple(hits)


def safe_link(url: str) -> str:
    """Return a URL that a page may link to; empty for schemes that run scripts, or that no browser opens safely."""
    shown = harmless(url)
    return shown if urlsplit(shown).scheme.lower() in LINKED_SCHEMES else ""


def path_of(url: str) -> str:
    """Return the end of the path of a URL for people, or its host if it has no path."""
    parts = urlsplit(url)
    path = collapse_controls(unquote(parts.path)).strip("/ ")
    folders = path.split("/")
    if len(folders) > SHOWN_FOLDERS:
        path = "/".join(["…", *folders[-SHOWN_FOLDERS:]])
    return path or parts.hostname or url


def place_of(source: str, url: str) -> str:
    """Return the name of a source for people: a source of `crawl URL` as its host with its port, as in the address."""
    site = urlsplit(url).netloc
    return site if ":" in site and to_source_name(site, "") == source else source


def _hit(address: SearchAddress, hit: Mapping[str, Any], copies: Collection[tuple[str, str]]) -> HitView:
    words = {word.casefold() for word in _WORD.findall(address.text)}
    words.update(
        word.casefold() for marked in _MARKED.findall(hit["snippet_html"]) for word in _WORD.findall(marked)
    )
    attributes: Mapping[str, Sequence[Any]] = hit["attributes"]
    media_type = str(next(iter(attributes.get("Mimetype", ())), "text/html")).lower()
    return HitView(
        url=safe_link(hit["url"]),
        title=marked_title(collapse_controls(hit["title"]).strip() or path_of(hit["url"]), words),
        source=hit["source"],
        place=place_of(hit["source"], hit["url"]),
        path=path_of(hit["url"]),
        snippet=marked_snippet(hit["snippet_html"]),
        sections=tuple(
            SectionView(
                marked_title(collapse_controls(part["title"]).strip() or part["anchor"], words),
                safe_link(part["url"]),
                marked_snippet("" if part["snippet_html"] == hit["snippet_html"] else part["snippet_html"]),
            )
            for part in hit["sections"]
        ),
        kind="" if media_type in WEB_PAGES else media_type_name(media_type),
        changed=_date(attributes.get("LastModifiedDate", ())),
        more=address.with_like(hit["url"]),
        has_copy=(hit["source"], hit["url"]) in copies,
        is_mail=urlsplit(hit["url"]).scheme == MAIL_SCHEME,
        document=hit["url"],
        also_at=tuple((safe_link(url), url) for url in hit["also_at"]),
    )


def marked_snippet(html: str) -> Markup:
    """Return a snippet as HTML that has no element but `mark`, whatever it was made from."""
    joined = _APART.sub(r"\1", html)
    pieces = (_MARKS.get(piece) or escape(unescape(piece)) for piece in _MARK.split(joined))
    return Markup("").join(pieces)


def marked_title(title: str, words: Collection[str]) -> Markup:
    """Return a title as escaped HTML in which these words are marked, neighbours together."""
    spans: list[tuple[int, int]] = []
    for match in _WORD.finditer(title):
        if match[0].casefold() not in words:
            continue
        if spans and _BETWEEN.fullmatch(title, spans[-1][1], match.start()):
            spans[-1] = spans[-1][0], match.end()
        else:
            spans.append(match.span())
    return _with_spans(title, spans, _MARKED_SPAN)


def marked_beginnings(title: str, typed: str) -> Markup:
    """Return a title as escaped HTML in which the beginnings of words that were typed are bold."""
    words = sorted(set(_WORD.findall(typed.casefold())), key=len, reverse=True)
    found = re.finditer(rf"\b(?:{'|'.join(words)})", title, re.IGNORECASE) if words else ()
    return _with_spans(title, [match.span() for match in found], _BOLD_SPAN)


def _with_spans(text: str, spans: Iterable[tuple[int, int]], span: Markup) -> Markup:
    pieces, end = [], 0
    for first, last in spans:
        pieces += [escape(text[end:first]), span.format(text[first:last])]
        end = last
    return Markup("").join([*pieces, escape(text[end:])])


def media_type_name(media_type: str) -> str:
    """Return the name of a media type for people."""
    return MEDIA_TYPES.get(media_type, media_type.rpartition("/")[2].removeprefix("x-").upper()[:12])


def language_name(code: str) -> str:
    """Return the name of a language in itself; the code if it is not known."""
    try:
        name = Locale.parse(code, sep="-").get_display_name()
    except (UnknownLocaleError, ValueError):
        return code
    return name[:1].upper() + name[1:] if name else code


def _filters(address: SearchAddress, answer: Mapping[str, Any]) -> Iterable[FilterView]:
    total = int(answer["total"])
    yield from _named_filter("group", answer["groups"], address.groups, address.with_group, total)
    yield from _named_filter("source", answer["sources"], address.sources, address.with_source, total)
    names = answer.get("attribute_names", {})
    for name, values in answer["facets"].items():
        chosen = [value for attribute, value in address.filters if attribute == name]
        counts = {value_text(one["value"]): one for one in values}
        known = {text.casefold() for text in counts}
        rows = [
            *counts.items(),
            *((value, {"count": 0}) for value in chosen if value.casefold() not in known),
        ]
        folded = {value.casefold() for value in chosen}
        choices = tuple(
            ChoiceView(
                str(one.get("display_name") or _value_label(name, text)),
                int(one["count"]),
                text.casefold() in folded,
                address.with_filter(name, text),
            )
            for text, one in rows
        )
        if _is_useful(choices, total):
            kind = name if name not in names or names[name] == name else ""
            yield FilterView(names.get(name, name) if kind != name else "", kind or name, choices)


def _named_filter(
    kind: str, values: Iterable[Mapping[str, Any]], chosen: Sequence[str], with_name: Any, total: int
) -> Iterable[FilterView]:
    counts = {str(one["value"]): one for one in values}
    rows = [*counts.items(), *((name, {"count": 0}) for name in chosen if name not in counts)]
    choices = tuple(
        ChoiceView(str(one.get("display_name") or name), int(one["count"]), name in chosen, with_name(name))
        for name, one in rows
    )
    if _is_useful(choices, total):
        yield FilterView("", kind, choices)


def _is_useful(choices: Sequence[ChoiceView], total: int) -> bool:
    """Return whether a filter can narrow this number of results, or does."""
    return len(choices) > 1 or any(one.is_chosen or one.count < total for one in choices)


def _value_label(attribute: str, value: str) -> str:
    if attribute == "Language":
        return language_name(value)
    if attribute == "Mimetype" and value.lower() not in WEB_PAGES:
        return media_type_name(value.lower())
    return value


def _date(values: Sequence[Any]) -> datetime | None:
    try:
        return datetime.fromisoformat(str(values[0])) if values else None
    except ValueError:
        return None


def _compared(typed: str, corrected: str) -> tuple[tuple[str, bool], ...]:
    known = set(typed.casefold().split())
    return tuple((word, word.casefold() not in known) for word in corrected.split())
