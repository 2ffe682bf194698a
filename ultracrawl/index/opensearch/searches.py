"""Runs searches over the index behind the alias, which other processes may replace at any time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import IndexStoreError
from ultracrawl.index.budget import SearchBudget
from ultracrawl.index.engine import Json, SearchQuery, SearchResult
from ultracrawl.index.opensearch.aliases import Alias, CurrentIndex
from ultracrawl.index.opensearch.fields import BEHIND
from ultracrawl.index.opensearch.frequencies import Ask, Frequencies
from ultracrawl.index.opensearch.index_searcher import IndexSearcher
from ultracrawl.index.opensearch.queries import QueryCompiler
from ultracrawl.index.opensearch.server import Servers, StatusError
from ultracrawl.index.query.tree import Node
from ultracrawl.index.query.visibility import visible_to
from ultracrawl.rules.attributes.schema import SearchAttribute

_MOST_REPLACED = 3
"""How often an index may be replaced while one search runs."""
_PATIENCE_SECONDS = 5.0
"""Seconds for which a query, with all its readings, is asked again that busy servers refused."""


class Searches:
    """The searches of one engine; `attributes` are those of the project."""

    def __init__(self, servers: Servers, alias: Alias, attributes: Mapping[str, SearchAttribute]) -> None:
        self._servers = servers
        self._alias = alias
        self._attributes = attributes
        self._languages: frozenset[str] | None = None
        """The languages of documents, as the last search found them."""
        self._query: _Query | None = None

    def search(self, query: SearchQuery) -> SearchResult:
        """See `IndexEngine.search`."""
        for _ in range(_MOST_REPLACED):
            index = self._alias.known()
            if index is None:
                return self._run(query, {}, _nothing)
            try:
                return self._run(query, index.attributes, partial(self._ask, index))
            except _ReplacedError:
                self._alias.forget()
                self._query = None
        raise IndexStoreError(f"{self._servers.where} is replaced again and again")

    def _run(self, query: SearchQuery, indexed: Mapping[str, SearchAttribute], ask: Ask) -> SearchResult:
        node = visible_to(query)
        known = self._query
        if known is None or query.budget is None or (known.budget, known.visible) != (query.budget, node):
            visible = QueryCompiler({}, lambda _: 0, lambda: 0).compile_node(node)
            frequencies = Frequencies(ask, visible, self._languages)
            known = self._query = _Query(
                query.budget, node, frequencies, self._servers.now() + _PATIENCE_SECONDS
            )
        result = IndexSearcher(ask, indexed, self._attributes, query, known.frequencies).run()
        self._languages = known.frequencies.languages
        return result

    def _ask(self, index: CurrentIndex, body: Mapping[str, Json]) -> Mapping[str, Any]:
        """Return the answer to a search; raises `_ReplacedError` if another index than this one gave it."""
        try:
            answer = self._servers.ask_patiently(
                "POST",
                f"/{self._servers.name}/_search",
                body,
                until=self._query.deadline if self._query else 0.0,
                search_type="dfs_query_then_fetch",  # lengths are compared with the average of all shards
                allow_partial_search_results="false",
            )
        except StatusError as error:
            if error.status == 404:
                raise _ReplacedError from None
            raise
        counted = answer.get("aggregations", {}).get(BEHIND, {"buckets": ()})
        found = {hit["_index"] for hit in answer["hits"]["hits"]} | {one["key"] for one in counted["buckets"]}
        if not found <= {index.name}:
            raise _ReplacedError
        return answer


@dataclass(frozen=True, slots=True)
class _Query:
    """What all readings of one query share; they have one budget."""

    budget: SearchBudget | None
    visible: Node
    frequencies: Frequencies
    deadline: float
    """Until when it is asked again."""


class _ReplacedError(Exception):
    """Another index is behind the alias than the one that a search was made for."""


def _nothing(body: Mapping[str, Json]) -> Mapping[str, Any]:
    """Return the answer of an index without documents."""
    aggregations: dict[str, Any] = {}
    asked = body.get("aggs")
    for name, one in asked.items() if isinstance(asked, dict) else ():
        filters = one.get("filters") if isinstance(one, dict) else None
        listed = filters["filters"] if isinstance(filters, dict) else []
        empty = [{"doc_count": 0}] * len(listed) if isinstance(listed, list) else []
        aggregations[name] = {"buckets": empty}
    return {"hits": {"total": {"value": 0}, "hits": []}, "aggregations": aggregations}
