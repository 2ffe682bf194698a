"""What the nodes of a query tree mean, on every engine: which documents, and which of them first."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ultracrawl.index import IndexEngine, SearchQuery
from ultracrawl.index.hits.reranking import Reranker
from ultracrawl.index.query import query_builder
from ultracrawl.index.query.scoring import coordination_factor
from ultracrawl.index.query.tree import (
    AllOf,
    AnyOf,
    AtLeast,
    Boosted,
    ConstantScore,
    Equal,
    FromSource,
    HasUrl,
    Node,
    Not,
    WithOptional,
    Word,
)

from .conftest import document

Ask = Callable[[Node], dict[str, float]]

A, B, C, D = (Word(word) for word in ("ant", "bee", "cat", "dog"))
DOCUMENTS = [
    document("/abcd", "ant bee cat dog", Language=["en"]),
    document("/abc", "ant bee cat fox", Language=["de"]),
    document("/ab", "ant bee fox fox", Language=["en"]),
    document("/a", "ant fox fox fox", Language=["de"]),
    document("/none", "fox fox fox fox"),
    document("/abcd", "dog cat bee ant", source="t"),
]


@pytest.fixture
def ask(engine: IndexEngine, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return the URLs, best first, and the scores of the documents of a tree, as the engine gives them."""
    engine.apply(DOCUMENTS)

    def answer(node: Node) -> dict[str, float]:
        monkeypatch.setattr(query_builder, "parse_query", lambda *_: node)
        monkeypatch.setattr(Reranker, "rerank", lambda _, matches, __: list(matches))
        hits = engine.search(SearchQuery("x", suggest=False)).hits
        return {hit.url + ("#t" if hit.source == "t" else ""): hit.score for hit in hits}

    return answer


@pytest.mark.parametrize(
    ("number", "urls"),
    [(1, {"/abcd", "/abcd#t", "/abc", "/ab", "/a"}), (3, {"/abcd", "/abcd#t", "/abc"}), (4, {"/abcd", "/abcd#t"}),
     (5, set())],
)  # fmt: skip
def test_at_least_so_many_hold_and_those_with_more_come_first(ask: Ask, number: int, urls: set[str]) -> None:
    found = ask(AtLeast((A, B, C, D), number))
    assert set(found) == urls
    assert [url for url in found if "t" not in url] == [
        u for u in ("/abcd", "/abc", "/ab", "/a") if u in urls
    ]


def test_the_coverage_of_what_holds_multiplies_the_score(ask: Ask) -> None:
    summed, shared = ask(AnyOf((A, B, C))), ask(AtLeast((A, B, C), 1))
    assert shared == pytest.approx(
        {
            url: score * coordination_factor(held, 3)
            for (url, score), held in zip(summed.items(), (3, 3, 3, 2, 1), strict=True)
        },
        rel=1e-3,
    )


def test_what_may_hold_adds_its_score_and_finds_nothing_itself(ask: Ask) -> None:
    found = ask(WithOptional(C, (A, D, Word("unicorn"))))
    assert set(found) == {"/abcd", "/abcd#t", "/abc"}
    assert found["/abcd"] == pytest.approx(ask(AllOf((C, A, D)))["/abcd"], rel=1e-3)
    assert found["/abc"] == pytest.approx(ask(AllOf((C, A)))["/abc"], rel=1e-3)


def test_a_score_is_raised_where_a_condition_holds(ask: Ask) -> None:
    plain, raised = ask(A), ask(Boosted(A, 3.0, Equal("Language", "de")))
    assert raised == pytest.approx(
        {url: score * (3 if url in ("/abc", "/a") else 1) for url, score in plain.items()}, rel=1e-3
    )
    assert ask(Boosted(A, 0.5)) == pytest.approx({url: score / 2 for url, score in plain.items()}, rel=1e-3)


def test_a_score_may_be_fixed_and_a_url_found_in_all_sources(ask: Ask) -> None:
    found = ask(AnyOf((A, ConstantScore(HasUrl("/none"), 500.0))))
    assert next(iter(found)) == "/none"
    assert found["/none"] == pytest.approx(500)
    assert set(ask(HasUrl("/abcd"))) == {"/abcd", "/abcd#t"}
    assert set(ask(AllOf((HasUrl("/abcd"), Not(FromSource("s")))))) == {"/abcd#t"}
    assert ask(HasUrl("/unknown")) == {}
