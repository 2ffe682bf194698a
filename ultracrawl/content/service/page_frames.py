"""How a page is read elsewhere: the reader as it goes there, the page as it comes back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ultracrawl.content.html.selection import CssPick, PagePicks, XPathPick, css_pick, xpath_pick
from ultracrawl.content.limits import PageLimits
from ultracrawl.content.reader import AnswerHead, PageReader
from ultracrawl.content.service.job import PageJob
from ultracrawl.model import LinkKind, Page
from ultracrawl.model.page import Link, RobotsDirectives

Packed = dict[str, Any]
"""What JSON can hold."""


def pack_job(job: PageJob) -> Packed:
    """Return all of a job but its body."""
    reader, picks = job.reader, job.reader.picks
    applying = (one for one in picks.picks if one.applies is None or one.applies(job.url)) if picks else ()
    return {
        "url": job.url,
        "media_type": job.media_type,
        "head": [job.head.content_type, list(job.head.x_robots_tag), job.head.refresh],
        "seconds": job.seconds,
        "link_kinds": sorted(reader.link_kinds),
        "link_types": reader.link_types,
        "robots_name": reader.robots_name,
        "default_charset": reader.default_charset,
        "jsonld": reader.jsonld,
        "limits": reader.limits,
        "picks": [_pack_pick(one) for one in applying],
    }


def unpack_job(packed: Packed, body: bytes) -> PageJob:
    """Return a job as it was packed; its rules are those that apply to the page."""
    content_type, x_robots_tag, refresh = packed["head"]
    picks = tuple(_unpack_pick(*one) for one in packed["picks"])
    reader = PageReader(
        link_kinds=frozenset(map(LinkKind, packed["link_kinds"])),
        link_types=tuple(packed["link_types"]),
        robots_name=packed["robots_name"],
        default_charset=packed["default_charset"],
        jsonld=packed["jsonld"],
        picks=PagePicks(picks) if picks else None,
        limits=PageLimits(*packed["limits"]),
    )
    head = AnswerHead(content_type, x_robots_tag, refresh)
    return PageJob(body, packed["url"], packed["media_type"], head, reader, packed["seconds"])


def pack_page(page: Page) -> Packed:
    """Return all of a page but its text."""
    return {
        "title": page.title,
        "language": page.language,
        "charset": page.charset,
        "base": page.base,
        "canonical": page.canonical,
        "refresh": page.refresh,
        "meta": page.meta,
        "robots": [page.robots.index, page.robots.follow, page.robots.others],
        "links": page.links,
        "picked": page.picked,
        "truncated": page.truncated,
    }


def unpack_page(packed: Packed, text: str) -> Page:
    """Return a page with its text. Raises `KeyError`, `TypeError` or `ValueError` for what is no page."""
    kinds = {kind.value: kind for kind in LinkKind}
    index, follow, others = packed["robots"]
    links = tuple(Link(href, kinds[kind], text, nofollow) for href, kind, text, nofollow in packed["links"])
    refresh = packed["refresh"]
    return Page(
        **{
            **packed,
            "text": text,
            "refresh": tuple(refresh) if refresh else None,
            "robots": RobotsDirectives(index, follow, tuple(others)),
            "links": links,
        }
    )


def pieces(text: str, size: int) -> Iterator[str]:
    """Yield a text in pieces of about `size` characters, which make it up again with a blank between each two."""
    start = 0
    while start < len(text):
        end = text.find(" ", start + size)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def _pack_pick(pick: CssPick | XPathPick) -> list[str]:
    if isinstance(pick, CssPick):
        return ["css", pick.name, pick.selector, pick.attribute]
    return ["xpath", pick.name, pick.expression.path]


def _unpack_pick(kind: str, name: str, expression: str, attribute: str = "") -> CssPick | XPathPick:
    return css_pick(name, expression, attribute) if kind == "css" else xpath_pick(name, expression)
