"""An index in memory: small, plainly correct, gone with the process; for tests and trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ultracrawl.attributes.schema import SearchAttribute
from ultracrawl.index.analysis import clean, words
from ultracrawl.index.engine import Change, Deletion, Hit, IndexDocument, SearchQuery, SearchResult
from ultracrawl.index.parser import parse_query, parse_sort
from ultracrawl.index.query import (
    AllOf,
    AnyOf,
    Between,
    Equal,
    FromSource,
    Node,
    Not,
    Phrase,
    Prefix,
    Word,
    sought_words,
)
from ultracrawl.index.scoring import TITLE_BOOST, damping, rarity, word_score
from ultracrawl.index.snippet import Highlighter
from ultracrawl.index.values import as_utc
from ultracrawl.model import AttributeValue


@dataclass(frozen=True, slots=True)
class _Entry:
    """A document and its words; the fields without an attribute's name are title and text, in this order."""

    document: IndexDocument
    fields: tuple[tuple[str, ...], tuple[str, ...]]
    attributes: Mapping[str, tuple[str, ...]]


class MemoryIndex:
    """Keeps every document with its words and looks at all of them for every query."""

    def __init__(self, attributes: Mapping[str, SearchAttribute]) -> None:
        self._attributes = dict(attributes)
        self._entries: dict[tuple[str, str], _Entry] = {}

    def apply(self, changes: Iterable[Change]) -> int:
        """See `IndexEngine.apply`."""
        entries = dict(self._entries)
        touched: dict[tuple[str, str], bool] = {}
        for change in changes:
            key = clean(change.source), clean(change.url)
            touched[key] = not isinstance(change, Deletion)
            if isinstance(change, Deletion):
                entries.pop(key, None)
            else:
                entries[key] = self._entry(change)
        self._entries = entries
        return sum(touched.values())

    def search(self, query: SearchQuery) -> SearchResult:
        """See `IndexEngine.search`."""
        node = parse_query(query, self._attributes)
        found = [entry for entry in self._entries.values() if _matches(node, entry)]
        score = self._scorer(node)
        rows = [(score(entry), entry) for entry in found]
        rows.sort(key=lambda row: (-row[0], row[1].document.source, row[1].document.url))
        attribute, descending = parse_sort(query.sort, self._attributes)
        if attribute:
            rows = _sorted(rows, attribute.name, descending)
        page = rows[max(0, query.offset) : max(0, query.offset) + max(0, query.limit)]
        highlighter = Highlighter(sought_words(node))
        return SearchResult(len(rows), tuple(_hit(entry, points, highlighter) for points, entry in page))

    def count(self, source: str = "") -> int:
        """See `IndexEngine.count`."""
        return len(self.urls(source))

    def urls(self, source: str = "") -> list[tuple[str, str]]:
        """See `IndexEngine.urls`."""
        return sorted(key for key in self._entries if not source or key[0] == source)

    def maintain(self) -> None:
        """Do nothing: there are no segments."""

    def optimise(self) -> None:
        """Do nothing: there are no segments."""

    def close(self) -> None:
        """Forget all documents."""
        self._entries = {}

    def _entry(self, document: IndexDocument) -> _Entry:
        fields = tuple(words(clean(document.title))), tuple(words(clean(document.text)))
        attributes = {
            name: tuple(word for value in values for word in words(clean(str(value))))
            for name, values in document.attributes.items()
        }
        known = {name: values for name, values in document.attributes.items() if name in self._attributes}
        attributes["Title"] = fields[0]
        known.setdefault("Title", [document.title])
        shown = {name: [_as_shown(value) for value in values] for name, values in known.items()}
        kept = IndexDocument(
            clean(document.source),
            clean(document.url),
            clean(document.title),
            "" if document.secret_text else clean(document.text),
            shown,
        )
        return _Entry(kept, fields, attributes)

    def _scorer(self, node: Node) -> Callable[[_Entry], float]:
        entries = self._entries.values()
        averages = [sum(len(e.fields[i]) for e in entries) / max(1, len(entries)) for i in (0, 1)]
        weights: dict[tuple[str, int], float] = {}
        for word, is_prefix in sought_words(node):
            for i in (0, 1):
                matching = 0 if is_prefix else sum(word in e.fields[i] for e in entries)
                weights[word, i] = rarity(len(entries), matching) if matching else 0.0

        def score(entry: _Entry) -> float:
            total = 0.0
            for (word, i), weight in weights.items():
                boost = TITLE_BOOST if i == 0 else 1.0
                damped = damping(len(entry.fields[i]), averages[i])
                total += word_score(weight * boost, entry.fields[i].count(word), damped)
            return total

        return score


def _matches(node: Node, entry: _Entry) -> bool:
    match node:
        case Word(word, attribute):
            return any(word in field for field in _fields(entry, attribute))
        case Prefix(prefix, attribute):
            return any(w.startswith(prefix) for field in _fields(entry, attribute) for w in field)
        case Phrase(sought, attribute):
            return any(_has_phrase(field, sought) for field in _fields(entry, attribute))
        case Equal(attribute, value):
            return any(_lowered(v) == value for v in entry.document.attributes.get(attribute, ()))
        case Between(attribute, start, end):
            return any(start <= moment < end for moment in _moments(entry, attribute))
        case FromSource(source):
            return entry.document.source == source
        case AllOf(nodes):
            return all(_matches(child, entry) for child in nodes)
        case AnyOf(nodes):
            return any(_matches(child, entry) for child in nodes)
        case Not(child):
            return not _matches(child, entry)


def _fields(entry: _Entry, attribute: str) -> tuple[tuple[str, ...], ...]:
    return (entry.attributes.get(attribute, ()),) if attribute else entry.fields


def _has_phrase(field: Sequence[str], sought: tuple[str, ...]) -> bool:
    size = len(sought)
    return any(tuple(field[i : i + size]) == sought for i in range(len(field) - size + 1))


def _moments(entry: _Entry, attribute: str) -> Iterator[datetime]:
    for value in entry.document.attributes.get(attribute, ()):
        if isinstance(value, datetime):
            yield value


def _lowered(value: AttributeValue) -> AttributeValue:
    return value.strip().lower() if isinstance(value, str) else value


def _as_shown(value: AttributeValue) -> AttributeValue:
    if isinstance(value, str):
        return clean(value)
    return as_utc(value) if isinstance(value, datetime) else value


def _sorted(rows: list[tuple[float, _Entry]], attribute: str, descending: bool) -> list[tuple[float, _Entry]]:
    """Sort by the first value of the attribute; documents without one come last either way."""
    keyed = [(entry.document.attributes.get(attribute) or ("",), points, entry) for points, entry in rows]
    with_value = [(_sort_key(values[0]), points, entry) for values, points, entry in keyed if values[0] != ""]
    with_value.sort(key=lambda row: row[0], reverse=descending)
    return [row[1:] for row in with_value] + [
        (points, entry) for values, points, entry in keyed if values[0] == ""
    ]


def _sort_key(value: AttributeValue) -> str | float:
    value = _lowered(value)
    return value.timestamp() if isinstance(value, datetime) else value


def _hit(entry: _Entry, score: float, highlighter: Highlighter) -> Hit:
    document = entry.document
    snippet = highlighter.snippet(document.text)
    return Hit(document.url, document.title, score, document.source, snippet, document.attributes)
