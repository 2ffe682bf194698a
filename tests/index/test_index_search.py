"""What a search can ask, on every engine: conditions, facets, help with spelling, similar documents."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.sentences import sentence

from ultracrawl.errors import UserError
from ultracrawl.index import Deletion, Filter, IndexDocument, IndexEngine, Operator, SearchQuery
from ultracrawl.index.filters import parse_filter

from .conftest import LIBRARY, document

Found = Callable[..., list[str]]

ANN_AND_BOB = ["/egret"]
WITHOUT_SIZE = {"/cjk", "/turk", "/dated", "/other"}

FILTERS = [
    ("ultra_search_132_equals", "Size=10", {"/egret"}),
    ("ultra_search_132_less", "Size<3", {"/crane"}),
    ("ultra_search_132_less_or_equal", "Size <= 3", {"/crane", "/heron"}),
    ("ultra_search_132_greater_looks_at_every_value", "Size>3", {"/crane", "/egret"}),
    ("ultra_search_132_greater_or_equal", "Size>=7", {"/crane", "/egret"}),
    ("ultra_search_132_between", "Size=3..10", {"/heron", "/egret", "/crane"}),
    ("ultra_search_132_between_negative", "size=-2..-1", {"/crane"}),
    ("not_equal", "Size!=10", {"/heron", "/crane"} | WITHOUT_SIZE),
    ("ultra_search_132_date_day", "LastModifiedDate=2024-05-01", {"/dated"}),
    ("ultra_search_132_date_month", "LastModifiedDate=2024-05", {"/dated"}),
    ("ultra_search_132_date_year", "LastModifiedDate=2024", {"/dated"}),
    ("ultra_search_132_date_before_its_day", "LastModifiedDate<2024-05-01", set()),
    ("ultra_search_132_date_up_to_its_day", "LastModifiedDate<=2024-05-01", {"/dated"}),
    ("ultra_search_132_date_after_its_day", "LastModifiedDate>2024-05-01", set()),
    ("ultra_search_132_date_from_its_second", "LastModifiedDate>=2024-05-01T23:30:00", {"/dated"}),
    ("ultra_search_132_date_between", "LastModifiedDate=2023..2024-05", {"/dated"}),
    ("string_not_equal", "Author!=ann lee", {"/crane", "/cjk", "/turk", "/dated"}),
    ("string_less", "Author<b", {"/heron", "/egret", "/other"}),
    ("string_between", "Author=b..c", {"/egret"}),
    ("name_with_hyphen", "Doc-Type=data sheet", {"/crane"}),
]


@pytest.mark.filled_with(LIBRARY)
def test_filter_on_an_attribute(engine: IndexEngine, found: Found, subtests: pytest.Subtests) -> None:
    for name, text, urls in FILTERS:
        with subtests.test(name):
            assert set(found(filters=(parse_filter(text),))) == urls


@pytest.mark.filled_with(LIBRARY)
def test_ultra_search_134_any_of_and_all_of(engine: IndexEngine, found: Found) -> None:
    names = ("Bob Ray", "ANN LEE")
    assert set(found(filters=(Filter("Author", Operator.ANY_OF, names),))) == {"/heron", "/egret", "/other"}
    assert found(filters=(Filter("Author", Operator.ALL_OF, names),)) == ANN_AND_BOB
    assert found(filters=(Filter("Size", Operator.ALL_OF, ("7", "-1.5")),)) == ["/crane"]
    assert found("heron", filters=(Filter("Author", Operator.ANY_OF, ()),)) == []


IN_TEXT = [
    ("less", "Size:<3", {"/crane"}),
    ("greater_or_equal", "waits Size:>=3", {"/heron", "/egret"}),
    ("between", "Size:7..10", {"/crane", "/egret"}),
    ("not_equal", "waits Size:!=3", {"/egret"}),
    ("date", "LastModifiedDate:>=2024-05", {"/dated"}),
    ("negated", "waits -Size:>5", {"/heron"}),
    ("misspelt_as_in_the_manual, ultra_search_17_d6", "LastModifedDate:2024", {"/dated"}),
    ("quotation_marks_of_a_word_processor", "\u201cgrey water\u201d", {"/egret"}),
    ("german_quotation_marks", "\u201egrey water\u201c", {"/egret"}),
    ("string", 'Author:>"b"', {"/egret"}),
    ("ultra_search_130_plus_and_minus", "+grey +water -heron", {"/egret"}),
    ("ultra_search_130_minus_phrase", 'heron -"grey heron"', {"/other"}),
]


@pytest.mark.filled_with(LIBRARY)
def test_condition_in_the_text_of_a_query(
    engine: IndexEngine, found: Found, subtests: pytest.Subtests
) -> None:
    for name, text, urls in IN_TEXT:
        with subtests.test(name):
            assert set(found(text)) == urls


MISTAKES = [
    ("no_sign", "Size", "is not ATTRIBUTE=VALUE"),
    ("no_name", "=3", "is not ATTRIBUTE=VALUE"),
    ("unknown", "Colour=red", "unknown search attribute 'Colour'; known are: Author,"),
    ("no_number", "Size>big", "Size is a number, not 'big'; write for example Size>42"),
    ("no_date", "LastModifiedDate<=soon", "LastModifiedDate<=2024-05-01"),
    ("no_period", "LastModifiedDate=2024..soon", "LastModifiedDate=2024-05-01"),
    ("no_month", "LastModifiedDate=2024-13", "LastModifiedDate is a date"),
    ("end_of_time", "LastModifiedDate=9999", "LastModifiedDate is a date"),
]


@pytest.mark.filled_with(LIBRARY)
def test_mistake_in_a_filter(engine: IndexEngine, subtests: pytest.Subtests) -> None:
    for name, text, message in MISTAKES:
        with subtests.test(name):
            with pytest.raises(UserError) as caught:
                engine.search(SearchQuery("", filters=(parse_filter(text),)))
            assert message in str(caught.value)
            assert "\n" not in str(caught.value)


def test_a_filter_needs_as_many_values_as_its_operator(engine: IndexEngine) -> None:
    with pytest.raises(UserError, match="Size between needs two values, not 1"):
        engine.search(SearchQuery("", filters=(Filter("Size", Operator.BETWEEN, ("1",)),)))


def test_documents_of_several_sources(engine: IndexEngine, found: Found) -> None:
    engine.apply([*LIBRARY, document("/third", "heron", source="u")])
    assert set(found("heron", sources=("t", "u"))) == {"/other", "/third"}
    assert set(found("heron", source="s", sources=("u",))) == {"/heron", "/third"}


def facets(engine: IndexEngine, text: str, **options: object) -> dict[str, list[tuple[object, int]]]:
    result = engine.search(SearchQuery(text, **options))  # type: ignore[arg-type]
    return {name: [(one.value, one.count) for one in values] for name, values in result.facets.items()}


def test_facets_count_the_values_of_all_matches(engine: IndexEngine) -> None:
    dated = [
        document(f"/d{n}", "nothing", LastModifiedDate=[datetime(2023, n, 1, tzinfo=UTC)]) for n in (1, 2)
    ]
    engine.apply([*LIBRARY, *dated])
    asked = {"facets": ("author", "Size", "LastModifiedDate"), "limit": 1}
    counted = facets(engine, "", **asked)
    assert [(str(value).lower(), count) for value, count in counted["Author"]] == [
        ("ann lee", 3),
        ("bob ray", 1),
    ]
    assert counted["Size"] == [(-1.5, 1), (3.0, 1), (7.0, 1), (10.0, 1)]
    assert counted["LastModifiedDate"] == [("2023", 2), ("2024", 1)]
    counted = facets(engine, "egret", facets=("Author",), facet_limit=1)
    assert counted == {"Author": [("Ann Lee", 2)]}
    assert facets(engine, "zzz", facets=("Author",)) == {"Author": []}


def test_facets_leave_deleted_documents_out(engine: IndexEngine) -> None:
    engine.apply(LIBRARY)
    engine.apply([Deletion("s", "/egret")])
    assert facets(engine, "", facets=("Author",), source="s") == {"Author": [("Ann Lee", 1)]}


def test_a_disjunctive_facet_is_counted_without_its_own_filter(engine: IndexEngine) -> None:
    engine.apply(LIBRARY)
    chosen = {"facets": ("Author", "Size"), "filters": (Filter("author", Operator.ANY_OF, ("Bob Ray",)),)}
    assert facets(engine, "", **chosen)["Author"] == [("Ann Lee", 1), ("Bob Ray", 1)]
    counted = facets(engine, "", disjunctive_facets=True, **chosen)
    assert [(str(value).lower(), count) for value, count in counted["Author"]] == [
        ("ann lee", 3),
        ("bob ray", 1),
    ]
    assert counted["Size"] == [(10.0, 1)], "the filter of another attribute holds"
    total = engine.search(SearchQuery("", disjunctive_facets=True, **chosen)).total  # type: ignore[arg-type]
    assert total == 1


@pytest.mark.parametrize(
    ("given", "counted"),
    [
        (Filter("Size", Operator.BETWEEN, ("5", "20")), 4),
        (Filter("Size", Operator.GREATER, ("3",)), 4),
        (Filter("Size", Operator.NOT_EQUAL, ("10",)), 3),
        (Filter("Size", Operator.ALL_OF, ("7", "-1.5")), 2),
    ],
    ids=["range", "comparison", "excludes", "requires_all"],
)
def test_only_filters_that_choose_a_value_are_left_out(
    engine: IndexEngine, given: Filter, counted: int
) -> None:
    engine.apply(LIBRARY)
    found = facets(engine, "", facets=("Size",), filters=(given,), disjunctive_facets=True)
    assert len(found["Size"]) == counted


def test_a_disjunctive_facet_of_dates_and_of_pairs(engine: IndexEngine) -> None:
    years = [document(f"/y{n}", "x", LastModifiedDate=[datetime(n, 1, 1, tzinfo=UTC)]) for n in (2023, 2024)]
    engine.apply(years)
    chosen = {"facets": ("LastModifiedDate",), "where": (("LastModifiedDate", "2023"),)}
    assert facets(engine, "x", **chosen)["LastModifiedDate"] == [("2023", 1)]
    found = facets(engine, "x", disjunctive_facets=True, **chosen)
    assert found["LastModifiedDate"] == [("2023", 1), ("2024", 1)]


def sources(engine: IndexEngine, text: str, **options: object) -> list[tuple[object, int]]:
    result = engine.search(SearchQuery(text, count_sources=True, **options))  # type: ignore[arg-type]
    return [(one.value, one.count) for one in result.sources]


def test_sources_are_counted_whichever_are_chosen(engine: IndexEngine) -> None:
    engine.apply([*LIBRARY, document("/third", "heron", source="u", Author=["Ann Lee"])])
    everywhere = [("s", 1), ("t", 1), ("u", 1)]
    assert sources(engine, "heron waits OR heron") == [("s", 1), ("t", 1), ("u", 1)]
    assert sources(engine, "heron", sources=("t",)) == everywhere
    assert sources(engine, "heron", source="s") == everywhere
    assert sources(engine, "heron", filters=(Filter("Size", Operator.EQUAL, ("3",)),)) == [("s", 1)]
    assert sources(engine, "zzz") == []
    assert engine.search(SearchQuery("heron")).sources == (), "only counted where asked for"
    engine.apply([Deletion("s", "/heron")])
    assert sources(engine, "heron", sources=("t",)) == [("t", 1), ("u", 1)]


def test_counts_have_no_hidden_documents(engine: IndexEngine) -> None:
    hidden = IndexDocument("t", "/hidden", "Hidden", "heron", {"Author": ["Spy"]}, acl=("staff",))
    engine.apply([document("/open", "heron", Author=["Lee"]), hidden])
    chosen = {
        "filters": (Filter("Author", Operator.EQUAL, ("Lee",)),),
        "disjunctive_facets": True,
        "facets": ("Author",),
    }
    for principals, authors in (((), ["Lee"]), (("staff",), ["Lee", "Spy"]), (None, ["Lee", "Spy"])):
        found = facets(engine, "heron", principals=principals, **chosen)
        assert [value for value, _ in found["Author"]] == authors
    assert sources(engine, "heron", principals=(), sources=("t",)) == [("s", 1)]
    assert sources(engine, "heron", excluded_sources=("s",)) == [("t", 1)]


def test_an_unknown_facet_is_a_mistake(engine: IndexEngine) -> None:
    with pytest.raises(UserError, match="unknown search attribute 'Colour'"):
        engine.search(SearchQuery("", facets=("Colour",)))


SPELLINGS = [
    ("other_letter", "hexon", "heron"),
    ("missing_letter", "eret", "egret"),
    ("additional_letter", "craane", "crane"),
    ("swapped", "gery", "grey"),
    ("keeps_the_rest", 'Size:3 "grey hreon"', 'Size:3 "grey heron"'),
    ("nothing_near", "qqqqq", ""),
    ("found", "heron", ""),
    ("accents", "H\u00e9xon", "heron"),
    ("numbers_are_no_slips", "Size:3 11", ""),
    ("the_word_is_known_but_not_with_the_other", "crane egret", ""),
]


@pytest.mark.filled_with(LIBRARY)
def test_did_you_mean(engine: IndexEngine, subtests: pytest.Subtests) -> None:
    for name, text, better in SPELLINGS:
        with subtests.test(name):
            assert engine.search(SearchQuery(text)).suggestion == better
            assert engine.search(SearchQuery(text, suggest=False)).suggestion == ""


def test_more_like_this(engine: IndexEngine, found: Found) -> None:
    engine.apply(
        [
            document("/bread", "the flour and the yeast make the dough for the bread"),
            document("/rolls", "for rolls the dough needs yeast and flour", source="t"),
            document("/cake", "the cake needs flour but no yeast"),
            document("/engine", "the motor and the wheels of the car"),
            document("/car", "the car has a motor"),
        ]
    )
    alike = found("", like="/bread")
    assert "/bread" not in alike
    assert alike[:2] == ["/rolls", "/cake"]
    assert found("", like="/car")[0] == "/engine"
    assert found("", like="/rolls", source="t") == []
    assert found("", like="/bread", source="t") == ["/rolls"], "like a document of another source"
    with pytest.raises(UserError, match=sentence("index.index_no_document_none")):
        engine.search(SearchQuery("", like="/none"))


def test_boosted_urls_come_first(engine: IndexEngine, found: Found) -> None:
    engine.apply([document(f"/{kind}/{n}", "heron", source=kind) for kind in "ab" for n in (1, 2)])
    assert found("heron", boosts=(("/b/2", 5.0),))[0] == "/b/2"
    assert set(found("heron", boosts=(("/b/*", 5.0),))[:2]) == {"/b/1", "/b/2"}
    assert found("heron", boosts=(("/a/*", 3.0), ("/a/1", 0.01), ("/b/1", 2.0)))[:3] == [
        "/a/2",
        "/b/1",
        "/b/2",
    ]
    scores = [engine.search(SearchQuery("heron", boosts=b)).hits[0].score for b in ((), (("/a/1", 2.0),))]
    assert scores[1] == pytest.approx(2 * scores[0], rel=0.01)


def test_ultra_search_131_title_and_address_count_more_than_text(engine: IndexEngine, found: Found) -> None:
    pad = "other words of the same length here"
    engine.apply(
        [
            document("/a", f"zebra {pad}", "horse"),
            document("/b", f"some {pad}", "zebra"),
            document("/zebra.html", f"zebra {pad}", "horse"),
        ]
    )
    ranked = found("zebra")
    assert ranked.index("/b") < ranked.index("/a")
    assert ranked.index("/zebra.html") < ranked.index("/a")


def test_ultra_search_135_results_show_the_display_url_only(engine: IndexEngine) -> None:
    engine.apply([document("https://shown/doc", "heron")])
    (hit,) = engine.search(SearchQuery("heron")).hits
    assert hit.url == "https://shown/doc"


def test_ultra_search_013_a_new_index_is_empty(engine: IndexEngine) -> None:
    assert engine.facts().documents == 0
    assert list(engine.documents()) == []
    assert engine.check() == []


def test_a_search_is_not_disturbed_by_what_is_written_meanwhile(engine: IndexEngine) -> None:
    engine.apply([document(f"/{n}", "same") for n in range(30)])
    first = engine.search(SearchQuery("same", limit=30))
    engine.apply([*(Deletion("s", f"/{n}") for n in range(10)), document("/new", "same")])
    engine.optimise()
    assert [hit.url for hit in first.hits if hit.url == "/new"] == []
    assert engine.search(SearchQuery("same", limit=0)).total == 21


def test_documents_come_back_as_they_were_given(engine: IndexEngine, tmp_path: Path) -> None:
    engine.apply(LIBRARY)
    engine.apply([Deletion("s", "/dated")])
    kept = {one.url: one for one in engine.documents()}
    assert set(kept) == {one.url for one in LIBRARY} - {"/dated"}
    assert (kept["/cjk"].title, kept["/cjk"].text) == ("東京", "東京タワー は 高い")
    assert list(kept["/egret"].attributes["Author"]) == ["Bob Ray", "Ann Lee"]


def test_rebuilding_changes_no_answer(engine: IndexEngine, found: Found) -> None:
    secret = IndexDocument("s", "/secret", "Secret", "Hidden words of 東京タワー here", secret_text=True)
    engine.apply([*LIBRARY, secret])
    engine.apply([Deletion("s", "/dated"), document("/heron", "the new heron", "Herons")])
    texts = ("heron", '"grey water"', "Author:lee", "東京", '"hidden words"', "here", '"東京タワー"')
    before = [sorted(found(text)) for text in texts]
    assert engine.rebuild() == len(LIBRARY)
    assert [sorted(found(text)) for text in texts] == before
    (hit,) = engine.search(SearchQuery('"hidden words"')).hits
    assert hit.snippet == ""
    assert engine.check() == []
    facts = engine.facts()
    assert (facts.documents, facts.deleted, facts.sources) == (
        len(LIBRARY),
        0,
        {"s": len(LIBRARY) - 1, "t": 1},
    )


def test_a_year_counts_once_for_a_document(engine: IndexEngine) -> None:
    dates = [datetime(2023, 1, 1, tzinfo=UTC), datetime(2023, 12, 31, 23, 59, 59, tzinfo=UTC)]
    far = [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)]
    engine.apply(
        [document("/a", "x", LastModifiedDate=dates), document("/b", "x", LastModifiedDate=[*dates, *far])]
    )
    counted = facets(engine, "x", facets=("LastModifiedDate",))
    assert counted["LastModifiedDate"] == [("2023", 2), ("0001", 1), ("9999", 1)]


def test_minus_zero_is_zero(engine: IndexEngine, found: Found) -> None:
    engine.apply([document("/plus", "x", Size=[0.0]), document("/minus", "x", Size=[-0.0])])
    for text in ("Size:0", "Size:-0", "Size:<=-0", "Size:>=0"):
        assert set(found(text)) == {"/plus", "/minus"}, text
    assert facets(engine, "x", facets=("Size",)) == {"Size": [(0.0, 2)]}


def test_a_page_far_behind_the_last_is_empty(engine: IndexEngine) -> None:
    engine.apply(LIBRARY)
    for sort in ("", "Size"):
        result = engine.search(SearchQuery("heron", offset=10**20, limit=10**12, sort=sort))
        assert (result.total, result.hits) == (2, ())
    assert len(engine.search(SearchQuery("heron", limit=10**20)).hits) == 2


def test_a_document_whose_text_is_not_shown_has_others_like_it(engine: IndexEngine, found: Found) -> None:
    words = "the flour and the yeast make the dough for the bread"
    engine.apply(
        [IndexDocument("s", "/secret", "Secret", words, secret_text=True), document("/rolls", words)]
    )
    engine.apply([document(f"/{n}", "another thing") for n in range(9)])
    assert found("", like="/secret") == ["/rolls"]


def test_many_boosts_cost_little_and_overlapping_ones_multiply(engine: IndexEngine, found: Found) -> None:
    engine.apply([document(f"/{kind}/{n}", "heron") for kind in "abc" for n in range(16)])
    boosts = (
        *((f"/a/{n}", 2.0 + n) for n in range(16)), *((f"/b/{n}*", 0.5) for n in range(16)),
        ("/*", 3.0), ("/a/1*", 5.0), ("/a/15", 7.0), ("/c/4", 0.0),
    )  # fmt: skip
    plain = engine.search(SearchQuery("heron", limit=1)).hits[0].score
    scores = {hit.url: hit.score for hit in engine.search(SearchQuery("heron", limit=48, boosts=boosts)).hits}
    assert len(scores) == 48
    expected = {"/a/2": 4 * 3, "/a/1": 3 * 3 * 5, "/a/15": 17 * 3 * 5 * 7, "/b/1": 0.5 * 3, "/b/10": 0.25 * 3,
                "/c/1": 3, "/c/4": 0}  # fmt: skip
    assert {url: scores[url] for url in expected} == pytest.approx(
        {url: factor * plain for url, factor in expected.items()}, rel=0.01
    )


def test_the_snippet_shows_the_phrase_that_was_sought(engine: IndexEngine) -> None:
    apart = "water is grey today, and grey was water. " * 100
    engine.apply(
        [
            document(
                "/a", f"{apart}Then the grey, W\u00e4ter rose. {apart}A heron stood in grey water. {apart}"
            )
        ]
    )
    shown = [
        engine.search(SearchQuery(text)).hits[0].snippet
        for text in ('"grey water"', 'heron "grey water"', '"water is grey today"', '"grey today" -"no such"')
    ]
    assert "the \x02grey\x03, \x02W\u00e4ter\x03 rose" in shown[0]
    assert "\x02heron\x03 stood in \x02grey\x03 \x02water\x03." in shown[1]
    assert "\x02water\x03 \x02is\x03 \x02grey\x03 \x02today\x03" in shown[2]
    assert "\x02grey\x03 \x02today\x03" in shown[3]


def test_the_snippet_of_a_phrase_in_the_title_shows_its_words(engine: IndexEngine) -> None:
    engine.apply([document("/a", "here is water, and there is something grey", "Grey water")])
    assert (
        "\x02water\x03, and there is something \x02grey\x03"
        in engine.search(SearchQuery('"grey water"')).hits[0].snippet
    )
    engine.apply([document("/b", "\u6771\u4eac\u30bf\u30ef\u30fc \u306f grey water")])
    (hit,) = engine.search(SearchQuery('"\u6771\u4eac\u30bf\u30ef" "grey water"')).hits
    assert hit.snippet == "\x02\u6771\u4eac\u30bf\u30ef\x03\u30fc \u306f \x02grey\x03 \x02water\x03"
