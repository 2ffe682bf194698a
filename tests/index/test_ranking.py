"""The best matches are ordered by where words stand and how close together, alike in every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.memory_index import MemoryIndex

from ultracrawl.index import IndexDocument, IndexEngine, SearchQuery
from ultracrawl.index.engine import RankingWeights
from ultracrawl.index.hits.matching import Matcher
from ultracrawl.index.hits.reranking import MAX_MATCHES, Reranker
from ultracrawl.index.hits.ties import RERANK_LIMIT
from ultracrawl.index.query.parser import parse_query
from ultracrawl.index.query.scoring import SAME_LANGUAGE_FACTOR, idf
from ultracrawl.index.query.tree import AllOf, Word
from ultracrawl.model import Section
from ultracrawl.sources.sections.search import WeightsSection

PADDING = "one two three four five six seven eight nine ten " * 4
PLAIN = IndexDocument("s", "/plain", "Plain", f"heron {PADDING}", {"Language": ["en"]})
TODAY = datetime.now(UTC)
WITH = {
    "text": replace(PLAIN, url="/text", text=f"heron heron heron heron {PADDING}"),
    "title": replace(PLAIN, url="/title", title="The heron"),
    "headings": replace(PLAIN, url="/headings", sections=(Section(0, 2, "", "The heron"),)),
    "anchors": replace(PLAIN, url="/anchors", anchors=("the heron",)),
    "section_anchors": replace(PLAIN, url="/section_anchors", section_anchors=(("x", "the heron"),)),
    "address": replace(PLAIN, url="/heron"),
}
NO_WEIGHTS = RankingWeights(**{one.name: 0.0 for one in fields(RankingWeights)})


def order(engine: IndexEngine, text: str, weights: RankingWeights | None = None) -> list[str]:
    query = SearchQuery(text) if weights is None else SearchQuery(text, weights=weights)
    return [hit.url for hit in engine.search(query).hits]


@pytest.mark.parametrize("name", WITH)
def test_a_weight_raises_what_has_the_word_there(engine: IndexEngine, name: str) -> None:
    engine.apply([PLAIN, *WITH.values()])
    without, raised = (
        {hit.url: hit.score for hit in engine.search(SearchQuery("heron", weights=weights)).hits}
        for weights in (NO_WEIGHTS, replace(NO_WEIGHTS, **{name: 3.0}))
    )
    gain = {url: raised[url] / score for url, score in without.items()}
    assert max(gain, key=lambda url: gain[url]) == WITH[name].url
    assert raised[WITH[name].url] > raised[PLAIN.url]


def test_nearness_to_the_start_and_change_raise_a_document_if_wanted(engine: IndexEngine) -> None:
    old, new = ({"LastModifiedDate": [TODAY - timedelta(days=days)]} for days in (3000, 1))
    engine.apply(
        [
            replace(PLAIN, url="/old", attributes=old, depth=1),
            replace(PLAIN, url="/new", attributes=new, depth=9),
        ]
    )
    assert order(engine, "heron") == ["/old", "/new"]
    assert order(engine, "heron", RankingWeights(freshness=2.0)) == ["/new", "/old"]
    assert order(engine, "heron", RankingWeights(freshness=2.0, depth=1.0)) == ["/old", "/new"]


def test_words_close_together_come_before_words_far_apart(engine: IndexEngine) -> None:
    words = ["removes", "variables", "from", "the", "environment"]
    apart = f" {PADDING}".join(words)
    engine.apply(
        [
            replace(PLAIN, url="/apart", text=apart),
            replace(PLAIN, url="/together", text=f"{PADDING * 5} {' '.join(words)} {PADDING * 5}"),
            replace(PLAIN, url="/some", title="The environment", text="variables of the environment"),
        ]
    )
    assert order(engine, " ".join(words))[0] == "/together"
    assert order(engine, "variables environment removes")[0] == "/together"


@pytest.mark.parametrize(
    "sentence",
    [
        "Sets the filters that will process responses from the server",
        "Définit les filtres qui vont traiter les réponses du serveur",
        "サーバの応答を処理するフィルタを設定する",
        'relation "cranes" (of storks) does not exist here',
    ],
)
def test_a_long_document_with_the_very_sentence_comes_first(engine: IndexEngine, sentence: str) -> None:
    words = sentence.split() if " " in sentence else sentence.rpartition("する")[0].split("を")
    apart = f" {PADDING} ".join(reversed(words))
    long = PADDING * 200
    engine.apply(
        [
            replace(PLAIN, url="/long", text=f"{long} {sentence}. {long}"),
            *(replace(PLAIN, url=f"/short-{n}", text=f"{apart}. ") for n in range(RERANK_LIMIT + 10)),
        ]
    )
    assert order(engine, f"{sentence}.")[0] == "/long"
    assert order(engine, " ".join(words[::-1]))[0] != "/long"


def test_a_pinned_document_leaves_the_others_in_their_order(engine: IndexEngine) -> None:
    words = ["removes", "variables", "from", "the", "environment"]
    engine.apply(
        [
            replace(PLAIN, url="https://example.org/apart", text=f" {PADDING}".join(words)),
            replace(PLAIN, url="https://example.org/together", text=f"{PADDING * 5} {' '.join(words)}"),
            replace(PLAIN, url="https://example.org/pinned", text=PADDING),
        ]
    )
    text = " ".join(words)
    query = SearchQuery(text, pinned=("https://example.org/pinned",))
    pinned, *others = (hit.url for hit in engine.search(query).hits)
    assert pinned == "https://example.org/pinned"
    assert others == order(engine, text) == ["https://example.org/together", "https://example.org/apart"]


@pytest.mark.parametrize("query", [SearchQuery("", like="/base"), SearchQuery("heron egret", limit=0)])
def test_what_is_like_another_document_or_only_counted_is_not_read_to_be_ordered(query: SearchQuery) -> None:
    def read(_place: str) -> IndexDocument:
        raise AssertionError

    found = [(2.0, "a"), (1.0, "b")]
    both = AllOf((Word("heron"), Word("egret")))
    ranking = Reranker(both, query, MemoryIndex({}), Matcher(both))
    assert list(ranking.rerank(found, read)) == found


@pytest.mark.parametrize("added", [list, lambda pages: pages[::-1]], ids=["in order", "reversed"])
@pytest.mark.parametrize(
    "query",
    [
        SearchQuery("heron"),
        SearchQuery("heron one two three"),
        SearchQuery("", source="s"),
        SearchQuery("heron", sort="Size"),
        SearchQuery("heron", sort="-Title"),
        SearchQuery("heron", sort="-LastModifiedDate"),
    ],
    ids=lambda query: query.sort or query.text or query.source,
)
def test_equal_matches_are_in_the_order_of_their_urls_however_they_were_added(
    engine: IndexEngine, query: SearchQuery, added: Callable[[list[IndexDocument]], list[IndexDocument]]
) -> None:
    pages = [replace(PLAIN, url=f"/{name}", attributes={"Title": ["Plain"]}) for name in "abcdef"]
    pages.insert(3, replace(pages[3], source="another"))
    for page in added(pages):
        engine.apply([page])
    wanted = [(page.url, page.source) for page in pages if page.source == "s" or not query.source]
    assert [(hit.url, hit.source) for hit in engine.search(query).hits] == wanted
    second = engine.search(replace(query, offset=2, limit=3)).hits
    assert [(hit.url, hit.source) for hit in second] == wanted[2:5]


def test_the_language_of_who_asks_counts_as_much_for_many_words_as_for_one(engine: IndexEngine) -> None:
    text = "heron egret crane stork ibis"
    for language in ("en", "de"):
        engine.apply([replace(PLAIN, url=f"/{language}", text=text, attributes={"Language": [language]})])

    def advantage(sought: str) -> float:
        hits = {hit.url: hit.score for hit in engine.search(SearchQuery(sought, language="de")).hits}
        return hits["/de"] / hits["/en"]

    assert advantage("heron") == pytest.approx(SAME_LANGUAGE_FACTOR, rel=0.05)
    assert advantage("heron egret crane stork") == pytest.approx(SAME_LANGUAGE_FACTOR, rel=0.05)


def test_a_long_page_that_explains_a_name_comes_before_short_ones_that_mention_it(
    engine: IndexEngine,
) -> None:
    long = "".join(f"E{number:04} explains itself. {PADDING}" for number in range(300))
    sections = tuple(Section(long.index(f"E{n:04}"), 2, f"e{n:04}", f"E{n:04}") for n in range(300))
    engine.apply([replace(PLAIN, url="/codes", title="Codes", text=long, sections=sections)])
    engine.apply([replace(PLAIN, url=f"/{n}", text=f"Failed with E0052 once. {PADDING}") for n in range(5)])
    assert order(engine, "E0052")[0] == "/codes"


def test_what_lies_behind_the_ordered_ones_stays_behind_them(engine: IndexEngine) -> None:
    engine.apply(
        [replace(PLAIN, url=f"/{n:03}", text=f"heron {PADDING * (1 + n // 10)}") for n in range(120)]
    )
    hits = engine.search(SearchQuery("heron", limit=120)).hits
    assert len({hit.url for hit in hits}) == 120
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    later = engine.search(SearchQuery("heron", offset=45, limit=20)).hits
    assert [hit.url for hit in later] == [hit.url for hit in hits[45:65]]


def test_the_options_of_a_definition_are_the_weights() -> None:
    assert dict(WeightsSection()) == {one.name: one.default for one in fields(RankingWeights)}


def test_a_word_whose_deleted_documents_still_count_weighs_more_than_nothing() -> None:
    assert idf(10, 10) == idf(10, 30) > 0


@pytest.mark.parametrize(
    "text", ["heron", "heron egret", '"heron egret"', "heron egret stork", "heron OR egret"]
)
@given(
    st.lists(st.sampled_from(["heron", "egret", "stork", "herons", "and " * 30, "a"]), max_size=400).map(
        " ".join
    )
)
def test_the_first_matches_give_the_score_of_all(text: str, body: str) -> None:
    query = SearchQuery(text)
    node = parse_query(query, {})
    quick, whole = (Reranker(node, query, MemoryIndex({}), Matcher(node)) for _ in range(2))
    whole._limits = (MAX_MATCHES,)
    document = IndexDocument("s", "https://example.org/", "Birds", body, {"Language": ["en"]})
    (score, _), (score_of_all, _) = (
        next(ranking.rerank([(1.0, None)], lambda _: document)) for ranking in (quick, whole)
    )
    assert score == pytest.approx(score_of_all)


BIRDS = st.lists(st.sampled_from(["heron", "egret", "stork", "herons", "and " * 30, "a"]), max_size=30)
PAGES = st.builds(
    lambda title, body, depth, language: replace(
        PLAIN, title=" ".join(title), text=" ".join(body), depth=depth, attributes={"Language": [language]}
    ),
    BIRDS,
    BIRDS,
    st.integers(0, 9),
    st.sampled_from(["en", "de"]),
)


@pytest.mark.parametrize("text", ["heron", "heron egret", "egret.heron", "heron egret stork"])
@given(
    pages=st.lists(st.tuples(st.floats(0.1, 50), PAGES), max_size=60), language=st.sampled_from(["", "de"])
)
def test_the_matches_shown_are_those_of_a_whole_ranking(
    text: str, pages: list[tuple[float, IndexDocument]], language: str
) -> None:
    query = SearchQuery(text, language=language, weights=RankingWeights(freshness=1.0))
    node = parse_query(query, {})
    ranking = Reranker(node, query, MemoryIndex({}), Matcher(node))

    def ranked(*matches: tuple[float, int]) -> Iterator[tuple[float, int]]:
        return ranking.rerank(matches, lambda number: pages[number][1])

    matches = sorted(((score, number) for number, (score, _) in enumerate(pages)), reverse=True)
    alone = [next(ranked(match)) for match in matches[:RERANK_LIMIT]]
    alone.sort(key=lambda match: -match[0])
    assert list(islice(ranked(*matches), 5)) == alone[:5]


def test_documents_that_cannot_be_among_those_shown_are_not_read() -> None:
    read: list[int] = []

    def document(number: int) -> IndexDocument:
        read.append(number)
        return replace(PLAIN, title="Heron")

    query = SearchQuery("heron")
    node = parse_query(query, {})
    matches = [(float(score), number) for number, score in enumerate((100, 90, 80, 2, 1))]
    found = Reranker(node, query, MemoryIndex({}), Matcher(node)).rerank(matches, document)
    assert [number for _, number in islice(found, 3)] == read == [0, 1, 2]
