"""Link extraction: one reader for each kind of link, selected by the source (FAST `link_extraction`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from ada_url import join_url
from selectolax.lexbor import LexborNode

from ultracrawl.content.charset.urls import with_query_in
from ultracrawl.content.html.collector import PageCollector, as_written, declared_base
from ultracrawl.content.html.tags import FIRST_OWN_NUMBER, tag_number
from ultracrawl.model.page import Link, LinkKind

Reader = Callable[[PageCollector, LexborNode], None]

_SERIES = frozenset(
    {"next", "prev", "previous", "start", "first", "last", "contents", "index", "chapter", "up"}
)
_CONNECTION_HINTS = frozenset({"preconnect", "dns-prefetch"})
_CSS_URL = re.compile(r"""url\(\s*["']?([^"')\s]+)|@import\s+["']([^"'\n]+)""", re.IGNORECASE)
_ABSOLUTE = re.compile(r"\b(?:https?|ftp)://[^\s<>\"'`{}|\\^]+", re.IGNORECASE)
_WHOLLY_ABSOLUTE = re.compile(r"\s*((?:https?|ftp)://[^\s<>\"]+)\s*", re.IGNORECASE)
_LITERAL = re.compile(r"""["']([^"'\s<>\\]{1,2000})["']""")
_PAGE_PATH = re.compile(
    r"(?:https?://|ftp://|/[^/*]).*|[\w./-]+\.(?:html?|xhtml|php|aspx?|jspx?|cgi|pdf)(?:[?#].*)?$"
)
_TRAILING = ".,;:!?)]'\""


def read_a(collector: PageCollector, node: LexborNode) -> None:
    """Collect the link of `<a>` with its text."""
    attributes = node.attrs
    href = attributes.get("href")
    if not href or (href in collector.seen and not collector.watch_nofollow):
        return
    href = as_written(href)
    nofollow = collector.watch_nofollow and "nofollow" in (attributes.get("rel") or "").lower().split()
    if collector.is_new(href, LinkKind.A, nofollow):
        text = ""
        if collector.text_budget > 0:
            text = node.text()
            collector.text_budget -= len(text)
        collector.links.append(Link(href, LinkKind.A, " ".join(text.split()), nofollow))


def read_area(collector: PageCollector, node: LexborNode) -> None:
    """Collect the link of `<area>`; its text is the `alt` text."""
    attributes = node.attributes
    nofollow = "nofollow" in (attributes.get("rel") or "").lower().split()
    collector.add(attributes.get("href"), LinkKind.AREA, attributes.get("alt") or "", nofollow)


def read_img(collector: PageCollector, node: LexborNode) -> None:
    """Collect `src`, `srcset` and `longdesc` of `<img>`, `<source>` and `<input type=image>`."""
    attributes = node.attributes
    collector.add(attributes.get("src"), LinkKind.IMG, attributes.get("alt") or "")
    for url in parse_srcset(attributes.get("srcset") or ""):
        collector.add(url, LinkKind.IMG)
    collector.add(attributes.get("longdesc"), LinkKind.IMG)


def read_object(collector: PageCollector, node: LexborNode) -> None:
    """Collect `data` of `<object>`, resolved against its `codebase`."""
    _add_with_codebase(collector, node, "data", LinkKind.OBJECT)


def read_applet(collector: PageCollector, node: LexborNode) -> None:
    """Collect `code` and `archive` of `<applet>`, resolved against its `codebase`."""
    _add_with_codebase(collector, node, "code", LinkKind.APPLET)
    _add_with_codebase(collector, node, "archive", LinkKind.APPLET)


def read_form(collector: PageCollector, node: LexborNode) -> None:
    """Collect the `action` of a form with method GET, without its fields."""
    attributes = node.attributes
    if (attributes.get("method") or "get").strip().lower() == "get":
        collector.add(attributes.get("action"), LinkKind.FORM)


def read_style(collector: PageCollector, node: LexborNode) -> None:
    """Collect `url(...)` and `@import` in `<style>`."""
    for match in _CSS_URL.finditer(node.text()):
        collector.add(match[1] or match[2], LinkKind.STYLE)


def read_script_text(collector: PageCollector, node: LexborNode) -> None:
    """Collect string literals of a script that are absolute URLs, absolute paths or names of pages."""
    for match in _LITERAL.finditer(node.text()):
        if _PAGE_PATH.match(match[1]):
            collector.add(match[1], LinkKind.SCRIPT_TEXT)


def read_card(collector: PageCollector, node: LexborNode) -> None:
    """Collect the three event links of a WML `<card>`."""
    attributes = node.attributes
    for name in ("onenterforward", "onenterbackward", "ontimer"):
        collector.add(attributes.get(name), LinkKind.CARD)


@lru_cache(maxsize=256)
def kind_of_rel(rel: str) -> LinkKind | None:
    """Return the kind of a `<link>` by its `rel`, or None if it links to no document."""
    words = frozenset(rel.lower().split())
    if words & _CONNECTION_HINTS:
        return None
    if "canonical" in words:
        return LinkKind.CANONICAL
    if "sitemap" in words:
        return LinkKind.SITEMAP
    if "alternate" in words and "stylesheet" not in words:
        return LinkKind.ALTERNATE
    return LinkKind.NEXT if words & _SERIES else LinkKind.LINK


def wholly_absolute(content: str) -> str:
    """Return a META value if it is an absolute URL as a whole, else an empty string."""
    match = _WHOLLY_ABSOLUTE.fullmatch(content)
    return match[1] if match else ""


def plain_urls(text: str) -> Iterator[str]:
    """Yield absolute URLs in running text, without trailing punctuation."""
    for match in _ABSOLUTE.finditer(text):
        yield match[0].rstrip(_TRAILING)


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """The readers for a set of kinds: by lexbor's tag number, and by name for elements unknown to HTML."""

    kinds: frozenset[LinkKind]
    by_number: dict[int, Reader]
    by_name: dict[str, Reader]


@lru_cache(maxsize=256)
def plan_for(kinds: frozenset[LinkKind]) -> LinkPlan:
    """Return the (cached) plan for a set of kinds."""
    plan = LinkPlan(kinds, {}, {})
    for kind, names, reader in _READERS:
        if kind in kinds:
            for name in names.split():
                _register(plan, name, reader)
    return plan


@lru_cache(maxsize=256)
def link_tags(kinds: frozenset[LinkKind]) -> re.Pattern[str]:
    """Return the (cached) expression for start tags of elements that may have links of these kinds."""
    names = ["link", *(name for kind, names, _ in _READERS if kind in kinds for name in names.split())]
    return re.compile(rf"<(?:{'|'.join(names)})[\t\n\f\r />]", re.IGNORECASE)


def _register(plan: LinkPlan, name: str, reader: Reader) -> None:
    number = tag_number(name)
    if number >= FIRST_OWN_NUMBER:
        plan.by_name[name] = reader
    elif earlier := plan.by_number.get(number):
        plan.by_number[number] = both(earlier, reader)
    else:
        plan.by_number[number] = reader


def both(first: Reader, second: Reader) -> Reader:
    """Return a reader that calls two readers in order."""

    def read(collector: PageCollector, node: LexborNode) -> None:
        first(collector, node)
        second(collector, node)

    return read


def _attribute(name: str, kind: LinkKind) -> Reader:
    def read(collector: PageCollector, node: LexborNode) -> None:
        collector.add(node.attrs.get(name), kind)

    return read


def _add_with_codebase(collector: PageCollector, node: LexborNode, name: str, kind: LinkKind) -> None:
    attributes = node.attributes
    href = with_query_in(attributes.get(name) or "", collector.charset)
    codebase = attributes.get("codebase")
    if href and codebase and (base := declared_base(collector.base or collector.url, codebase)):
        with suppress(ValueError):  # the URL rules will reject the URL as written, with a reason
            href = join_url(base, href)
    collector.add(href, kind)


_READERS: tuple[tuple[LinkKind, str, Reader], ...] = (
    (LinkKind.A, "a", read_a),
    (LinkKind.AREA, "area", read_area),
    (LinkKind.FRAME, "frame", _attribute("src", LinkKind.FRAME)),
    (LinkKind.IFRAME, "iframe", _attribute("src", LinkKind.IFRAME)),
    (LinkKind.IMG, "img source input", read_img),
    (LinkKind.SCRIPT, "script", _attribute("src", LinkKind.SCRIPT)),
    (LinkKind.SCRIPT_TEXT, "script", read_script_text),
    (LinkKind.STYLE, "style", read_style),
    (LinkKind.OBJECT, "object", read_object),
    (LinkKind.EMBED, "embed", _attribute("src", LinkKind.EMBED)),
    (LinkKind.APPLET, "applet", read_applet),
    (LinkKind.FORM, "form", read_form),
    (LinkKind.LAYER, "layer ilayer", _attribute("src", LinkKind.LAYER)),
    (LinkKind.CARD, "card", read_card),
    (LinkKind.GO, "go", _attribute("href", LinkKind.GO)),
)


_SKIP = re.compile(r"[ \t\n\f\r,]*")
_URL = re.compile(r"[^ \t\n\f\r]+")
_DESCRIPTORS = re.compile(r"(?:[^,(]|\([^)]*(?:\)|$))*")


def parse_srcset(value: str) -> list[str]:
    """Return the URLs of all image candidates, in order, as written.

    Descriptors (`2x`, `480w`) are ignored, because a crawler needs all candidates; an invalid one does not invalidate
    its URL.
    """
    urls: list[str] = []
    position = 0
    while True:
        skipped = _SKIP.match(value, position)
        match = _URL.match(value, skipped.end() if skipped else position)
        if match is None:
            return urls
        url, position = match[0], match.end()
        urls.append(url.rstrip(","))
        if not url.endswith(",") and (rest := _DESCRIPTORS.match(value, position)):
            position = rest.end()
