"""Puts two readings of a page together: as the server sent it, and as its scripts left it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ultracrawl.content.charset.urls import in_charset_of_page
from ultracrawl.content.html.links import joined
from ultracrawl.model import LinkKind, Page
from ultracrawl.model.page import Link


def merge_rendered(
    page: Page, rendered: Page, targets: Iterable[str], *, url: str, rendered_url: str = "", kept: bool
) -> Page:
    """Return the rendered page if it is `kept`, else the page as sent, in both cases with the links of both.

    `targets` are URLs to which scripts tried to navigate. The URLs are those of the two pages; scripts may have changed
    that of the rendered one. Scripts cannot lift what the server forbids: the stricter robots directives win. Nor does
    a META refresh that they write replace the page: its target is a link, as that of any navigation. A canonical link
    of the server, which may stand in a header, counts where scripts write none.
    """
    rendered = in_charset_of_page(rendered, page.charset)  # that of the document, however a browser writes it
    base, rendered_base = page.base or url, rendered.base or rendered_url or url
    refresh, canonical = page.refresh, page.canonical
    if rendered.refresh and rendered.refresh[1] and rendered.refresh != refresh:
        targets = (*targets, rendered.refresh[1])
    found, others = [*rendered.links, *(Link(target, LinkKind.SCRIPT_TEXT) for target in targets)], page.links
    if base != rendered_base:
        if kept:
            others = tuple(link._replace(href=joined(base, link.href)) for link in others)
            refresh = refresh and (refresh[0], joined(base, refresh[1]))
            canonical = canonical and joined(base, canonical)
        else:
            found = [link._replace(href=joined(rendered_base, link.href)) for link in found]
    known = {(link.href, link.kind) for link in found}
    links = (*found, *(link for link in others if (link.href, link.kind) not in known))
    if not kept:
        return replace(page, links=links)
    robots = replace(
        rendered.robots,
        index=rendered.robots.index and page.robots.index,
        follow=rendered.robots.follow and page.robots.follow,
        others=tuple(dict.fromkeys((*page.robots.others, *rendered.robots.others))),
    )
    own_base = rendered.base or rendered_url
    canonical = rendered.canonical or canonical
    return replace(
        rendered,
        links=links,
        robots=robots,
        base=own_base,
        canonical=canonical,
        charset=page.charset,
        refresh=refresh,
    )
