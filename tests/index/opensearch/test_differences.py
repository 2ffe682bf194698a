"""What differs from the engines in folders, as the page of the index lists it; everything else is the engine suite.

Other tests show that a batch is no commit (`test_opensearch_faults`), that versions decide and not a lock, that sources
are known after seconds (`test_opensearch`), and that a backup does not contain the index (`test_backup`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from index.conftest import ATTRIBUTES, DISK_ENGINES, LIBRARY, document
from support.opensearch import Open

from ultracrawl.index import IndexDocument, IndexEngine, SearchBudget, SearchLimit, SearchQuery
from ultracrawl.index.engine import HasCommits
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.opensearch import index_searcher
from ultracrawl.index.opensearch.server import Servers

pytestmark = pytest.mark.servers


@pytest.fixture
def in_folders(tmp_path: Path) -> Iterator[list[IndexEngine]]:
    """Indexes of the engines that keep them in folders."""
    attributes = tuple(ATTRIBUTES.values())
    made = [open_index(IndexConfig(name, tmp_path / name, attributes)) for name in DISK_ENGINES]
    yield made
    for one in made:
        one.close()


@pytest.fixture
def filled(
    opened: Open, in_folders: list[IndexEngine]
) -> Callable[..., tuple[IndexEngine, list[IndexEngine]]]:
    """Returns an index on servers, and those in folders, with the same documents."""

    def fill(documents: list[IndexDocument], **options: int) -> tuple[IndexEngine, list[IndexEngine]]:
        here = opened(**options)
        for one in (here, *in_folders):
            one.apply(documents)
        return here, in_folders

    return fill


Filled = Callable[..., tuple[IndexEngine, list[IndexEngine]]]


def test_words_and_postings_of_a_prefix_are_not_counted(filled: Filled) -> None:
    here, others = filled([document(f"/{n:02}", f"egg{n:02}") for n in range(20)])

    def found(index: IndexEngine) -> tuple[int, tuple[SearchLimit, ...]]:
        result = index.search(SearchQuery("egg*", limit=20, budget=SearchBudget(terms=5)))
        return result.total, result.exceeded

    assert found(here) == (20, ())
    assert all(found(one)[1] == (SearchLimit.TERMS,) for one in others)


def test_a_search_sees_what_comes_between_its_requests(
    filled: Filled, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = filled(LIBRARY)
    other = opened()
    waiting = [document("/new", "heron")]
    ask = Servers.ask_patiently

    def asked(servers: Servers, *words: Any, **parameters: Any) -> Any:
        answer = ask(servers, *words, **parameters)
        if waiting:
            other.apply([waiting.pop()])
        return answer

    monkeypatch.setattr(Servers, "ask_patiently", asked)
    assert "/new" in [hit.url for hit in here.search(SearchQuery("heron")).hits]


def test_results_are_not_kept_between_searches(filled: Filled) -> None:
    here, others = filled([])
    assert not isinstance(here, HasCommits)
    assert all(isinstance(one, HasCommits) for one in others)


def test_no_more_hits_than_the_servers_list_are_shown(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_searcher, "MAX_RESULTS", 5)
    here, others = filled([document(f"/{n}", "heron") for n in range(9)])
    for query, number in ((SearchQuery("heron", offset=3), 2), (SearchQuery("heron", offset=6), 0)):
        result = here.search(query)
        assert (result.total, len(result.hits)) == (9, number)
        assert all(len(one.search(query).hits) > number for one in others)


def test_of_rare_values_in_several_shards_some_are_missing(filled: Filled) -> None:
    frequent = [f"often{n}" for n in range(5) for _ in range(30 + n)]
    names = [*frequent, *(f"rare{n:03}" for n in range(300) for _ in range(1 + n % 3))]
    library = [document(f"/{n}", "heron", Author=[name]) for n, name in enumerate(names)]
    here, others = filled(library, shards=3)
    counts = sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))
    for limit, is_exact in ((5, True), (50, False)):
        query = SearchQuery("heron", facets=("Author",), facet_limit=limit)
        found, *exact = [
            [(one.value, one.count) for one in index.search(query).facets["Author"]]
            for index in (here, *others)
        ]
        assert exact == [counts[:limit]] * len(others)
        assert (found == counts[:limit]) is is_exact


def test_a_long_value_is_found_by_its_words_alone(filled: Filled) -> None:
    value = "heron " * 2000
    here, others = filled(
        [document("/long", "text", Author=[value]), document("/short", "text", Author=["heron"])]
    )
    by_words, whole = SearchQuery("Author:heron"), SearchQuery("", where=(("Author", value.strip()),))
    for index in (here, *others):
        assert index.search(by_words).total == 2
    assert here.search(whole).total == 0
    assert [one.search(whole).total for one in others] == [1, 1]


def test_hits_with_equal_values_are_all_in_the_order_of_their_urls(filled: Filled) -> None:
    urls = [f"/{(n * 37) % 80:02}" for n in range(80)]
    here, others = filled([document(url, "heron", Size=[1]) for url in urls])
    query = SearchQuery("heron", sort="Size", limit=80)
    assert [hit.url for hit in here.search(query).hits] == sorted(urls)
    for one in others:
        found = [hit.url for hit in one.search(query).hits]
        assert found != sorted(urls)
        assert found[:50] == sorted(found[:50]), "the first fifty are"


def test_only_whoosh_has_scores_of_sorted_hits(filled: Filled) -> None:
    here, others = filled(LIBRARY)
    query = SearchQuery("heron", sort="Size")
    scores = {
        type(one).__name__: {hit.score > 0 for hit in one.search(query).hits} for one in (here, *others)
    }
    assert scores == {"OpenSearchIndex": {False}, "TantivyIndex": {False}, "WhooshIndex": {True}}


def test_servers_merge_and_free_space_by_themselves(filled: Filled) -> None:
    here, _ = filled([document(f"/{n}", "heron") for n in range(200)])
    here.apply([document(f"/{n}", "egret") for n in range(150)])
    here.maintain()
    assert not here.reclaim()
    assert here.facts().reclaimed == 0
