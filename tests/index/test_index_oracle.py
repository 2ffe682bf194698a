"""Random documents and random queries: an engine finds what the index in memory finds, which looks at each document.

What an example should find stands in the other modules: what all of them have wrong alike is found there only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.memory_index import MemoryIndex

from ultracrawl.errors import UserError
from ultracrawl.index import Deletion, IndexDocument, IndexEngine, SearchQuery
from ultracrawl.index.engine import Change, NewAnchors
from ultracrawl.index.filters import Filter, Operator
from ultracrawl.index.query import query_builder, tree
from ultracrawl.index.query.facets import facet_key
from ultracrawl.index.query.parser import search_with_relaxation
from ultracrawl.index.stored_fields import RESTRICTED, principal_term
from ultracrawl.index.words.analysis import words
from ultracrawl.index.words.stemming import stems
from ultracrawl.index.words.text import analyse
from ultracrawl.model.page import Section
from ultracrawl.system.compiled_core import SWITCH

from .conftest import ATTRIBUTES, ENGINE_NAMES, WITHOUT_CORE, opened_engine

ONLY = "/dir/ant"
"""A URL that one source alone has."""
PLACES = st.sampled_from([("s", "/1"), ("t", "/1"), ("s", "/2"), ("t", "/2"), ("s", ONLY), ("t", "/dir/bee")])
SOURCES = st.sampled_from(["s", "t"])
URLS = st.sampled_from(["/1", "/2", ONLY, "/dir/bee"])
WORDS = st.sampled_from(
    ["ant", "ants", "bee", "antBee", "d_e", "Ärger", "the", "9", "ameise", "ameisen", "東京タワー", "c++"]
)
TEXTS = st.lists(WORDS | st.sampled_from([".", "ant bee"]), max_size=7).map(" ".join)
NAMES = st.sampled_from(["Ann Lee", "ann lee ", "Bob Ray", "ant", ""])
NUMBERS = st.sampled_from([-1.5, 0.0, 3.0, 10.0])
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
DAYS = st.sampled_from(
    [
        datetime(2023, 12, 31, 23, 59, tzinfo=UTC),
        datetime(2024, 5, 1, tzinfo=UTC),
        datetime(2024, 5, 1, 23, 30),
    ]
)
READERS = st.lists(st.sampled_from(["user:ann", "group:staff", "ann", " by-hand"]), max_size=2, unique=True)
ANCHORS = st.lists(TEXTS, max_size=2, unique=True).map(tuple)
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "Author": st.lists(NAMES, max_size=2),
        "Doc-Type": st.lists(NAMES, max_size=1),
        "Title": st.lists(TEXTS, min_size=1, max_size=1),
        "Size": st.lists(NUMBERS, max_size=2),
        "LastModifiedDate": st.lists(DAYS, max_size=1),
        "Language": st.sampled_from([["en"], ["de-AT"], ["ja"]]),
    },
)


@st.composite
def documents(draw: st.DrawFn) -> IndexDocument:
    headings = draw(st.lists(TEXTS, max_size=2))
    text, sections = draw(TEXTS), []
    for number, heading in enumerate(headings):
        text += "\n"
        sections.append(Section(len(text), 1 + number, draw(st.sampled_from(["", "a"])), heading))
        text += f"{heading}\n{draw(TEXTS)}"
    return IndexDocument(
        *draw(PLACES), draw(TEXTS), text, draw(VALUES), anchors=draw(ANCHORS),
        section_anchors=tuple(("a", anchor) for anchor in draw(ANCHORS)), sections=tuple(sections),
        acl=tuple(draw(READERS)),
    )  # fmt: skip


CHANGES = (
    documents()
    | PLACES.map(lambda place: Deletion(*place))
    | st.builds(
        lambda place, anchors, acl: NewAnchors(*place, anchors, acl=acl),
        PLACES, ANCHORS, st.none() | READERS.map(tuple),
    )
)  # fmt: skip
BATCHES = st.lists(st.lists(CHANGES, min_size=1, max_size=6), min_size=1, max_size=3)


def _between(name: str, bounds: st.SearchStrategy[tree.Bound]) -> st.SearchStrategy[tree.Node]:
    """An interval that has an end."""
    one_open = st.tuples(st.none(), bounds) | st.tuples(bounds, st.none())
    return st.builds(lambda ends: tree.Between(name, *ends), one_open | st.tuples(bounds, bounds))


LEAVES = (
    st.builds(lambda word: tree.Word(word, stems=stems(word)), st.sampled_from(["ant", "bee", "ameise", "9"]))
    | st.builds(tree.Word, st.sampled_from(["ant", "lee", "東京"]), st.sampled_from(["", "Author", "Title"]))
    | st.builds(
        tree.Prefix, st.sampled_from(["a", "ann", "ameis", "z"]), st.sampled_from(["", "Author", "Title"])
    )
    | st.builds(
        tree.Phrase,
        st.lists(st.sampled_from(["ant", "bee", "ann", "lee"]), min_size=1, max_size=3).map(tuple),
        st.sampled_from(["", "Author", "Title"]),
    )
    | st.builds(tree.Verbatim, st.just(tree.Word("ant")), st.just(("bee", "cow")))
    | st.builds(tree.Compound, st.just(tree.Word("antbee")), st.just((tree.Word("ant"), tree.Word("bee"))))
    | st.builds(tree.Equal, st.sampled_from(["Author", "Doc-Type"]), st.sampled_from(["ann lee", "ant", ""]))
    | st.builds(tree.Equal, st.just("Size"), NUMBERS)
    | _between("Size", NUMBERS)
    | _between("Author", st.sampled_from(["ann lee", "b"]))
    | _between(
        "LastModifiedDate",
        st.sampled_from([datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 5, 1, 12, tzinfo=UTC)]),
    )
    | st.builds(tree.FromSource, SOURCES)
    | st.builds(
        tree.HasAclTerm,
        st.lists(st.sampled_from([RESTRICTED, principal_term("ann")]), min_size=1, max_size=2).map(tuple),
    )
    | st.builds(tree.IsDocument, SOURCES, URLS)
    | st.builds(tree.HasUrl, URLS)
)


def _nodes(inner: st.SearchStrategy[tree.Node]) -> st.SearchStrategy[tree.Node]:
    several = st.lists(inner, max_size=3).map(tuple)
    return (
        st.builds(tree.AllOf, several)
        | st.builds(tree.AnyOf, several)
        | st.builds(tree.Not, inner)
        | st.builds(tree.AtLeast, st.lists(inner, min_size=1, max_size=3).map(tuple), st.integers(1, 3))
        | st.builds(tree.WithOptional, inner, several)
        | st.builds(tree.Boosted, inner, st.sampled_from([0.5, 3.0]), inner)
        | st.builds(tree.ConstantScore, inner, st.just(5.0))
        | st.builds(tree.Identifier, inner, inner)
        | st.builds(tree.Named, inner, st.just(("ant",)), st.just(("ant",)))
    )


TREES = st.recursive(LEAVES, _nodes, max_leaves=6)

PIECES = WORDS | st.sampled_from(
    ['"ant bee"', '"ant bee', "-bee", "+ant", "am*", "anbee", "Author:lee", 'author:"ann lee"', "Size>=3", "Size:3",
     "(", ")", "OR", "AND", "NOT", "LastModifiedDate:2024", "nobody:ant", "http://h/dir/ant"]
)  # fmt: skip
FILTERS = (
    st.builds(
        lambda operator, values: Filter("Author", operator, tuple(values)),
        st.sampled_from([Operator.EQUAL, Operator.NOT_EQUAL, Operator.ANY_OF, Operator.ALL_OF]),
        st.lists(NAMES, min_size=1, max_size=2),
    )
    | st.builds(
        lambda operator, value: Filter("Size", operator, (str(value),)),
        st.sampled_from([Operator.LESS, Operator.LESS_OR_EQUAL, Operator.GREATER, Operator.GREATER_OR_EQUAL]),
        NUMBERS,
    )
    | st.just(Filter("LastModifiedDate", Operator.BETWEEN, ("2023-12", "2024-04")))
)
QUERIES = st.builds(
    SearchQuery,
    st.lists(PIECES, max_size=5).map(" ".join),
    source=st.sampled_from(["", "", "s"]),
    where=st.sampled_from([(), (), (("Author", "ann lee"),), (("Doc-Type", "ant"), ("Doc-Type", "Bob Ray"))]),
    sort=st.sampled_from(["", "", "Size", "-Size", "Title", "-LastModifiedDate"]),
    limit=st.just(50),
    filters=st.lists(FILTERS, max_size=1).map(tuple),
    facets=st.sampled_from([(), ("Author", "Size", "LastModifiedDate")]),
    disjunctive_facets=st.booleans(),
    count_sources=st.booleans(),
    like=st.sampled_from(["", "", "", ONLY]),
    suggest=st.just(False),
    principals=st.none() | READERS.map(tuple),
    pinned=st.sampled_from([(), (), ("/1", "/2")]),
    synonyms=st.sampled_from([{}, {("ant",): [("ameise", ""), ("bee 9", "t")]}]),
    completing=st.sampled_from([False, False, True]),
    excluded_sources=st.sampled_from([(), (), ("t",)]),
    derived_readers=st.sampled_from([(), ("s",)]),
)


class Pair:
    """The engine and the model, with the same documents; OpenSearch has one index for all examples."""

    def __init__(self, engine: IndexEngine, batches: list[list[Change]]) -> None:
        self._engine, self._model = engine, MemoryIndex(ATTRIBUTES)
        engine.apply([Deletion(*place) for place in engine.urls()])
        for batch in batches:
            assert engine.apply(batch) == self._model.apply(batch)
        assert sorted(engine.urls()) == sorted(self._model.urls())

    def agree(self, query: SearchQuery) -> None:
        """Fail unless both answer the same, apart from scores: each engine computes them in its own way."""
        assert _answer(self._engine, query) == _answer(self._model, query), query

    def names_are_of(self, query: SearchQuery) -> None:
        """Fail if a name completes the query that no document has of those that who asks may see."""
        seen = self._model.search(replace(query, text="", completing=False, like="", facets=(), sort=""))
        whole = {(one.source, one.url): one for one in self._model.documents()}
        known = {
            word
            for hit in seen.hits
            for found in analyse(whole[hit.source, hit.url]).words.values()
            for text in found
            for word in text
        }
        for name in self._engine.search(replace(query, like="", sort="")).names:
            assert known.issuperset(words(name.text)[-1:]), query


def _answer(engine: IndexEngine, query: SearchQuery) -> object:
    try:
        result = search_with_relaxation(query, ATTRIBUTES, engine.search)
    except UserError as error:
        return type(error)  # that there is no document to be alike
    hits = [(hit.source, hit.url) for hit in result.hits]
    facets = {
        name: {facet_key(one.value): one.count for one in found} for name, found in result.facets.items()
    }
    return result.reading, result.total, hits if query.sort else sorted(hits), facets, result.sources


@pytest.fixture(params=ENGINE_NAMES)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[list[list[Change]]], Pair]]:
    """Fills an engine, and the model."""
    name = request.param
    if name == WITHOUT_CORE:
        monkeypatch.setenv(SWITCH, "0")
        name = "whoosh"
    with ExitStack() as until_end, ExitStack() as until_next:
        shared = (
            until_end.enter_context(opened_engine(name, tmp_path_factory.mktemp("index")))
            if name == "opensearch"
            else None
        )

        def filled(batches: list[list[Change]]) -> Pair:
            until_next.close()
            engine = shared or until_next.enter_context(opened_engine(name, tmp_path_factory.mktemp("index")))
            return Pair(engine, batches)

        yield filled


bounded = settings(
    max_examples=40, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@bounded
@given(batches=BATCHES, trees=st.lists(TREES, min_size=12, max_size=12, unique=True))
def test_random_trees(pair: Callable[[list[Any]], Pair], batches: list[Any], trees: list[tree.Node]) -> None:
    filled = pair(batches)
    for node in trees:
        with mock.patch.object(query_builder, "parse_query", lambda *_, node=node: node):
            filled.agree(SearchQuery("", limit=50, suggest=False))


@bounded
@given(batches=BATCHES, queries=st.lists(QUERIES, min_size=12, max_size=12, unique_by=str))
def test_random_queries(
    pair: Callable[[list[Any]], Pair], batches: list[Any], queries: list[SearchQuery]
) -> None:
    filled = pair(batches)
    for query in queries:
        filled.agree(query)
        if query.completing:
            filled.names_are_of(query)
