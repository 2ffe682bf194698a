"""Link extraction: one reader for each kind of link, selected by the source (FAST `link_extraction`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from ada_url import join_url
from selectolax.lexbor import LexborNode

from ultracrawl.content.charset.urls import with_query_in
from ultracrawl.content.html.collector import PageCollector, as_written, declared_base
from ultracrawl.content.html.jsonld import jsonld_addresses
from ultracrawl.content.html.tags import EDGE, FIRST_OWN_NUMBER, tag_number
from ultracrawl.dataclass import dataclass
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
_HEADER_LINK = (
    r"<([^<>]*+)>"
    r"""((?:[ \t]*+;[ \t]*+[^\s=;,"<>]*+(?:[ \t]*+=[ \t]*+(?:"(?:[^"\\]|\\.)*+"?|[^",;<>]*+))?+)*+)"""
)
_HEADER_PARAMETER = (
    r""";[ \t]*+([^\s=;,"<>]++)[ \t]*+(?:=[ \t]*+(?:"((?:[^"\\]|\\.)*+)"?|([^\s",;<>]*+)))?+"""
)
"""Only compiled for a response that has the header, as others below for a source that follows these kinds."""
_TRAILING = ".,;:!?)]'\""


def read_a(collector: PageCollector, node: LexborNode) -> None:
    """Collect the link of `<a>` with its text, also of one in a drawing (`xlink:href`)."""
    attributes = node.attrs
    href = attributes.get("href") or attributes.get("xlink:href")
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


def read_frame(collector: PageCollector, node: LexborNode) -> None:
    """Collect `src` and `longdesc` of `<frame>` and `<iframe>`."""
    kind, attributes = LinkKind(node.tag or ""), node.attrs
    collector.add(attributes.get("src"), kind)
    collector.add(attributes.get("longdesc"), kind)


def read_img(collector: PageCollector, node: LexborNode) -> None:
    """Collect the images of `<img>`, `<source>` and `<input type=image>`, of menus and drawings, and `longdesc`."""
    attributes = node.attributes
    collector.add(attributes.get("src"), LinkKind.IMG, attributes.get("alt") or "")
    _add_candidates(collector, attributes.get("srcset"), LinkKind.IMG)
    for name in ("longdesc", "lowsrc", "icon", "href", "xlink:href"):
        collector.add(attributes.get(name), LinkKind.IMG)


def read_media(collector: PageCollector, node: LexborNode) -> None:
    """Collect `src` and `poster` of sounds, films and subtitles."""
    attributes = node.attrs
    collector.add(attributes.get("src"), LinkKind.MEDIA)
    collector.add(attributes.get("poster"), LinkKind.MEDIA)


def read_style_attribute(collector: PageCollector, node: LexborNode) -> None:
    """Collect `url(...)` in the attribute `style`."""
    for match in _CSS_URL.finditer(node.attrs.get("style") or ""):
        collector.add(match[1] or match[2], LinkKind.BACKGROUND)


def read_ping(collector: PageCollector, node: LexborNode) -> None:
    """Collect the addresses that a browser tells about a click."""
    for href in (node.attrs.get("ping") or "").split():
        collector.add(href, LinkKind.PING)


def read_profile(collector: PageCollector, node: LexborNode) -> None:
    """Collect the vocabularies of the metadata of a page or an element."""
    attributes = node.attributes
    for name in ("profile", "itemtype", "vocab"):
        for href in (attributes.get(name) or "").split():
            collector.add(href, LinkKind.PROFILE)


def read_lazy(collector: PageCollector, node: LexborNode) -> None:
    """Collect addresses in `data-` attributes; a value that does not look like one is left out."""
    attributes = node.attributes
    for name in _LAZY:
        value = attributes.get(name) or ""
        for href in parse_srcset(value) if name.endswith("set") else (value.strip(),):
            if re.fullmatch(_PATH, href):
                collector.add(href, LinkKind.LAZY)


def read_jsonld(collector: PageCollector, node: LexborNode) -> None:
    """Collect the addresses in a script of JSON-LD."""
    if "ld+json" in (node.attrs.get("type") or "").lower():
        for href in jsonld_addresses(node.text().replace(EDGE, "")):
            collector.add(href, LinkKind.JSONLD)


def read_object(collector: PageCollector, node: LexborNode) -> None:
    """Collect `data` and `archive` of `<object>`, resolved against its `codebase`."""
    _add_with_codebase(collector, node, LinkKind.OBJECT, "data", "archive")


def read_applet(collector: PageCollector, node: LexborNode) -> None:
    """Collect the addresses of `<applet>`, resolved against its `codebase`."""
    _add_with_codebase(collector, node, LinkKind.APPLET, "code", "archive", "object", "src")


def read_form(collector: PageCollector, node: LexborNode) -> None:
    """Collect the `action` of a form with method GET, without its fields."""
    attributes = node.attributes
    collector.form_method = (attributes.get("method") or "get").strip().lower()
    if collector.form_method == "get":
        collector.add(attributes.get("action"), LinkKind.FORM)


def read_button(collector: PageCollector, node: LexborNode) -> None:
    """Collect the `formaction` of a button that sends its form by GET.

    Without `formmethod` the method is that of the last form, which is the one around it; that of a form elsewhere
    (`form=`) is not known.
    """
    attributes = node.attributes
    method = attributes.get("formmethod") or ("" if "form" in attributes else collector.form_method)
    if method.strip().lower() == "get":
        collector.add(attributes.get("formaction"), LinkKind.FORM)


def read_resources(collector: PageCollector, node: LexborNode) -> None:
    """Collect `imagesrcset` of `<link>` and `manifest` of `<html>`."""
    attributes = node.attributes
    _add_candidates(collector, attributes.get("imagesrcset"), LinkKind.LINK)
    collector.add(attributes.get("manifest"), LinkKind.LINK)


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


def links_of_header(values: Iterable[str]) -> Iterator[tuple[str, LinkKind]]:
    """Yield the targets and kinds in values of the header Link (RFC 8288), as `<link>` elements would have them.

    Of several `rel` the first one counts. A link of another resource (`anchor`) says nothing about this page.
    """
    for value in values:
        for link in re.finditer(_HEADER_LINK, value):
            parameters = dict[str, str]()
            for name, quoted, token in re.findall(_HEADER_PARAMETER, link[2]):
                parameters.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) or token)
            kind = kind_of_rel(parameters.get("rel", ""))
            if kind is not None and link[1].strip() and not parameters.get("anchor"):
                yield link[1].strip(), kind


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
    by_selector: tuple[tuple[str, Reader], ...]
    """For attributes that any element may have."""


@lru_cache(maxsize=256)
def plan_for(kinds: frozenset[LinkKind]) -> LinkPlan:
    """Return the (cached) plan for a set of kinds."""
    by_selector = tuple((selector, reader) for kind, selector, reader in _BY_SELECTOR if kind in kinds)
    plan = LinkPlan(kinds, {}, {}, by_selector)
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
        earlier = plan.by_name.get(name)
        plan.by_name[name] = both(earlier, reader) if earlier else reader
    else:
        earlier = plan.by_number.get(number)
        plan.by_number[number] = both(earlier, reader) if earlier else reader


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


def _add_candidates(collector: PageCollector, srcset: str | None, kind: LinkKind) -> None:
    for url in parse_srcset(srcset or ""):
        collector.add(url, kind)


def _add_with_codebase(collector: PageCollector, node: LexborNode, kind: LinkKind, *names: str) -> None:
    """Collect attributes that are resolved against a `codebase`, which is itself a link if there are none."""
    attributes = node.attributes
    codebase, hrefs = attributes.get("codebase"), list[str]()
    for name in names:
        value = with_query_in(attributes.get(name) or "", collector.charset)
        hrefs += value.replace(",", " ").split() if name == "archive" else [value]
    base = declared_base(collector.base or collector.url, codebase) if codebase and any(hrefs) else ""
    for href in hrefs if any(hrefs) else [codebase or ""]:
        collector.add(joined(base, href) if base and href else href, kind)


def joined(base: str, href: str) -> str:
    """Return a link joined to a base; one that cannot be as written: the URL rules reject it, with a reason."""
    try:
        url: str = join_url(base, href)
    except ValueError:
        return href
    return url


_READERS: tuple[tuple[LinkKind, str, Reader], ...] = (
    (LinkKind.A, "a", read_a),
    (LinkKind.AREA, "area", read_area),
    (LinkKind.FRAME, "frame", read_frame),
    (LinkKind.IFRAME, "iframe", read_frame),
    (LinkKind.IMG, "img source input menuitem image", read_img),
    (LinkKind.SCRIPT, "script", _attribute("src", LinkKind.SCRIPT)),
    (LinkKind.SCRIPT_TEXT, "script", read_script_text),
    (LinkKind.STYLE, "style", read_style),
    (LinkKind.OBJECT, "object", read_object),
    (LinkKind.EMBED, "embed", _attribute("src", LinkKind.EMBED)),
    (LinkKind.APPLET, "applet", read_applet),
    (LinkKind.FORM, "form", read_form),
    (LinkKind.FORM, "button input", read_button),
    (LinkKind.LAYER, "layer ilayer", _attribute("src", LinkKind.LAYER)),
    (LinkKind.CARD, "card", read_card),
    (LinkKind.GO, "go", _attribute("href", LinkKind.GO)),
    (LinkKind.LINK, "link html", read_resources),
    (
        LinkKind.BACKGROUND,
        "body table thead tbody tfoot tr td th layer ilayer",
        _attribute("background", LinkKind.BACKGROUND),
    ),
    (LinkKind.MEDIA, "audio video source track bgsound", read_media),
    (LinkKind.CITE, "blockquote q del ins", _attribute("cite", LinkKind.CITE)),
    (LinkKind.PING, "a area", read_ping),
    (LinkKind.PROFILE, "head", read_profile),
    (LinkKind.JSONLD, "script", read_jsonld),
)

_LAZY = (
    *("data-src", "data-srcset", "data-lazy-src", "data-lazy-srcset", "data-original", "data-original-set"),
    *("data-bg", "data-background-image", "data-poster", "data-href", "data-url"),
)
_PATH = r"(?=[^\s]*[./])[^\s<>\"'{}|\\^`]+"
"""What looks like an address in an attribute that may hold anything."""
_BY_SELECTOR: tuple[tuple[LinkKind, str, Reader], ...] = (
    (LinkKind.BACKGROUND, '[style*="url(" i]', read_style_attribute),
    (LinkKind.PROFILE, "[itemtype],[vocab]", read_profile),
    (LinkKind.LAZY, ",".join(f"[{name}]" for name in _LAZY), read_lazy),
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
