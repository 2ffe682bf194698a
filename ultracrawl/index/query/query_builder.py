"""Builds the query tree of a search, including what needs the index itself: more-like-this, language preference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from ultracrawl.errors import UserError
from ultracrawl.index.engine import IndexDocument, SearchQuery
from ultracrawl.index.query.languages import LanguagePreference
from ultracrawl.index.query.parser import parse_query
from ultracrawl.index.query.scoring import STATISTICS_FIELDS, idf
from ultracrawl.index.query.tree import (
    AllOf,
    FromSource,
    HasUrl,
    IsDocument,
    Node,
    Not,
    Word,
    any_of,
)
from ultracrawl.index.query.visibility import visible_to
from ultracrawl.index.words.analysis import words
from ultracrawl.rules.attributes.schema import SearchAttribute

CHARACTERISTIC_WORDS = 20
"""Words of a document that are used to find similar ones."""
MOST_BEGINNINGS = 5000
"""Words with one beginning that are looked at, unless fewer are wanted."""
_CHARACTERISTIC_TEXT = 50_000
"""Characters of a text that characteristic words are taken from."""


class IndexStatistics(Protocol):
    """Statistics of the snapshot of an index that one search uses; only documents visible to its principals count."""

    @property
    def document_count(self) -> int:
        """The number of documents."""

    def document_frequency(self, word: str) -> int:
        """Return the approximate number of documents with a word, or a stem (`en:tabl`), in title or text."""

    def document_frequencies(self, words: Iterable[str]) -> Mapping[str, int]:
        """Return the same for many words at once: one request, if the index is on a server."""

    @property
    def languages(self) -> Collection[str]:
        """The languages by whose rules words of documents were stemmed."""

    def words_beginning_with(
        self, prefix: str, fields: Sequence[str] = STATISTICS_FIELDS, most: int = MOST_BEGINNINGS
    ) -> Mapping[str, Mapping[str, int]]:
        """Return words of titles and texts, or of other fields, each with its document frequencies by field.

        Hidden and deleted documents count, too: look for a document with a word before it is shown. At most the first
        `most` words are looked at, of each field of each part of the index; an index on a server returns none.
        """

    def find_document(self, wanted: Node) -> IndexDocument | None:
        """Return the document that matches the node best."""


def build_query_tree(
    query: SearchQuery, attributes: Mapping[str, SearchAttribute], statistics: IndexStatistics
) -> Node:
    """Return the complete tree of a query; raises `UserError`."""
    node = parse_query(query, attributes)
    if not query.like:
        has_preference = "Language" in attributes and not query.sort
        return LanguagePreference(query).applied_to(node) if has_preference else node
    known = AllOf((HasUrl(query.like), visible_to(query)))
    sources = any_of([FromSource(source) for source in (query.source, *query.sources) if source])
    document = statistics.find_document(AllOf((known, sources))) or statistics.find_document(known)
    if document is None:
        raise UserError(f"the index has no document {query.like}, so no similar ones can be found")
    return AllOf(
        (node, _similarity_node(document, statistics), Not(IsDocument(document.source, document.url)))
    )


def _similarity_node(document: IndexDocument, statistics: IndexStatistics) -> Node:
    counts = Counter(words(document.title) * 3 + words(document.text[:_CHARACTERISTIC_TEXT]))
    weighed = []
    common = counts.most_common(200)
    frequencies = statistics.document_frequencies(word for word, _ in common)
    for word, count in common:
        frequency = frequencies[word]
        if frequency > 1 and len(word) > 1:
            weighed.append((count * idf(statistics.document_count, frequency) ** 2, word))
    weighed.sort(reverse=True)
    return any_of([Word(word) for _, word in weighed[:CHARACTERISTIC_WORDS]])
