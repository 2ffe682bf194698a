"""Copies of documents from their stored responses, and of mails from their archive, without anything that could act.

The sanitised text has no scripts, styles, forms, images or frames. A page whose publisher forbids copies has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from email.message import EmailMessage
from functools import partial
from itertools import islice
from urllib.parse import urljoin

import nh3
from markupsafe import Markup, escape

from ultracrawl.agents.port import ListedKind
from ultracrawl.content.charset.decoding import decode
from ultracrawl.content.messages import beginning_of, header_of, parts_of, read_message
from ultracrawl.content.mime import effective_type
from ultracrawl.content.reader import MARKUP_TYPES, PageHeaders, PageReader
from ultracrawl.dataclass import dataclass
from ultracrawl.errors import WorkError
from ultracrawl.index.hits.highlighting import collapse_controls
from ultracrawl.model import Page
from ultracrawl.model.answer import StoredAnswer
from ultracrawl.model.dates import epoch, parse_http_date
from ultracrawl.rules.robots.permission import IndexPermission
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.listing.setup import setup_of
from ultracrawl.service.pages.result_view import LINKED_SCHEMES, safe_link
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.kinds import load_kind
from ultracrawl.stores.project_stores import open_documents, state_to_read, stored_documents_exist

_MAX_MAIL = 20 << 20
"""Bytes of a mail that are read."""
_MAX_PARTS = 500
"""Parts of a mail that are looked at."""
_LATEST = 1 << 33
"""Seconds since 1970 after which a date is a mistake; the year 2242."""
MAX_CHARACTERS = 1_000_000
"""Characters of a document that are shown."""
_FORBIDDEN = frozenset({"noarchive", "nocache"})
_HINTS = (b"noarchive", b"nocache", b"nosnippet", b"max-snippet")
"""Words of which a page that forbids copies by META robots has one."""
_TAGS = nh3.ALLOWED_TAGS - {"area", "img", "map", "wbr"} | {"dl", "dt", "dd", "main", "section"}
_WITHOUT_CONTENT = {"script", "style", "template", "iframe", "object", "svg", "math", "canvas", "title"}
_ATTRIBUTES = {
    "*": {"id", "lang", "dir", "title"},
    "a": {"href"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "ol": {"start", "reversed", "type"},
    "li": {"value"},
    "time": {"datetime"},
}
_OWN_IDS = "copy-"
"""Put before the ids of a copy, which could otherwise be those of the page around it."""


@dataclass(frozen=True, slots=True)
class CachedCopy:
    """A copy of a document."""

    title: str
    url: str
    fetched: float
    """Seconds since 1970."""
    body: Markup
    is_truncated: bool


@dataclass(frozen=True, slots=True)
class ShownMail:
    """A mail from the archive of its source."""

    subject: str
    sender: str
    to: str
    cc: str
    date: float | None
    """Seconds since 1970; None if it says none."""
    bodies: tuple[Markup, ...]
    attachments: tuple[str, ...]
    is_truncated: bool


def find_mail(project: Project, source: DataSource, url: str) -> ShownMail | None:
    """Return a mail by its access URL; None if its source keeps no copy of it."""
    kind = load_kind(source.type)
    setup = setup_of(project, source)
    body = kind.kept_message(setup, url) if isinstance(kind, ListedKind) else None
    return None if body is None else shown_mail(body)


def shown_mail(body: bytes) -> ShownMail:
    """Return what a page shows of a mail: of alternatives the richest, attachments by their names."""
    beginning = beginning_of(body, _MAX_MAIL)
    message = read_message(beginning)
    bodies, attachments, left = list[Markup](), list[str](), MAX_CHARACTERS
    parts = list(islice(parts_of(message), _MAX_PARTS + 1))
    chosen = dict[int, str]()
    for part in parts[:_MAX_PARTS]:
        if part.is_attachment:
            attachments.append(part.name or part.content_type)
            continue
        text = part.text[: left + 1] if left > 0 else ""
        shown = sanitised(text, "") if part.is_html else Markup("<pre>{}</pre>").format(text)
        media_type = part.part.get_content_type()
        if not shown.striptags() or (
            part.choice and chosen.setdefault(part.choice, media_type) != media_type
        ):
            continue
        left -= len(text)
        bodies.append(shown)
    return ShownMail(
        _header(message, "Subject"),
        _header(message, "From"),
        _header(message, "To"),
        _header(message, "Cc"),
        _time_of(header_of(message, "Date")),
        tuple(bodies),
        tuple(attachments),
        is_truncated=left < 0 or len(body) > len(beginning) or len(parts) > _MAX_PARTS,
    )


def _header(message: EmailMessage, name: str) -> str:
    return collapse_controls(header_of(message, name)).strip()


def _time_of(date: str) -> float | None:
    found = epoch(parse_http_date(date))
    return found if 0 < found < _LATEST else None


def find_copy(project: Project, source: DataSource, url: str) -> CachedCopy | None:
    """Return the copy of a document by its display URL; None if there is none, or it may not be shown."""
    answer = dict(_stored_answers(project, source, [url])).get(url)
    page = None if answer is None else _page_of(source, answer)
    if answer is None or page is None or forbids_copies(page):
        return None
    content_type = answer.header("Content-Type")
    text, _ = decode(answer.body, content_type, source.default_charset)
    shown = text[:MAX_CHARACTERS]
    is_markup = effective_type(content_type, answer.body) in MARKUP_TYPES
    body = sanitised(shown, answer.url) if is_markup else Markup("<pre>{}</pre>").format(escape(shown))
    return CachedCopy(
        page.title, answer.url, answer.fetched, body, bool(answer.truncated) or len(text) > len(shown)
    )


def documents_with_copies(
    project: Project, documents: Iterable[tuple[str, str]]
) -> frozenset[tuple[str, str]]:
    """Return those of some documents, by source and display URL, that have a copy which may be shown.

    Documents whose stored responses cannot be read are left out.
    """
    if not project.search_page.cached_copies:
        return frozenset()
    urls: dict[str, list[str]] = {}
    for name, url in documents:
        urls.setdefault(name, []).append(url)
    found: set[tuple[str, str]] = set()
    for name in urls.keys() & project.known_sources.keys():
        source = project.known_sources[name]
        with suppress(WorkError):
            found.update(
                (name, url)
                for url, answer in _stored_answers(project, source, urls[name])
                if _may_be_shown(source, answer)
            )
    return frozenset(found)


def forbids_copies(page: Page) -> bool:
    """Return whether META robots or X-Robots-Tag forbid copies (`noarchive`) or text of the page (`nosnippet`)."""
    return IndexPermission().hides_text(page.robots) or not _FORBIDDEN.isdisjoint(page.robots.others)


def _may_be_shown(source: DataSource, answer: StoredAnswer) -> bool:
    """Return whether a stored response makes a copy; pages without a sign of directives need not be parsed for that."""
    words = answer.body.lower().replace(b"\0", b"")  # UTF-16 has a null byte beside each letter
    if answer.header("X-Robots-Tag") or any(hint in words for hint in _HINTS):
        page = _page_of(source, answer)
        return page is not None and not forbids_copies(page)
    return PageReader().reads(effective_type(answer.header("Content-Type"), answer.body))


def _page_of(source: DataSource, answer: StoredAnswer) -> Page | None:
    """Return the page of a stored response; None if its media type needs a converter."""
    content_type = answer.header("Content-Type")
    tags = [value for name, value in answer.headers if name.lower() == "x-robots-tag"]
    reader = PageReader(frozenset(), robots_name=source.robots.name, default_charset=source.default_charset)
    media_type = effective_type(content_type, answer.body)
    return reader.read(answer.body, answer.url, media_type, PageHeaders(content_type, tags))


def _stored_answers(
    project: Project, source: DataSource, urls: Iterable[str]
) -> Iterator[tuple[str, StoredAnswer]]:
    """Yield the display URLs of those documents that have a stored response, each with it. Raises `StateError`."""
    if not stored_documents_exist(project, source):
        return
    others = []
    with closing(open_documents(project, source)) as store:
        for url in urls:
            answer = store.get(url_key(url))
            if answer is not None and answer.url == url:
                yield url, answer
            else:
                others.append(url)
        if not others:
            return
        with state_to_read(project, source.name) as state:
            for url in others:
                for record in () if state is None else state.records.with_display_url(url):
                    answer = store.get(url_key(record.url))
                    if answer is not None and answer.url == record.url:
                        yield url, answer
                        break


def sanitised(html: str, url: str) -> Markup:
    """Return the text, structure and links of a document as HTML in which nothing can act; `url` is its own."""
    cleaned = nh3.clean(
        html,
        tags=_TAGS,
        clean_content_tags=_WITHOUT_CONTENT,
        attributes=_ATTRIBUTES,
        attribute_filter=partial(_rewritten, url),
        url_schemes=set(LINKED_SCHEMES),
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(cleaned)  # noqa: S704 - sanitised above


def _rewritten(base: str, _tag: str, attribute: str, value: str) -> str | None:
    """Return an attribute of a copy: links lead where those of the document lead, ids are those of the copy."""
    if attribute == "id":
        return f"{_OWN_IDS}{value}"
    if attribute != "href":
        return value
    if value.startswith("#"):
        return f"#{_OWN_IDS}{value[1:]}"
    try:
        return safe_link(urljoin(base, value.strip())) or None
    except ValueError:
        return None
