"""Adds lists of related URLs to documents, and updates documents when their lists change (FAST 5.8, `ds_meta_info`)."""

from __future__ import annotations

import asyncio
import logging
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from ultracrawl.index.values import pack_document, unpack_document
from ultracrawl.model import Page, UrlOutcome, UrlRecord
from ultracrawl.rules.boundary.expressions import compile_pattern
from ultracrawl.rules.urls.canonical import UrlPolicy, host_of, on_site, site_of, url_key
from ultracrawl.run.hooks import Feature
from ultracrawl.sources.sections.documents.document_options import RELATION_ATTRIBUTES
from ultracrawl.stores import Retained, Store

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.index import IndexDocument
    from ultracrawl.rules.recrawl.adaptive import KnownPage
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit
    from ultracrawl.sources import DataSource


logger = logging.getLogger(__name__)

BATCH = 200
"""Documents that are processed before control returns to the event loop."""


class RelatedDocuments(Feature):
    """Adds lists of related URLs to documents on their way to the index, and keeps them up to date.

    Links and metadata depend on the page alone and are listed when it is read. Duplicates, redirects, mirrors and
    referring pages change without it: at the end of each run they are compared with the lists in the index, and
    documents with changed lists are indexed again from a copy in the store, without requests.
    """

    def __init__(self, context: CrawlContext, *, items_have_readers: bool = False) -> None:
        """Initialise; `items_have_readers`: items of the source may name their readers."""
        self._context = context
        self._items_have_readers = items_have_readers
        self._names = context.source.relations.names

    @property
    def on(self) -> bool:
        """Whether documents of the source get any lists."""
        return bool(self._names)

    def read(self, visit: Visit, response: Response, page: Page) -> None:
        """List the links and metadata of a page; called before its document is made."""
        own: dict[str, list[str]] = {}
        if "links" in self._names:
            policy = self._context.rules.url_policy.without_rewriting
            own[RELATION_ATTRIBUTES["links"]] = links_of(page, response.url, policy)
        if "metadata" in self._names:
            known = next(self._context.store.visits.known_pages([visit.entry.key]), None)
            own[RELATION_ATTRIBUTES["metadata"]] = metadata_of(page, response, known)
        visit.page = visit.page._replace(related=own)

    def document_made(self, visit: Visit, document: IndexDocument) -> IndexDocument:
        """Return a document with its lists, and store a copy."""
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
        """Update the documents whose lists have changed."""
        for _ in self.refresh():
            self._context.documents.writer.tick()
            await asyncio.sleep(0)

    def refresh(self) -> Iterator[None]:
        """Update the documents whose lists have changed, and drop the copies of those that left; yields per batch.

        Called when the run has nothing left to fetch, and deletions are carried out.
        """
        context, state = self._context, self._context.store
        keys, updated = state.documents.retained_keys(Retained.RELATED), 0  # reads flushed rows only
        lists = RelationLists(context.source, state)
        if self.on:
            lists.load_referrers(keys, self._readers(keys) if self._items_have_readers else None)
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
            logger.info("%s: %d documents have new lists of related URLs", context.source.name, updated)

    def _readers(self, keys: Iterable[int]) -> Mapping[int, frozenset[str]]:
        """Return the readers of all documents of the source."""
        documents = self._context.store.documents
        stored = ((key, documents.retained_document(Retained.RELATED, key)) for key in keys)
        made = ((key, unpack_document(data)) for key, data in stored if data)
        return {key: frozenset(document.acl) for key, document in made if document is not None}

    def _update(self, key: int, record: UrlRecord, lists: RelationLists) -> bool:
        state = self._context.store
        current = lists.of(record)
        text = as_text(current)
        data = (
            state.documents.retained_document(Retained.RELATED, key)
            if text != state.documents.retained_document(Retained.RELATED_LISTS, key)
            else None
        )
        document = unpack_document(data) if data else None
        if document is None:
            return False
        self._context.documents.writer.add(
            key, replace(document, attributes={**document.attributes, **current})
        )
        state.documents.retain_document(Retained.RELATED_LISTS, key, text)
        return True


MAX_LINKS = 10_000
"""Limit of listed links per document."""
MAX_VALUES = 500
"""Limit of listed META values and headers per document."""
MAX_VALUE_CHARS = 1_000
"""Limit of characters per value."""
_SECRET_HEADERS = frozenset(
    {"set-cookie", "set-cookie2", "www-authenticate", "proxy-authenticate", "authorization"}
)
"""Headers that identify the client; they must not be published."""


def links_of(page: Page, base: str, policy: UrlPolicy) -> list[str]:
    """Return the links of a page as absolute URLs without repetitions, canonical if their schemes are crawled."""
    urls: dict[str, None] = {}
    for link in page.links:
        url = policy.canonical(link.href, page.base or base) or _absolute(link.href, page.base or base)
        if url:
            urls[url] = None
            if len(urls) == MAX_LINKS:
                break
    return list(urls)


def _absolute(href: str, base: str) -> str:
    """Return an absolute URL with a host, empty for other links (`mailto:`) and malformed ones."""
    try:
        url = urljoin(base, href)
    except ValueError:
        return ""
    return url if "://" in url else ""


def metadata_of(page: Page, response: Response, known: KnownPage | None) -> list[str]:
    """Return `meta.NAME=VALUE`, `http.NAME=VALUE` and `sitemap.NAME=VALUE` for all values of a page."""
    values = [f"{name}={value}"[:MAX_VALUE_CHARS] for name, value in _values(page, response, known) if value]
    return list(dict.fromkeys(values))[:MAX_VALUES]


def _values(page: Page, response: Response, known: KnownPage | None) -> Iterator[tuple[str, str]]:
    for name, values in page.meta.items():
        for value in values:
            yield f"meta.{name}", value
    for raw, lines in response.headers.items():
        header = raw.decode("latin-1").lower()
        if header not in _SECRET_HEADERS:
            for line in lines:
                yield f"http.{header}", line.decode("latin-1")
    if known is not None:
        yield "sitemap.changefreq", known.changefreq
        yield "sitemap.priority", "" if known.priority is None else f"{known.priority:g}"


MAX_REDIRECTS = 10
"""Length of redirect chains that are followed back."""

Lists = dict[str, list[str]]
"""URLs by search attribute, without empty lists."""


class RelationLists:
    """Looks up the duplicates, redirects and mirrors of documents, and the pages that link to them."""

    def __init__(self, source: DataSource, state: Store) -> None:
        self._state = state
        self._names = frozenset(source.relations.names)
        self._max_listed = source.relations.listed
        self._max_referrers = source.relations.referrers
        always = source.duplicates.always_listed
        self._always_listed = compile_pattern(always) if always else None
        self._mirrors: dict[str, list[str]] = {}
        for alias, main in source.sites.aliases.items():
            self._mirrors.setdefault(main, []).append(alias)
        self._referrers: dict[int, list[int]] | None = None

    def of(self, record: UrlRecord) -> Lists:
        """Return the lists of a document."""
        lists = {
            "duplicates": self._duplicates(record) if "duplicates" in self._names else [],
            "redirects": self._redirects(record) if "redirects" in self._names else [],
            "mirrors": self._on_mirrors(record) if "mirrors" in self._names else [],
            "referrers": self._referring(record) if self._referrers else [],
        }
        return {RELATION_ATTRIBUTES[name]: urls for name, urls in lists.items() if urls}

    def load_referrers(
        self, keys: Iterable[int], readers: Mapping[int, frozenset[str]] | None = None
    ) -> None:
        """Find the pages that link to documents, in one pass over all stored links.

        `readers` of the documents are given if they may differ: then a page is listed only in documents all of whose
        readers may see it, and not if it has no document.
        """
        if not self._max_referrers:
            return
        referrers: dict[int, list[int]] = {key: [] for key in keys}
        for page, links in self._state.links.page_links():
            for target in array("q", links):
                pages = referrers.get(target)
                if pages is None or len(pages) >= self._max_referrers or page == target:
                    continue
                if readers is None or _may_see(readers.get(target), readers.get(page)):
                    pages.append(page)
        self._referrers = referrers

    def _referring(self, record: UrlRecord) -> list[str]:
        assert self._referrers is not None
        known = self._state.records.known_urls(self._referrers.get(url_key(record.url), ()))
        return sorted(url for url, _ in known.values())

    def _duplicates(self, record: UrlRecord) -> list[str]:
        same = self._state.records.with_fingerprint(record.fingerprint)
        return self._bounded(
            other for other in same if other.url != record.url and other.outcome is UrlOutcome.DUPLICATE
        )

    def _redirects(self, record: UrlRecord) -> list[str]:
        sources_by_url: dict[str, UrlRecord] = {}
        front = [record.url]
        for _ in range(MAX_REDIRECTS):
            sources = (source for url in front for source in self._state.records.redirecting_to(url))
            new = {
                source.url: source
                for source in sources
                if source.url not in sources_by_url and source.url != record.url
            }
            if not new:
                break
            sources_by_url.update(new)
            front = list(new)
        if sources_by_url.pop(record.display_url, None):
            # A temporary redirect: the document is shown in its place, so the URL it was read from is the other one.
            sources_by_url[record.url] = record
        return self._bounded(sources_by_url.values())

    def _bounded(self, records: Iterable[UrlRecord]) -> list[str]:
        """Return the URLs of the oldest records up to the limit, and of all that are always listed; oldest first."""
        urls, number = [], 0
        for record in sorted(records, key=lambda record: (record.first_seen, record.url)):
            always = self._always_listed is not None and self._always_listed.fullmatch(record.url) is not None
            number += not always
            if always or number <= self._max_listed:
                urls.append(record.url)
        return urls

    def _on_mirrors(self, record: UrlRecord) -> list[str]:
        site = site_of(record.url)
        host = host_of(record.url)
        return [on_site(record.url, copy + site[len(host) :]) for copy in self._mirrors.get(host, ())]


def _may_see(readers: frozenset[str] | None, document: frozenset[str] | None) -> bool:
    """Return whether all of some readers may see a document with these readers; an empty set stands for everybody."""
    if readers is None or document is None:
        return False
    return not document or (bool(readers) and readers <= document)


def as_text(lists: Mapping[str, list[str]]) -> bytes:
    """Return lists as bytes that compare equal for equal lists."""
    return "\n\n".join("\n".join((name, *urls)) for name, urls in sorted(lists.items())).encode()
