"""What the head of a page says about the page: base, canonical, META names, robots, refresh, language."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from ultracrawl.content.html.harvest import Harvest
from ultracrawl.content.html.links import Reader, kind_of_rel, wholly_absolute
from ultracrawl.content.html.refresh import parse_refresh
from ultracrawl.content.html.tags import EDGE, tag_number
from ultracrawl.model.page import LinkKind


def read_html(found: Harvest, node: LexborNode) -> None:
    """Take the language of the page from `lang` or `xml:lang`."""
    attributes = node.attributes
    found.language = (attributes.get("lang") or attributes.get("xml:lang") or "").strip()


def read_base(found: Harvest, node: LexborNode) -> None:
    """Take the base URL; the first one counts."""
    if href := node.attrs.get("href"):
        found.set_base(href)


def read_link(found: Harvest, node: LexborNode) -> None:
    """Take the canonical URL (the first one counts) and the link, if its kind is wanted."""
    attributes = node.attributes
    href = (attributes.get("href") or "").strip()
    kind = kind_of_rel(attributes.get("rel") or "")
    if not href or kind is None:
        return
    if kind is LinkKind.CANONICAL and not found.canonical:
        found.canonical = href
    if kind in found.kinds:
        found.add(href, kind, attributes.get("title") or "")


def read_meta(found: Harvest, node: LexborNode) -> None:
    """Take the value under `name`, `property` and `http-equiv`; understand robots and refresh values."""
    attributes = node.attributes
    content = attributes.get("content")
    if content is None:
        return
    content = content.replace(EDGE, "").strip()
    pragma = (attributes.get("http-equiv") or "").strip().lower()
    if pragma == "refresh":
        _read_refresh(found, content)
        return
    found.meta_budget -= len(content)
    for written in (attributes.get("name"), attributes.get("property"), pragma):
        name = (written or "").strip().lower()
        if name and found.meta_budget >= 0:
            found.meta.setdefault(name, []).append(content)
        if name in ("robots", found.robots_name) and name:
            found.robots.append(content)
    if LinkKind.META in found.kinds and (url := wholly_absolute(content)):
        found.add(url, LinkKind.META)


def _read_refresh(found: Harvest, content: str) -> None:
    refresh = parse_refresh(content)
    if refresh is None or found.refresh is not None:
        return
    found.refresh = refresh
    if refresh[1] and LinkKind.META_REFRESH in found.kinds:
        found.add(refresh[1], LinkKind.META_REFRESH)


HEAD_READERS: dict[int, Reader] = {
    tag_number("html"): read_html,
    tag_number("base"): read_base,
    tag_number("link"): read_link,
    tag_number("meta"): read_meta,
}
"""Readers that every walk uses, whatever links are wanted."""
