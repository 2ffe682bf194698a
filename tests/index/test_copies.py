"""Nearly equal copies of a page under several addresses of a source are one hit, and different things are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ultracrawl.index import Hit, IndexDocument, IndexEngine, SearchQuery
from ultracrawl.index.hits.copies import MIN_WORDS
from ultracrawl.index.hits.ties import RERANK_LIMIT

WORDS = [f"heron{number}" for number in range(2 * MIN_WORDS)]
BODY = " ".join(WORDS)
Found = Callable[..., list[tuple[str, tuple[str, ...]]]]


def page(path: str, title: str, body: str = BODY, source: str = "s", depth: int = 1) -> IndexDocument:
    return IndexDocument(source, f"http://h{path}", title, f"needle {body}", depth=depth)


@pytest.fixture
def found(engine: IndexEngine) -> Found:
    """Return the paths of hits, each with those of its copies."""

    def search(*documents: IndexDocument, **options: object) -> list[tuple[str, tuple[str, ...]]]:
        engine.apply(documents)
        query = SearchQuery("needle", **{"fold_copies": True, **options})  # type: ignore[arg-type]
        return [(path(hit.url), tuple(map(path, hit.also_at))) for hit in engine.search(query).hits]

    return search


def path(url: str) -> str:
    return url.removeprefix("http://h")


COPIES = [
    ("crates", page("/std/vec/Vec.html", "Vec in std::vec"), page("/alloc/vec/Vec.html", "Vec in alloc::vec")),
    ("versions", page("/docs/15/vacuum.html", "VACUUM"), page("/docs/current/vacuum.html", "VACUUM")),
    ("named_versions", page("/docs/15/vacuum.html", "VACUUM (15)"), page("/docs/16/vacuum.html", "VACUUM (16)")),
    ("branches", page("/main/sql/vacuum.html", "VACUUM main"), page("/next/sql/vacuum.html", "VACUUM next")),
    ("inserted", page("/docs/core.html", "Core"), page("/docs/en/core.html", "Core")),
    ("two_for_one", page("/docs/2.4/en/mod/core.html", "Core"), page("/docs/current/mod/core.html", "Core")),
    ("re_exported", page("/std/map/struct.Map.html", "Map in std::map"), page("/std/struct.Map.html", "Map in std")),
    ("start_pages", page("/en/intro/", "Intro"), page("/current/intro/index.html", "Intro")),
    (
        "a_word_in_the_text",
        page("/std/vec/struct.Vec.html", "Vec in std", f"std {BODY}"),
        page("/alloc/vec/struct.Vec.html", "Vec in alloc", f"alloc {BODY} more"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), [one[1:] for one in COPIES], ids=[one[0] for one in COPIES])
def test_copies_are_one_hit(found: Found, first: IndexDocument, second: IndexDocument) -> None:
    first = replace(first, depth=0)
    assert found(first, second) == [(path(first.url), (path(second.url),))]


OTHERS = [
    ("other_names", page("/std/trait.Lower.html", "Lower in std"), page("/std/trait.Upper.html", "Upper in std")),
    ("other_home", page("/std/rc/Weak.html", "Weak in std::rc"), page("/std/sync/Weak.html", "Weak in std::sync")),
    ("other_titles", page("/15/x.html", "Vacuum of 2023"), page("/current/x.html", "Vacuum of 2024")),
    ("no_titles", page("/15/x.html", ""), page("/current/x.html", "")),
    ("other_texts", page("/en/x/a.html", "Core"), page("/fr/x/a.html", "Core", " ".join(WORDS[: MIN_WORDS + 20]))),
    ("other_folders", page("/ann/card.html", "Card", f"{BODY} a b c d"), page("/bob/card.html", "Card")),
    ("short_texts", page("/15/x.html", "X", "short"), page("/current/x.html", "X", "short")),
    ("other_sources", page("/15/x.html", "X"), page("/current/x.html", "X", source="t")),
    ("other_queries", page("/x.html?v=15", "X"), page("/x.html?v=16", "X")),
    ("far_away", page("/a/b/c/x.html", "X"), page("/d/e/f/x.html", "X")),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), [one[1:] for one in OTHERS], ids=[one[0] for one in OTHERS])
def test_different_pages_are_two_hits(found: Found, first: IndexDocument, second: IndexDocument) -> None:
    hits = found(first, second)
    assert [copies for _, copies in hits] == [(), ()]


def facades(names: int, copies: int) -> list[IndexDocument]:
    """Return pages with different texts, each under several addresses; the first address is nearest to the start."""
    return [
        page(
            f"/v{copy}/docs/page{name}.html", f"Page {name}", f"{BODY} own{name}", depth=name * copies + copy
        )
        for name in range(names)
        for copy in range(copies)
    ]


def test_every_page_of_results_is_full_and_has_no_hit_of_another_one(
    engine: IndexEngine, found: Found
) -> None:
    documents = facades(12, 5)
    everything = found(*documents, limit=100)
    assert len(everything) == 60 - sum(len(copies) for _, copies in everything)
    first, second = found(limit=8), found(limit=4, offset=8)
    assert ([url for url, _ in first], [url for url, _ in second]) == (
        [url for url, _ in everything[:8]],
        [url for url, _ in everything[8:12]],
    )
    result = engine.search(SearchQuery("needle", fold_copies=True, limit=100))
    assert result.total == len(result.hits), "copies are taken from the total"


def test_only_the_first_matches_are_compared(engine: IndexEngine, found: Found) -> None:
    (_, copies), *others = found(*facades(1, RERANK_LIMIT + 3), limit=100)
    assert (len(copies), len(others)) == (RERANK_LIMIT - 1, 3)


def test_nothing_is_folded_in_a_sorted_list_among_similar_documents_or_if_it_is_off(
    engine: IndexEngine, found: Found
) -> None:
    documents = [page(f"/v{copy}/docs/x.html", "X") for copy in range(3)]
    for options in ({"sort": "Title"}, {"fold_copies": False}):
        assert [copies for _, copies in found(*documents, **options)] == [(), (), ()]
    result = engine.search(SearchQuery("", like="http://h/v0/docs/x.html", fold_copies=True))
    assert len(result.hits) == result.total == 2
    assert engine.search(SearchQuery("needle", fold_copies=True, limit=0)).total == 3


def test_what_a_searcher_may_not_see_is_not_among_the_copies(engine: IndexEngine) -> None:
    open_page = page("/v1/docs/x.html", "X")
    engine.apply([open_page, replace(page("/v2/docs/x.html", "X"), acl=("staff",))])
    (hit,) = engine.search(SearchQuery("needle", principals=(), fold_copies=True)).hits
    assert (hit.url, hit.also_at) == (open_page.url, ())
    (seen,) = engine.search(SearchQuery("needle", principals=("staff",), fold_copies=True)).hits
    assert len(seen.also_at) == 1


def test_a_hit_without_copies_has_none() -> None:
    assert Hit("http://h/", "", 1.0, "s", "", {}).also_at == ()
