"""Readers for the head of a page: base, canonical URL, META names, robots, refresh, language."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from ultracrawl.content.html.collector import PageCollector
from ultracrawl.content.html.links import Reader, kind_of_rel, wholly_absolute
from ultracrawl.content.html.refresh import parse_refresh
from ultracrawl.content.html.tags import EDGE, tag_number
from ultracrawl.model.page import LinkKind


def read_html(collector: PageCollector, node: LexborNode) -> None:
    """Read the language of the page from `lang` or `xml:lang`."""
    attributes = node.attributes
    collector.language = (attributes.get("lang") or attributes.get("xml:lang") or "").strip()


def read_base(collector: PageCollector, node: LexborNode) -> None:
    """Read the base URL; the first one counts."""
    if href := node.attrs.get("href"):
        collector.set_base(href)


def read_link(collector: PageCollector, node: LexborNode) -> None:
    """Read the canonical URL (the first one counts), and the link if its kind is collected."""
    attributes = node.attributes
    href = (attributes.get("href") or "").strip()
    kind = kind_of_rel(attributes.get("rel") or "")
    if not href or kind is None:
        return
    if kind is LinkKind.CANONICAL and not collector.canonical:
        collector.canonical = href
    if kind in collector.kinds:
        collector.add(href, kind, attributes.get("title") or "")


def read_meta(collector: PageCollector, node: LexborNode) -> None:
    """Read the value under `name`, `property` and `http-equiv`; robots and refresh values are parsed."""
    attributes = node.attributes
    content = attributes.get("content")
    if content is None:
        return
    content = content.replace(EDGE, "").strip()
    pragma = (attributes.get("http-equiv") or "").strip().lower()
    if pragma == "refresh":
        _read_refresh(collector, content)
        return
    collector.meta_budget -= len(content)
    for attribute in (attributes.get("name"), attributes.get("property"), pragma):
        name = (attribute or "").strip().lower()
        if name and collector.meta_budget >= 0:
            collector.meta.setdefault(name, []).append(content)
        if name in ("robots", collector.robots_name) and name:
            collector.robots.append(content)
    if LinkKind.META in collector.kinds and (url := wholly_absolute(content)):
        collector.add(url, LinkKind.META)


def _read_refresh(collector: PageCollector, content: str) -> None:
    refresh = parse_refresh(content)
    if refresh is None or collector.refresh is not None:
        return
    collector.refresh = refresh
    if refresh[1] and LinkKind.META_REFRESH in collector.kinds:
        collector.add(refresh[1], LinkKind.META_REFRESH)


HEAD_READERS: dict[int, Reader] = {
    tag_number("html"): read_html,
    tag_number("base"): read_base,
    tag_number("link"): read_link,
    tag_number("meta"): read_meta,
}
"""Readers of every walk, whatever links are collected."""
