"""An index in memory, small and plainly correct: the engines have to answer as it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from operator import itemgetter

from ultracrawl.index.changes import last_changes, with_anchors
from ultracrawl.index.engine import (
    Change,
    Deletion,
    FacetValue,
    IndexDocument,
    IndexFacts,
    SearchQuery,
    SearchResult,
)
from ultracrawl.index.filters import Operator
from ultracrawl.index.hits.completing import completing_names
from ultracrawl.index.hits.copies import shown_matches
from ultracrawl.index.hits.hit_builder import HitBuilder
from ultracrawl.index.hits.matching import Matcher
from ultracrawl.index.hits.passages import PassageFinder
from ultracrawl.index.hits.reranking import Reranker
from ultracrawl.index.hits.ties import with_ordered_values
from ultracrawl.index.query import tree
from ultracrawl.index.query.boosts import boost_of
from ultracrawl.index.query.facets import facet_key, most_frequent
from ultracrawl.index.query.parser import parse_facets, parse_sort
from ultracrawl.index.query.query_builder import MOST_BEGINNINGS, build_query_tree
from ultracrawl.index.query.scoring import (
    FIELDS,
    HEADINGS,
    K1,
    STATISTICS_FIELDS,
    SearchedField,
    combined_frequency,
    coordination_factor,
    idf,
    length_norm,
)
from ultracrawl.index.query.spelling import check_spelling
from ultracrawl.index.stored_fields import SCHEMA_VERSION, acl_terms
from ultracrawl.index.words.analysis import replace_surrogates, words
from ultracrawl.index.words.text import AnalysedText, analyse
from ultracrawl.model import AttributeValue
from ultracrawl.model.dates import as_utc
from ultracrawl.rules.access.readers import BY_HAND
from ultracrawl.rules.attributes.schema import SearchAttribute


@dataclass(frozen=True, slots=True)
class _Entry:
    """A document, its words, those of its string attributes, and its text if it may be shown."""

    document: IndexDocument
    text: AnalysedText
    words: Mapping[str, Sequence[str]]
    attributes: Mapping[str, Sequence[str]]

    def length(self, field: SearchedField) -> int:
        """Return how many words a field has."""
        return sum(map(len, self.text.words.get(field.name, ())))

    def occurrences(self, word: tree.Word, field: SearchedField) -> tuple[int, int]:
        """Return how often a field holds the word itself, and the word in all its forms."""
        found = self.words[field.name]
        exact = found.count(word.word)
        for language, stem in word.stems:
            if language == self.text.language and field.stems:
                forms = self.text.stems.get(field.name, []).count(f"{language}:{stem}") + found.count(stem)
                return exact, max(exact, forms)
        return exact, exact


class MemoryIndex:
    """Keeps every document with its words and looks at all of them for every query."""

    def __init__(self, attributes: Mapping[str, SearchAttribute]) -> None:
        self._attributes = dict(attributes)
        self._entries: dict[tuple[str, str], _Entry] = {}

    def apply(self, changes: Iterable[Change]) -> int:
        """See `IndexEngine.apply`."""
        entries = dict(self._entries)
        last = last_changes(changes)
        for (source, url), change in last.items():
            key = replace_surrogates(source), replace_surrogates(url)
            if isinstance(change, IndexDocument):
                entries[key] = self._entry(change)
            elif isinstance(change, Deletion):
                entries.pop(key, None)
            elif key in entries:
                entries[key] = self._entry(with_anchors(entries[key].document, change))
        self._entries = entries
        return sum(isinstance(change, IndexDocument) for change in last.values())

    def search(self, query: SearchQuery) -> SearchResult:
        """See `IndexEngine.search`; what may not be seen is left out before anything is counted."""
        if query.excluded_sources:
            return self._without(query.excluded_sources).search(replace(query, excluded_sources=()))
        if query.principals is not None:
            return self._visible(query, set(query.principals)).search(replace(query, principals=None))
        node = build_query_tree(query, self._attributes, self)
        attribute, descending = parse_sort(query.sort, self._attributes)
        facets = parse_facets(query.facets, self._attributes)
        evaluation = _Evaluation(list(self._entries.values()))
        rows = [
            (points * boost_of(entry.document.url, query.boosts), entry)
            for entry in self._entries.values()
            if (points := evaluation.score(node, entry)) is not None
        ]
        rows.sort(key=lambda row: (-row[0], row[1].document.source, row[1].document.url))
        matcher, total = Matcher(node), len(rows)

        def read(entry: _Entry) -> IndexDocument:
            return entry.document

        ranked: Iterable[tuple[float, _Entry]] = (
            with_ordered_values(_sorted(rows, attribute.name, descending), attribute, read)
            if attribute
            else rows
        )
        if not attribute:
            ranked = Reranker(node, query, self, matcher).rerank(rows, read)
        hits = HitBuilder(node, query, matcher)
        passages = PassageFinder(self, read, hits.best_section)
        shown, folded = shown_matches(query, ranked, read, passages)
        return SearchResult(
            total - folded,
            tuple(hits.hit(entry.document, points, copies) for points, entry, copies in shown),
            {
                facet.name: _count_values(
                    (_values(entry, facet.name) for entry in self._counted(query, facet.name)),
                    query.facet_limit,
                )
                for facet in facets
            },
            *check_spelling(query, node, self, total),
            sources=self._source_counts(query) if query.count_sources else (),
            names=completing_names(query, self._attributes, self),
        )

    def _matching(self, query: SearchQuery) -> list[_Entry]:
        node = build_query_tree(query, self._attributes, self)
        evaluation = _Evaluation(list(self._entries.values()))
        return [one for one in self._entries.values() if evaluation.score(node, one) is not None]

    def _counted(self, query: SearchQuery, facet: str) -> list[_Entry]:
        """Return the documents whose values are counted, by looking at all filters of the facet's attribute."""
        if not query.disjunctive_facets:
            return self._matching(query)
        kept = [
            one
            for one in query.filters
            if one.attribute.lower() != facet.lower() or one.operator in (Operator.ALL_OF, Operator.NOT_EQUAL)
        ]
        where = [one for one in query.where if one[0].lower() != facet.lower()]
        return self._matching(replace(query, filters=tuple(kept), where=tuple(where)))

    def _source_counts(self, query: SearchQuery) -> tuple[FacetValue, ...]:
        counts = Counter(one.document.source for one in self._matching(replace(query, source="", sources=())))
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return tuple(FacetValue(name, count) for name, count in ordered)

    @property
    def document_count(self) -> int:
        """The number of documents."""
        return len(self._entries)

    def document_frequency(self, word: str) -> int:
        """See `IndexStatistics.document_frequency`."""
        entries = self._entries.values()
        if ":" in word:
            return sum(
                any(word in entry.text.stems.get(name, ()) for name in STATISTICS_FIELDS) for entry in entries
            )
        return sum(any(word in entry.words[name] for name in STATISTICS_FIELDS) for entry in entries)

    def document_frequencies(self, words: Iterable[str]) -> dict[str, int]:
        """See `IndexStatistics.document_frequencies`."""
        return {word: self.document_frequency(word) for word in words}

    @property
    def languages(self) -> set[str]:
        """See `IndexStatistics.languages`."""
        return {entry.text.language for entry in self._entries.values()}

    def words_beginning_with(
        self, prefix: str, fields: Sequence[str] = STATISTICS_FIELDS, most: int = MOST_BEGINNINGS
    ) -> dict[str, Counter[str]]:
        """See `IndexStatistics.words_beginning_with`."""
        found: dict[str, Counter[str]] = {}
        for one in self._entries.values():
            for name in fields:
                for word in {word for word in one.words[name] if word.startswith(prefix)}:
                    found.setdefault(word, Counter())[name] += 1
        return found

    def find_document(self, wanted: tree.Node) -> IndexDocument | None:
        """See `IndexStatistics.find_document`."""
        evaluation = _Evaluation(list(self._entries.values()))
        scores = [(evaluation.score(wanted, entry), entry) for entry in self._entries.values()]
        found = [(score, entry) for score, entry in scores if score is not None]
        return max(found, key=itemgetter(0))[1].document if found else None

    def count(self, source: str = "") -> int:
        """See `IndexEngine.count`."""
        return sum(1 for _ in self.urls(source))

    def sources(self) -> tuple[str, ...]:
        """See `IndexEngine.sources`."""
        return tuple(sorted({source for source, _ in self._entries}))

    def urls(self, source: str = "") -> Iterator[tuple[str, str]]:
        """See `IndexEngine.urls`."""
        return (key for key in list(self._entries) if not source or key[0] == source)

    def documents(self) -> Iterator[IndexDocument]:
        """See `IndexEngine.documents`."""
        return (entry.document for entry in list(self._entries.values()))

    def maintain(self) -> None:
        """Do nothing: there are no segments."""

    def reclaim(self) -> bool:
        """Do nothing: deleted documents are gone at once."""
        return False

    def optimise(self) -> None:
        """Do nothing: there are no segments."""

    def facts(self) -> IndexFacts:
        """See `IndexEngine.facts`."""
        sources = Counter(source for source, _ in self._entries)
        return IndexFacts(
            "memory", len(self._entries), 0, 1, 0, SCHEMA_VERSION, dict(sorted(sources.items()))
        )

    def check(self) -> list[str]:
        """Return nothing: there are no files that could be damaged."""
        return []

    def rebuild(self) -> int:
        """See `IndexEngine.rebuild`."""
        return self.apply(list(self.documents()))

    def bring_up_to_date(self) -> bool:
        """Do nothing: it is as old as the process."""
        return False

    def clear(self) -> None:
        """See `IndexEngine.clear`."""
        self._entries = {}

    def close(self) -> None:
        """Forget all documents."""
        self._entries = {}

    def _visible(self, query: SearchQuery, asking: set[str]) -> MemoryIndex:
        def is_shown(document: IndexDocument) -> bool:
            counts = asking
            if document.source in query.derived_readers and BY_HAND not in document.acl:
                counts = {name for name in asking if name.startswith(("user:", "group:"))}
            return not document.acl or not counts.isdisjoint(document.acl)

        view = MemoryIndex(self._attributes)
        view._entries = {key: one for key, one in self._entries.items() if is_shown(one.document)}
        return view

    def _without(self, sources: Sequence[str]) -> MemoryIndex:
        view = MemoryIndex(self._attributes)
        view._entries = {key: entry for key, entry in self._entries.items() if key[0] not in sources}
        return view

    def _entry(self, document: IndexDocument) -> _Entry:
        attributes = {
            name: [word for value in values for word in words(replace_surrogates(str(value)))]
            for name, values in document.attributes.items()
        }
        known = {name: values for name, values in document.attributes.items() if name in self._attributes}
        text = _listed(analyse(document, self._attributes.values()))
        attributes["Title"] = text.words["title"][0]
        attributes[HEADINGS] = list(chain.from_iterable(text.words.get("headings", ())))
        known.setdefault("Title", [document.title])
        shown = {name: [_as_shown(value) for value in values] for name, values in known.items()}
        kept = replace(
            document, source=replace_surrogates(document.source), url=replace_surrogates(document.url),
            title=replace_surrogates(document.title), text=replace_surrogates(document.text), attributes=shown,
            anchors=tuple(map(replace_surrogates, document.anchors)),
        )  # fmt: skip
        return _Entry(kept, text, _with_gaps(text), attributes)


class _Evaluation:
    """One query over all documents."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self._entries = entries
        self._averages = {
            field: sum(entry.length(field) for entry in entries) / max(1, len(entries)) for field in FIELDS
        }
        self._rarities: dict[tree.Word, float] = {}

    def score(self, node: tree.Node, entry: _Entry) -> float | None:
        """Return the score of a document for which the node holds; None of others."""
        match node:
            case tree.Word(_, ""):
                return self._word(node, entry)
            case tree.Phrase(wanted, ""):
                fields = (entry.words[field.name] for field in FIELDS if field.has_positions)
                if not any(_has_phrase(found, wanted) for found in fields):
                    return None
                return sum(self._word(tree.Word(word), entry) or 0.0 for word in wanted)
            case (
                tree.Identifier(child)
                | tree.Named(child)
                | tree.Compound(choices=child)
                | tree.Verbatim(choices=child)
            ):
                return self.score(child, entry)
            case tree.AllOf(nodes):
                found = [self.score(child, entry) for child in nodes]
                held = [score for score in found if score is not None]
                return sum(held) if len(held) == len(nodes) else None
            case tree.AnyOf(nodes):
                return self._at_least(nodes, 1, entry)
            case tree.AtLeast(nodes, number):
                number_held = sum(self.score(child, entry) is not None for child in nodes)
                score = self._at_least(nodes, number, entry)
                return None if score is None else score * coordination_factor(number_held, max(1, len(nodes)))
            case tree.WithOptional(child, others):
                score = self.score(child, entry)
                better = (self.score(other, entry) for other in others)
                return None if score is None else score + sum(one or 0.0 for one in better)
            case tree.Boosted(child, factor, condition):
                score = self.score(child, entry)
                if score is None or self.score(condition, entry) is None:
                    return score
                return score * factor
            case tree.ConstantScore(child, score):
                return None if self.score(child, entry) is None else score
            case tree.Not(child):
                return 0.0 if self.score(child, entry) is None else None
        return 0.0 if _matches(node, entry) else None

    def _at_least(self, nodes: tuple[tree.Node, ...], number: int, entry: _Entry) -> float | None:
        found = (self.score(child, entry) for child in nodes)
        held = [score for score in found if score is not None]
        return sum(held) if len(held) >= number else None

    def _word(self, word: tree.Word, entry: _Entry) -> float | None:
        """Return BM25 of a word in the fields that have it; None if none does."""
        occurrences = {field: entry.occurrences(word, field) for field in FIELDS}
        if not any(map(any, occurrences.values())):
            return None
        total = 0.0
        for field, (exact, forms) in occurrences.items():
            if exact or forms:
                damped = (
                    length_norm(entry.length(field), self._averages[field])
                    if field.is_length_normalised
                    else K1
                )
                total += _word_score(
                    self._rarity(word) * field.weight, combined_frequency(exact, forms), damped
                )
        return total

    def _rarity(self, word: tree.Word) -> float:
        if word not in self._rarities:
            matching = (sum(any(e.occurrences(word, field)) for e in self._entries) for field in FIELDS)
            self._rarities[word] = idf(len(self._entries), max(matching))
        return self._rarities[word]


def _listed(text: AnalysedText) -> AnalysedText:
    """Return the terms as lists; the compiled core has a form of its own."""
    found = {name: [list(one) for one in texts] for name, texts in text.words.items()}
    return AnalysedText(text.language, found, {name: list(stems) for name, stems in text.stems.items()})


def _with_gaps(text: AnalysedText) -> dict[str, list[str]]:
    """Return the words of every field, with a gap after each of its texts that no phrase goes over."""
    return {
        field.name: [word for found in text.words.get(field.name, ()) for word in (*found, "")]
        for field in FIELDS
    }


def _matches(node: tree.Node, entry: _Entry) -> bool:
    """Whether a node holds that says nothing about relevance."""
    match node:
        case tree.Word(word, attribute):
            return word in entry.attributes.get(attribute, ())
        case tree.Prefix(prefix, attribute):
            return any(w.startswith(prefix) for found in _fields(entry, attribute) for w in found)
        case tree.Phrase(wanted, attribute):
            return any(_has_phrase(found, wanted) for found in _fields(entry, attribute))
        case tree.Equal(attribute, value):
            return any(_lowered(v) == value for v in _values(entry, attribute))
        case tree.Between(attribute, start, end):
            values = (_lowered(v) for v in _values(entry, attribute))
            return any((start is None or start <= v) and (end is None or v < end) for v in values)  # type: ignore[operator]  # of the attribute's type
        case tree.FromSource(source):
            return entry.document.source == source
        case tree.HasAclTerm(terms):
            return not set(terms).isdisjoint(acl_terms(entry.document.acl))
        case tree.IsDocument(source, url):
            return (entry.document.source, entry.document.url) == (source, url)
        case tree.HasUrl(url):
            return entry.document.url == url
    raise AssertionError(node)


def _fields(entry: _Entry, attribute: str) -> list[Sequence[str]]:
    return (
        [entry.attributes.get(attribute, ())] if attribute else [entry.words[field.name] for field in FIELDS]
    )


def _has_phrase(field: Sequence[str], wanted: tuple[str, ...]) -> bool:
    size = len(wanted)
    return any(tuple(field[i : i + size]) == wanted for i in range(len(field) - size + 1))


def _values(entry: _Entry, attribute: str) -> Sequence[AttributeValue]:
    return entry.document.attributes.get(attribute, ())


def _lowered(value: AttributeValue) -> AttributeValue:
    return value.strip().lower() if isinstance(value, str) else value


def _as_shown(value: AttributeValue) -> AttributeValue:
    if isinstance(value, str):
        return replace_surrogates(value)
    return as_utc(value) if isinstance(value, datetime) else value


def _sorted(rows: list[tuple[float, _Entry]], attribute: str, descending: bool) -> list[tuple[float, _Entry]]:
    """Sort by the first value of the attribute; documents without one come last either way."""
    keyed = [(_values(entry, attribute) or ("",), points, entry) for points, entry in rows]
    with_value = [(_sort_key(values[0]), points, entry) for values, points, entry in keyed if values[0] != ""]
    with_value.sort(key=lambda row: row[0], reverse=descending)
    return [row[1:] for row in with_value] + [
        (points, entry) for values, points, entry in keyed if values[0] == ""
    ]


def _sort_key(value: AttributeValue) -> str | float:
    value = _lowered(value)
    return value if isinstance(value, str | int | float) else value.timestamp()


def _count_values(documents: Iterable[Iterable[AttributeValue]], limit: int) -> tuple[FacetValue, ...]:
    """Count the values of documents; a document counts once for each of its values."""
    counts: Counter[str | float] = Counter()
    shown: dict[str | float, str] = {}
    for values in documents:
        keyed = {facet_key(value): value for value in values}
        counts.update(list(keyed))
        for key, value in keyed.items():
            if isinstance(value, str):
                shown.setdefault(key, value.strip())
    found = most_frequent(counts, limit)
    return tuple(FacetValue(shown.get(one.value, one.value), one.count) for one in found)


def _word_score(weight: float, frequency: float, damped: float) -> float:
    """Return BM25 of one word in one field: its rarity times boost, its occurrences, the length's length_norm."""
    return weight * frequency * (K1 + 1.0) / (frequency + damped)
