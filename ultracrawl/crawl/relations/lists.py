"""The URLs around a document as the document table has them now."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.boundary.expressions import compiled
from ultracrawl.rules.urls.canonical import host_of, on_site, site_of, url_key
from ultracrawl.sources.sections.documents.relations import RELATION_ATTRIBUTES

if TYPE_CHECKING:
    from ultracrawl.sources import DataSource
    from ultracrawl.stores import Store

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
        self._always = compiled(always) if always else None
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
        same = self._state.records.same_content(record.fingerprint)
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
