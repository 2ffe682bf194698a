"""Which languages a search prefers: that of the user, else the usual one of each source."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from ultracrawl.index.engine import NO_WORDS, HasCommits, IndexDocument, IndexEngine, SearchQuery
from ultracrawl.index.query.scoring import SAME_LANGUAGE_FACTOR
from ultracrawl.index.query.tree import AllOf, Between, Boosted, Equal, FromSource, Node, any_of
from ultracrawl.index.query.url_queries import url_variants
from ultracrawl.index.words.analysis import words
from ultracrawl.index.words.stemming import language_code
from ultracrawl.index.words.stopwords import query_languages

LANGUAGE = "Language"
"""The search attribute with the language of a document."""
_MOST_TAGS = 200
"""Language tags of a source that are counted, the most frequent ones."""
_KEPT_SECONDS = 60.0
"""Seconds for which languages are kept of an engine that does not name its commits."""


def preferred_language(query: SearchQuery) -> str:
    """Return the preferred language, given or implied by the words of the query; empty if unknown."""
    named = language_code(query.language)
    likely = (named,) if named else tuple(query_languages(query.text, set(words(query.text))))
    return likely[0] if query.text and len(likely) == 1 else ""


class LanguagePreference:
    """The factors by which the language of a document changes its score, for one query."""

    def __init__(self, query: SearchQuery) -> None:
        self._code = preferred_language(query)
        self._foreign = frozenset(() if self._code else query.foreign_languages)

    def applied_to(self, node: Node) -> Node:
        """Return a node with the factors."""
        if self._code:
            regions = Between(LANGUAGE, f"{self._code}-", f"{self._code}.")
            return Boosted(node, SAME_LANGUAGE_FACTOR, any_of([Equal(LANGUAGE, self._code), regions]))
        if not self._foreign:
            return node
        tags: dict[str, list[Node]] = {}
        for source, tag in sorted(self._foreign):
            tags.setdefault(source, []).append(Equal(LANGUAGE, tag))
        conditions: list[Node] = [
            AllOf((FromSource(source), any_of(equal))) if source else any_of(equal)
            for source, equal in tags.items()
        ]
        return Boosted(node, 1 / SAME_LANGUAGE_FACTOR, any_of(conditions))

    @property
    def largest_factor(self) -> float:
        """The largest factor that any document has."""
        return SAME_LANGUAGE_FACTOR if self._code else 1.0

    def factor(self, document: IndexDocument, tag: str) -> float:
        """Return the factor of a document with this language tag, in lower case."""
        if self._code:
            is_preferred = tag == self._code or tag.startswith(f"{self._code}-")
            return SAME_LANGUAGE_FACTOR if is_preferred else 1.0
        is_foreign = self._foreign and not self._foreign.isdisjoint((("", tag), (document.source, tag)))
        return 1 / SAME_LANGUAGE_FACTOR if is_foreign else 1.0


class UsualLanguages:
    """Knows the usual language of each source of an index: that of its start page, else that of most documents.

    The index is asked once for each commit, one that does not name its commits once a minute. If start pages have
    different languages, the documents decide.
    """

    def __init__(
        self,
        index: IndexEngine,
        starts: Mapping[str, Sequence[str]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the start URLs of each source."""
        self._index, self._starts, self._clock = index, starts, clock
        self._commit: Hashable | None = None
        self._tags: dict[str, Mapping[str, int]] = {}
        """The number of documents by language tag, by source; of all sources under an empty name."""
        self._foreign: dict[str, tuple[str, ...]] = {}

    def applied_to(self, query: SearchQuery, searched: Iterable[str]) -> SearchQuery:
        """Return a query of all sources `searched`, or of some, with the languages whose documents rank behind others.

        It stays as it is if it shows its own language, or is not ranked by words. Raises `IndexStoreError`.
        """
        is_ranked = query.limit and query.text and not (query.sort or query.like)
        if not is_ranked or preferred_language(query):
            return query
        commit: Hashable = (
            self._index.commit_id() if isinstance(self._index, HasCommits) else self._clock() // _KEPT_SECONDS
        )
        if commit != self._commit:
            self._commit, self._tags, self._foreign = commit, {}, {}
        if len(set(map(language_code, self._tags_of("")))) < 2:
            return query
        sources = query.sources or sorted(searched)
        found = [(source, tag) for source in sources for tag in self._foreign_of(source)]
        foreign = [("", tag) for _, tag in found] if len(sources) == 1 else found
        return replace(query, foreign_languages=tuple(foreign))

    def _foreign_of(self, source: str) -> tuple[str, ...]:
        if source not in self._foreign:
            tags = self._tags_of(source)
            usual = self._usual(source, tags)
            self._foreign[source] = tuple(tag for tag in tags if language_code(tag) != usual)
        return self._foreign[source]

    def _usual(self, source: str, tags: Mapping[str, int]) -> str:
        codes = {language_code(tag) for tag in self._tags_of_starts(source)}
        if len(codes) == 1:
            return codes.pop()
        documents: Counter[str] = Counter()
        for tag, number in tags.items():
            documents[language_code(tag)] += number
        return min(documents, key=lambda code: (-documents[code], code), default="")

    def _tags_of(self, source: str) -> Mapping[str, int]:
        """Return the number of documents by language tag, of one source or of all."""
        if source not in self._tags:
            query = SearchQuery(
                "", source=source, limit=0, facets=(LANGUAGE,), facet_limit=_MOST_TAGS, suggest=False
            )
            counts = self._index.search(query).facets[LANGUAGE]
            self._tags[source] = {str(one.value).strip().lower(): one.count for one in counts}
        return self._tags[source]

    def _tags_of_starts(self, source: str) -> Iterable[str]:
        """Return the language tags of the start pages that have one."""
        starts = tuple(url for start in self._starts.get(source, ()) for url in url_variants(start))
        if not starts:
            return ()
        query = SearchQuery(NO_WORDS, source=source, pinned=starts, limit=len(starts), suggest=False)
        tags = (hit.attributes.get(LANGUAGE, ()) for hit in self._index.search(query).hits)
        return [str(values[0]) for values in tags if values]
