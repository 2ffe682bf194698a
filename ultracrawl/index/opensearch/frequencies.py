"""How often words occur in the documents that a searcher may see: asked of the servers in few requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ultracrawl.index.engine import Json
from ultracrawl.index.opensearch.fields import BEHIND
from ultracrawl.index.opensearch.queries import Query, Term

Ask = Callable[[Mapping[str, Json]], Mapping[str, Any]]
"""Sends the body of a search; the answer is that of the server."""
_MOST_LANGUAGES = 500


class Frequencies:
    """Document frequencies of terms, kept for all readings of one query.

    `visible` is the query of the documents that count. Words of documents were stemmed by the rules of `languages`, as
    an earlier search found them; None: nobody has asked yet.
    """

    def __init__(self, ask: Ask, visible: Query, languages: frozenset[str] | None) -> None:
        self._ask = ask
        self._visible = visible
        self._known: dict[Term, int] = {}
        self._documents: int | None = None
        self.languages = languages
        """The languages of documents: of any that is not listed the stems of words are not asked for; None: all are."""

    def __getitem__(self, term: Term) -> int:
        """Return the document frequency of a term that was learnt."""
        return self._known[term]

    @property
    def documents(self) -> int:
        """The number of all documents."""
        if self._documents is None:
            self._request([])
        assert self._documents is not None
        return self._documents

    def learn(self, terms: Iterable[Term]) -> None:
        """Ask, in one request, for the frequencies of those terms that are not known yet."""
        if unknown := [term for term in dict.fromkeys(terms) if term not in self._known]:
            self._request(unknown)

    def _request(self, terms: list[Term]) -> None:
        filters: list[Json] = [{"term": {name: {"value": word}}} for name, word in terms]
        aggregations: dict[str, Json] = {
            "languages": terms_of("language", _MOST_LANGUAGES),
            BEHIND: terms_of("_index", 1),
        }
        if filters:
            aggregations["terms"] = {"filters": {"filters": filters}}
        query: Query = {"bool": {"filter": [self._visible]}}
        body: Mapping[str, Json] = {"size": 0, "track_total_hits": True, "query": query, "aggs": aggregations}
        answer = self._ask(body)
        found = answer["aggregations"]
        counts = [bucket["doc_count"] for bucket in found["terms"]["buckets"]] if filters else []
        self._known |= dict(zip(terms, counts, strict=True))
        self._documents = int(answer["hits"]["total"]["value"])
        self.languages = frozenset(bucket["key"] for bucket in found["languages"]["buckets"])


def terms_of(field: str, size: int) -> dict[str, Json]:
    """Return the aggregation of the most frequent values of a field."""
    return {"terms": {"field": field, "size": size, "order": [{"_count": "desc"}, {"_key": "asc"}]}}
