"""Follows the links of a page, at once or when its visit ends."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ultracrawl.model.page import Link, LinkKind
from ultracrawl.run.hooks import Feature
from ultracrawl.run.recorder import Recorder
from ultracrawl.run.results import PageLinks

if TYPE_CHECKING:
    from typing import Any

    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit


def follow_links(context: CrawlContext, visit: Visit, links: PageLinks) -> None:
    """Queue the links of the page of a visit."""
    if not links.are_enumerated:
        for hook in context.hooks[Feature.links_found]:
            hook(visit, links.hrefs, links.base)
    new = context.queue.follow(visit, links.hrefs, links.base, links.named)
    if links.on_followed is not None:
        links.on_followed(new)


def recorder_of(context: CrawlContext) -> Recorder:
    """Return what ends the visits of a crawl, and follows their links then."""
    follow = partial(follow_links, context)
    return Recorder(context.store, context.counters, context.clock, context.hooks, follow)


def pack_links(links: PageLinks) -> list[Any]:
    """Return links in a form for JSON, without what is called when they are followed."""
    return [*links._replace(hrefs=list(links.hrefs), named=list(links.named), on_followed=None)]


def unpack_links(packed: list[Any]) -> PageLinks:
    """Return the links of `pack_links`."""
    links = PageLinks(*packed)
    named = [Link(href, LinkKind(kind), text, nofollow) for href, kind, text, nofollow in links.named]
    return links._replace(named=named)
