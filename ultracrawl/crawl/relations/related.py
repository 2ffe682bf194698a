"""Documents tell of other URLs, and are indexed again when these change (FAST 5.8, `ds_meta_info`)."""

from __future__ import annotations

import asyncio
import logging
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from ultracrawl.crawl.hooks import Feature
from ultracrawl.index.values import pack_document, unpack_document
from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.boundary.expressions import compile_pattern
from ultracrawl.rules.urls.canonical import host_of, on_site, site_of, url_key
from ultracrawl.sources.sections.documents.relations import RELATION_ATTRIBUTES
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import Visit
    from ultracrawl.index import IndexDocument
    from ultracrawl.model import Page, UrlRecord
    from ultracrawl.rules.recrawl.adaptive import KnownPage
    from ultracrawl.rules.urls.canonical import UrlPolicy
    from ultracrawl.sources import DataSource
    from ultracrawl.stores import Store


logger = logging.getLogger(__name__)

BATCH = 200
"""Documents that are looked at between two rests for the rest of the process."""


class RelatedDocuments(Feature):
    """Puts lists of URLs into documents on their way to the index, and keeps them true.

    The lists that a page decides alone (links, metadata) are made when it is read. Duplicates, redirects, mirrors and
    referring pages change without it: at the end of each run they are compared with what was told, and a document
    with other ones is indexed again, from a copy of it that the state store keeps; nothing is fetched for that.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._names = context.source.relations.names

    @property
    def on(self) -> bool:
        """Whether documents of the source tell anything."""
        return bool(self._names)

    def read(self, visit: Visit, response: Response, page: Page) -> None:
        """Take what a page says for itself; called before its document is made."""
        own: dict[str, list[str]] = {}
        if "links" in self._names:
            policy = self._context.rules.url_policy.without_rewriting
            own[RELATION_ATTRIBUTES["links"]] = links_of(page, response.url, policy)
        if "metadata" in self._names:
            known = next(self._context.store.visits.known_pages([visit.entry.key]), None)
            own[RELATION_ATTRIBUTES["metadata"]] = metadata_of(page, response, known)
        visit.page = visit.page._replace(related=own)

    def document_made(self, visit: Visit, document: IndexDocument) -> IndexDocument:
        """Return a document with its lists, and keep it for later."""
        if not self._names:
            return document
        state, key = self._context.store, visit.entry.key
        own = {name: urls for name, urls in visit.page.related.items() if urls}
        record = replace(visit.record, fingerprint=visit.page.fingerprint)
        lists = RelationLists(self._context.source, state).of(record)
        plain = replace(document, attributes={**document.attributes, **own})
        state.documents.retain_document(Retained.RELATED, key, pack_document(key, plain))
        state.documents.retain_document(Retained.RELATED_LISTS, key, as_text(lists))
        return replace(plain, attributes={**plain.attributes, **lists})

    async def after_deletions(self) -> None:
        """Index documents again whose lists have changed."""
        for _ in self.refresh():
            self._context.documents.writer.tick()
            await asyncio.sleep(0)

    def refresh(self) -> Iterator[None]:
        """Index documents again whose lists have changed, and forget those that left; rests after each batch.

        Called when the run has nothing left to fetch, and deletions are carried out.
        """
        context, state = self._context, self._context.store
        keys, updated = state.documents.retained_keys(Retained.RELATED), 0  # sees what was flushed
        lists = RelationLists(context.source, state)
        if self.on:
            lists.gather_referrers(keys)
        waiting = set(state.documents.retained_keys(Retained.REPLACEMENT))
        for number, key in enumerate(keys, 1):
            record = state.records.get_record(key)
            alive = record is not None and (record.searchable or record.pending or key in waiting)
            if record is None or not alive or not self.on:
                state.documents.release_document(Retained.RELATED, key)
                state.documents.release_document(Retained.RELATED_LISTS, key)
            elif record.searchable and record.retained:
                updated += self._update(key, record, lists)
            if number % BATCH == 0:
                yield
        if updated:
            logger.info("%s: %d documents tell of other URLs than before", context.source.name, updated)

    def _update(self, key: int, record: UrlRecord, lists: RelationLists) -> bool:
        state = self._context.store
        now = lists.of(record)
        text = as_text(now)
        data = (
            state.documents.retained_document(Retained.RELATED, key)
            if text != state.documents.retained_document(Retained.RELATED_LISTS, key)
            else None
        )
        document = unpack_document(data) if data else None
        if document is None:
            return False
        self._context.documents.writer.add(key, replace(document, attributes={**document.attributes, **now}))
        state.documents.retain_document(Retained.RELATED_LISTS, key, text)
        return True


MOST_LINKS = 10_000
"""Links of a document that are told."""
MOST_VALUES = 500
"""META values and headers of a document that are told."""
LONGEST = 1_000
"""Characters of a value that are told."""
_SECRET = frozenset({"set-cookie", "set-cookie2", "www-authenticate", "proxy-authenticate", "authorization"})
"""Headers that say who asks; they are nobody else's business."""


def links_of(page: Page, base: str, policy: UrlPolicy) -> list[str]:
    """Return the links of a page as absolute URLs, each once; canonical ones, where their schemes are crawled."""
    found: dict[str, None] = {}
    for link in page.links:
        url = policy.canonical(link.href, page.base or base) or _absolute(link.href, page.base or base)
        if url:
            found[url] = None
            if len(found) == MOST_LINKS:
                break
    return list(found)


def _absolute(href: str, base: str) -> str:
    """Return a URL that names a host, empty for other links (`mailto:`) and for what is no URL."""
    try:
        url = urljoin(base, href)
    except ValueError:
        return ""
    return url if "://" in url else ""


def metadata_of(page: Page, response: Response, known: KnownPage | None) -> list[str]:
    """Return `meta.NAME=VALUE`, `http.NAME=VALUE` and `sitemap.NAME=VALUE`, as far as there are such values."""
    found = [f"{name}={value}"[:LONGEST] for name, value in _values(page, response, known) if value]
    return list(dict.fromkeys(found))[:MOST_VALUES]


def _values(page: Page, response: Response, known: KnownPage | None) -> Iterator[tuple[str, str]]:
    for name, values in page.meta.items():
        for value in values:
            yield f"meta.{name}", value
    for raw, lines in response.headers.items():
        header = raw.decode("latin-1").lower()
        if header not in _SECRET:
            for line in lines:
                yield f"http.{header}", line.decode("latin-1")
    if known is not None:
        yield "sitemap.changefreq", known.changefreq
        yield "sitemap.priority", "" if known.priority is None else f"{known.priority:g}"


HOPS = 10
"""Redirects one behind the other that are followed back."""

Lists = dict[str, list[str]]
"""URLs by search attribute; attributes without any are not in it."""


class RelationLists:
    """Looks up duplicates, redirects and mirrors of documents, and the pages that link to them."""

    def __init__(self, source: DataSource, state: Store) -> None:
        self._state = state
        self._names = frozenset(source.relations.names)
        self._listed = source.relations.listed
        self._most_referrers = source.relations.referrers
        always = source.duplicates.always_listed
        self._always = compile_pattern(always) if always else None
        self._mirrors: dict[str, list[str]] = {}
        for alias, main in source.sites.aliases.items():
            self._mirrors.setdefault(main, []).append(alias)
        self._referrers: dict[int, list[int]] | None = None

    def of(self, record: UrlRecord) -> Lists:
        """Return the lists of a document."""
        found = {
            "duplicates": self._duplicates(record) if "duplicates" in self._names else [],
            "redirects": self._redirects(record) if "redirects" in self._names else [],
            "mirrors": self._on_mirrors(record) if "mirrors" in self._names else [],
            "referrers": self._referring(record) if self._referrers else [],
        }
        return {RELATION_ATTRIBUTES[name]: urls for name, urls in found.items() if urls}

    def gather_referrers(self, keys: Iterable[int]) -> None:
        """Learn, in one pass over all stored links, which pages link to documents."""
        if not self._most_referrers:
            return
        found: dict[int, list[int]] = {key: [] for key in keys}
        for page, links in self._state.links.page_links():
            for target in array("q", links):
                pages = found.get(target)
                if pages is not None and len(pages) < self._most_referrers and page != target:
                    pages.append(page)
        self._referrers = found

    def _referring(self, record: UrlRecord) -> list[str]:
        assert self._referrers is not None
        known = self._state.records.known_urls(self._referrers.get(url_key(record.url), ()))
        return sorted(url for url, _ in known.values())

    def _duplicates(self, record: UrlRecord) -> list[str]:
        same = self._state.records.with_fingerprint(record.fingerprint)
        return self._bounded(
            one for one in same if one.url != record.url and one.outcome is UrlOutcome.DUPLICATE
        )

    def _redirects(self, record: UrlRecord) -> list[str]:
        found: dict[str, UrlRecord] = {}
        front = [record.url]
        for _ in range(HOPS):
            further = (one for url in front for one in self._state.records.redirecting_to(url))
            new = {one.url: one for one in further if one.url not in found and one.url != record.url}
            if not new:
                break
            found.update(new)
            front = list(new)
        return self._bounded(found.values())

    def _bounded(self, records: Iterable[UrlRecord]) -> list[str]:
        """Return the oldest, as many as are listed, and all that are always listed, the oldest first."""
        urls, number = [], 0
        for one in sorted(records, key=lambda one: (one.first_seen, one.url)):
            always = self._always is not None and self._always.fullmatch(one.url) is not None
            number += not always
            if always or number <= self._listed:
                urls.append(one.url)
        return urls

    def _on_mirrors(self, record: UrlRecord) -> list[str]:
        site = site_of(record.url)
        host = host_of(record.url)
        return [on_site(record.url, copy + site[len(host) :]) for copy in self._mirrors.get(host, ())]


def as_text(lists: Mapping[str, list[str]]) -> bytes:
    """Return lists as a text that two of them can be compared by."""
    return "\n\n".join("\n".join((name, *urls)) for name, urls in sorted(lists.items())).encode()
