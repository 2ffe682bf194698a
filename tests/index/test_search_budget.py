"""Searches that would read too much: what they have is returned, and that it may not be all is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from index.conftest import ATTRIBUTES, DISK_ENGINES, LIBRARY, document
from support.clock import leap
from support.sentences import sentence

from ultracrawl.cli.search import print_result
from ultracrawl.index import IndexDocument, IndexEngine, SearchBudget, SearchLimit, SearchQuery, SearchResult
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.hits.result_json import DisplayNames, answer_json, result_from_json

EGGS = 20
RESTRICTED = IndexDocument("s", "/secret", "Egg", "egg07 of nobody", acl=("ann",))


@pytest.fixture(params=DISK_ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[IndexEngine]:
    opened = open_index(IndexConfig(request.param, tmp_path / "index", tuple(ATTRIBUTES.values())))
    eggs = [document(f"/egg{number:02}", f"egg{number:02} in a nest") for number in range(EGGS)]
    opened.apply([*LIBRARY, *eggs, RESTRICTED])
    yield opened
    opened.close()


@pytest.fixture
def search(engine: IndexEngine) -> Callable[..., SearchResult]:
    def search(text: str, budget: SearchBudget | None = None, **options: object) -> SearchResult:
        query = SearchQuery(text, **{"limit": 100, "principals": (), **options}, budget=budget)
        return engine.search(query)

    return search


Search = Callable[..., SearchResult]


def test_a_prefix_with_too_many_words_has_its_first_ones(search: Search) -> None:
    whole = search("egg*")
    assert (whole.total, whole.exceeded) == (EGGS, ())
    cut = search("egg*", SearchBudget(terms=5))
    assert cut.exceeded == (SearchLimit.TERMS,)
    assert 0 < cut.total == len(cut.hits) <= 5
    assert {hit.url for hit in cut.hits} < {hit.url for hit in whole.hits}


def test_postings_are_counted(search: Search) -> None:
    cut = search("egg*", SearchBudget(postings=3))
    assert cut.exceeded == (SearchLimit.POSTINGS,)
    assert 0 < cut.total < EGGS


def test_without_time_left_nothing_more_is_read(search: Search) -> None:
    for text in ("egg*", "nest", '"in a nest"', "nest OR egg*", "nest -egg03"):
        out_of_time = SearchBudget(Clock())
        assert search(text).exceeded == ()
        cut = search(text, out_of_time)
        assert (cut.exceeded, cut.total) == ((SearchLimit.TIME,), 0), text


def test_hours_on_the_wall_do_not_count() -> None:
    budget = SearchBudget()
    leap(36_000)
    assert budget.in_time()


class Clock:
    """All the time is over at the second look."""

    def __init__(self, looks: int = 1) -> None:
        self._looks = looks

    def __call__(self) -> float:
        self._looks -= 1
        return 0.0 if self._looks >= 0 else 1e9


def test_hits_have_no_snippets_when_time_is_over(search: Search, engine: IndexEngine) -> None:
    whole = search("nest")
    cut = min(
        (search("nest", SearchBudget(Clock(looks))) for looks in range(2, 200)),
        key=lambda found: (found.total < EGGS, sum(bool(hit.snippet) for hit in found.hits)),
    )
    assert (cut.total, cut.exceeded) == (EGGS, (SearchLimit.TIME,))
    assert [hit.url for hit in cut.hits] == [hit.url for hit in whole.hits]
    assert not cut.hits[-1].snippet


@pytest.mark.parametrize("text", ["nest -egg*", "nest NOT (egret OR egg*)", "-egg*"])
def test_what_is_excluded_in_part_excludes_all(search: Search, text: str) -> None:
    whole = search(text)
    cut = search(text, SearchBudget(terms=5))
    assert (cut.total, cut.exceeded) == (0, (SearchLimit.TERMS,))
    assert whole.exceeded == ()


def test_no_limit_lifts_the_conditions_on_readers(search: Search) -> None:
    for terms in range(EGGS + 3):
        for looks in range(12):
            cut = search("egg*", SearchBudget(Clock(looks), terms=terms))
            assert "/secret" not in {hit.url for hit in cut.hits}
    assert "/secret" in {hit.url for hit in search("egg*", principals=("ann",)).hits}


def test_a_facet_is_counted_once(search: Search) -> None:
    assert list(search("", facets=("Author", "author", "Size")).facets) == ["Author", "Size"]


def test_people_read_that_there_may_be_more(capsys: pytest.CaptureFixture[str]) -> None:
    cut = SearchResult(3, (), exceeded=tuple(SearchLimit))
    answer = answer_json("egg*", cut, 1.0, DisplayNames(), {})
    assert answer["exceeded"] == ["terms", "postings", "time"]
    assert result_from_json(answer) == cut
    for found in (result_from_json(answer), SearchResult(0, (), exceeded=(SearchLimit.TIME,))):
        print_result("egg*", found, {"sort": "", "offset": 0}, 1.0, DisplayNames(), empty=False)
    first, *_, third, _ = capsys.readouterr().out.splitlines()
    assert first.startswith(sentence("search.cut_by_terms"))
    assert third == sentence("search.cut_by_time")
