"""What every engine must do."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.memory_index import MemoryIndex

from ultracrawl.errors import UserError
from ultracrawl.index import Deletion, IndexDocument, IndexEngine, SearchQuery

from .conftest import ATTRIBUTES, LIBRARY, document

Found = Callable[..., list[str]]


def test_an_index_that_was_never_written_is_empty(engine: IndexEngine) -> None:
    assert engine.count() == 0
    assert sorted(engine.urls()) == []
    assert engine.search(SearchQuery("heron")).total == 0
    engine.optimise()
    assert engine.count() == 0


def test_apply_of_nothing_and_of_unknown_deletions_changes_nothing(engine: IndexEngine) -> None:
    assert engine.apply([]) == 0
    assert engine.apply([Deletion("s", "/unknown")]) == 0
    assert engine.count() == 0


QUERIES = [
    ("one_word", "heron", {"/heron", "/other"}),
    ("case", "HERON", {"/heron", "/other"}),
    ("all_words", "heron egret", {"/heron"}),
    ("and", "heron AND egret", {"/heron"}),
    ("or", "crane OR egret", {"/heron", "/egret", "/crane"}),
    ("or_binds_looser_than_and", "crane OR heron egret", {"/heron", "/crane"}),
    ("minus", "grey -heron", {"/egret"}),
    ("not", "grey NOT heron", {"/egret"}),
    ("only_minus", "-the -nothing -water", {"/cjk", "/turk"}),
    ("plus", "+grey +water", {"/heron", "/egret"}),
    ("phrase", '"grey water"', {"/egret"}),
    ("phrase_not_closed", '"grey water', {"/egret"}),
    ("phrase_across_punctuation", '"waits the grey"', {"/egret"}),
    ("phrase_of_stop_words", '"at the"', {"/heron"}),
    ("phrase_absent", '"water grey"', set()),
    ("word_with_hyphen_is_a_phrase", "grey-water", {"/egret"}),
    ("prefix", "egr*", {"/heron", "/egret"}),
    ("prefix_case", "EGR*", {"/heron", "/egret"}),
    ("prefix_none", "zz*", set()),
    ("title_only", "herons", {"/heron"}),
    ("parentheses", "(crane OR egret) waits", {"/heron", "/egret"}),
    ("negated_group", "water -(heron OR crane)", {"/egret"}),
    ("attribute_word", "Author:lee", {"/heron", "/egret", "/other"}),
    ("attribute_case", "author:LEE", {"/heron", "/egret", "/other"}),
    ("attribute_phrase", 'Author:"ann lee"', {"/heron", "/egret", "/other"}),
    ("attribute_group", "Author:(bob OR zoe)", {"/egret"}),
    ("attribute_prefix", "Author:le*", {"/heron", "/egret", "/other"}),
    ("attribute_not", "-Author:ann heron", set()),
    ("attribute_with_hyphen", "doc-type:sheet", {"/crane"}),
    ("attribute_title", "Title:crane", {"/crane"}),
    ("number", "Size:10", {"/egret"}),
    ("number_second_value", "Size:7.0", {"/crane"}),
    ("number_negative", "Size:-1.5", {"/crane"}),
    ("date_day", "LastModifiedDate:2024-05-01", {"/dated"}),
    ("date_other_day", "LastModifiedDate:2024-05-02", set()),
    ("date_second", "LastModifiedDate:2024-05-01T23:30:00", {"/dated"}),
    ("date_zone", "LastModifiedDate:2024-05-02T01:30:00+02:00", {"/dated"}),
    ("cjk", "東京タワー", {"/cjk"}),
    ("cjk_prefix", "東*", {"/cjk"}),
    ("dotted_i", "İstanbul", {"/turk"}),
    ("final_sigma", "οδος", {"/turk"}),
    ("sharp_s", "straße", {"/turk"}),
    ("only_punctuation", "!!! ...", set()),
    ("empty", "", {hit.url for hit in LIBRARY}),
    ("address_is_no_attribute", "http://heron/egret", {"/heron", "/egret"}),
]


@pytest.mark.filled_with(LIBRARY)
def test_query(engine: IndexEngine, found: Found, subtests: pytest.Subtests) -> None:
    for name, text, urls in QUERIES:
        with subtests.test(name):
            assert set(found(text)) == urls


FILTERS = [
    ("whole_value", {"where": (("Author", "ann lee"),)}, {"/heron", "/egret", "/other"}),
    ("part_of_value_is_not_equal", {"where": (("Author", "ann"),)}, set()),
    ("any_of_one_attribute", {"where": (("Language", "ja"), ("Language", "TR"))}, {"/cjk", "/turk"}),
    ("all_attributes", {"where": (("Author", "Ann Lee"), ("Size", "3"))}, {"/heron"}),
    ("number", {"where": (("Size", "7"),)}, {"/crane"}),
    ("date", {"where": (("lastmodifieddate", "2024-05-01"),)}, {"/dated"}),
    ("title", {"where": (("Title", "herons"),)}, {"/heron"}),
    ("source", {"source": "t"}, {"/other"}),
    ("source_unknown", {"source": "nobody"}, set()),
    ("text_and_where_and_source", {"text": "heron", "source": "s", "where": (("Size", "3"),)}, {"/heron"}),
]


@pytest.mark.filled_with(LIBRARY)
def test_filter(engine: IndexEngine, found: Found, subtests: pytest.Subtests) -> None:
    for name, options, urls in FILTERS:
        with subtests.test(name):
            assert set(found(**options)) == urls


MISTAKES = [
    ("unknown_where", SearchQuery("", where=(("Colour", "red"),)), "known are: Author,"),
    ("unknown_sort", SearchQuery("", sort="-Colour"), "known are: Author,"),
    ("no_number", SearchQuery("Size:big"), "Size is a number, not 'big'; write for example Size:42"),
    ("no_number_to_compare", SearchQuery("Size:>big"), "Size:>42"),
    ("nan", SearchQuery("Size:nan"), "Size is a number"),
    ("no_date", SearchQuery("LastModifiedDate:soon"), "LastModifiedDate is a date, not 'soon'"),
    ("end_of_time", SearchQuery("LastModifiedDate:9999-12-31"), "is a date"),
    ("deep", SearchQuery("(" * 5000 + "a" * 10), "longer than"),
    ("nested", SearchQuery("(" * 100 + "a"), "deeper than 20"),
    ("long", SearchQuery("a b " * 900), "more than 200 words"),
]


@pytest.mark.filled_with(LIBRARY)
def test_mistake_in_a_query(engine: IndexEngine, subtests: pytest.Subtests) -> None:
    for name, query, message in MISTAKES:
        with subtests.test(name):
            with pytest.raises(UserError) as caught:
                engine.search(query)
            assert message in str(caught.value)
            assert "\n" not in str(caught.value)


def test_last_change_of_a_document_counts(engine: IndexEngine, found: Found) -> None:
    added = engine.apply(
        [document("/a", "first"), document("/b", "one"), document("/a", "second"), Deletion("s", "/b")]
    )
    assert added == 1
    assert found("second") == ["/a"]
    assert found("first") == []
    assert sorted(engine.urls()) == [("s", "/a")]
    assert engine.apply([Deletion("s", "/a"), document("/a", "third")]) == 1
    assert found("third") == ["/a"]
    assert engine.count() == 1


def test_documents_of_sources_with_the_same_url_are_two(engine: IndexEngine, found: Found) -> None:
    engine.apply([document("/a", "x", source="s"), document("/a", "x", source="ss")])
    assert sorted(engine.urls()) == [("s", "/a"), ("ss", "/a")]
    assert list(engine.urls("s")) == [("s", "/a")]
    assert (engine.count(), engine.count("s"), engine.count("none")) == (2, 1, 0)
    engine.apply([Deletion("s", "/a")])
    assert sorted(engine.urls()) == [("ss", "/a")]
    assert len(found("x")) == 1


def test_replacing_over_many_commits_and_merging_keeps_one_version(engine: IndexEngine, found: Found) -> None:
    for round_number in range(12):
        engine.apply([document(f"/{n}", f"round{round_number} word") for n in range(round_number, 20)])
        engine.maintain()
    assert engine.count() == 20
    assert len(found("word")) == 20
    assert sorted(found("round3")) == ["/3"]
    engine.optimise()
    assert len(found("word")) == 20
    assert sorted(found("round3")) == ["/3"]
    assert engine.count() == 20


def test_title_counts_more_than_text(engine: IndexEngine, found: Found) -> None:
    engine.apply(
        [document("/text", "zebra and more words", "horse"), document("/title", "some more words", "zebra")]
    )
    assert found("zebra") == ["/title", "/text"]


def test_more_occurrences_in_shorter_text_score_higher(engine: IndexEngine, found: Found) -> None:
    engine.apply(
        [document("/one", "fox " + "pad " * 50), document("/many", "fox fox fox"), document("/none", "hen")]
    )
    assert found("fox") == ["/many", "/one"]


WITHOUT_JAPANESE = [one for one in LIBRARY if one.url != "/cjk"]
SORTS = [
    ("number", "Size", ["/crane", "/heron", "/egret"]),
    ("number_descending", "-size", ["/egret", "/heron", "/crane"]),
    ("string", "Doc-Type", ["/crane"]),
    ("date", "LastModifiedDate", ["/dated"]),
    ("title", "-Title", ["/turk"]),
]


@pytest.mark.filled_with(WITHOUT_JAPANESE)
def test_sort_puts_documents_without_value_last(
    engine: IndexEngine, found: Found, subtests: pytest.Subtests
) -> None:
    for name, sort, first in SORTS:
        with subtests.test(name):
            assert found("", sort=sort)[: len(first)] == first


def test_limit_and_offset_cut_a_page_out_of_all_matches(engine: IndexEngine) -> None:
    engine.apply([document(f"/{n:02}", "same", Size=[n]) for n in range(25)])
    page = engine.search(SearchQuery("same", sort="Size", limit=5, offset=20))
    assert page.total == 25
    assert [hit.url for hit in page.hits] == ["/20", "/21", "/22", "/23", "/24"]
    assert engine.search(SearchQuery("same", offset=30)).hits == ()
    assert engine.search(SearchQuery("same", limit=0)).total == 25
    pages = [engine.search(SearchQuery("same", limit=10, offset=o)).hits for o in (0, 10, 20)]
    assert len({hit.url for page in pages for hit in page}) == 25


def test_a_secret_text_is_found_and_not_shown(engine: IndexEngine) -> None:
    engine.apply([IndexDocument("s", "/", "Title", "needle in the text", secret_text=True)])
    (hit,) = engine.search(SearchQuery('"needle in"')).hits
    assert (hit.title, hit.snippet) == ("Title", "")


def test_a_hit_carries_the_document(engine: IndexEngine) -> None:
    moment = datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    values = {"Author": ["A", "B"], "Size": [2.5], "LastModifiedDate": [moment], "Unknown": ["x"]}
    engine.apply([IndexDocument("s", "http://h/ü?a=1", "Titel", "Text", values)])
    (hit,) = engine.search(SearchQuery("text")).hits
    assert (hit.url, hit.title, hit.source) == ("http://h/ü?a=1", "Titel", "s")
    attributes = {name: list(found) for name, found in hit.attributes.items()}
    assert attributes == {
        "Author": ["A", "B"], "Size": [2.5], "LastModifiedDate": [moment.astimezone(UTC)], "Title": ["Titel"],
    }  # fmt: skip
    assert hit.score > 0


def test_snippet_marks_the_words_and_folds_space(engine: IndexEngine) -> None:
    text = "filler " * 500 + "the Quick\n\n brown\tfox jumps " + "more " * 500
    engine.apply([document("/a", text)])
    (hit,) = engine.search(SearchQuery("quick fox")).hits
    assert "\x02Quick\x03 brown \x02fox\x03 jumps" in hit.snippet
    assert len(hit.snippet) <= 300
    (plain,) = engine.search(SearchQuery("")).hits
    assert plain.snippet.startswith("filler filler")
    assert len(plain.snippet) <= 300


def test_hostile_text_is_indexed(engine: IndexEngine, found: Found) -> None:
    engine.apply([document("/sur", "bad \ud800 surrogate", "\udfff"), document("/nul", "nul\x00 \x02 word")])
    assert found("surrogate") == ["/sur"]
    assert found("nul") == ["/nul"]
    (hit,) = engine.search(SearchQuery("word")).hits
    assert hit.snippet == "nul \x02word\x03"
    huge = "x" * 200_000
    engine.apply([document("/" + "u" * 3000, huge, huge)])
    assert found("x" * 3) == []


@settings(max_examples=150)
@given(
    text=st.text(max_size=60) | st.lists(st.sampled_from(list('():"+-* \nAN\x00')), max_size=40).map("".join)
)
def test_no_query_text_raises_anything_but_a_user_error(text: str) -> None:
    engine = MemoryIndex(ATTRIBUTES)
    engine.apply(LIBRARY)
    with suppress(UserError):
        assert engine.search(SearchQuery(text)).total <= len(LIBRARY)


@pytest.mark.parametrize("text", ["heron", ""], ids=["match", "beginning"])
def test_snippets_end_after_a_word(engine: IndexEngine, text: str) -> None:
    engine.apply([document("/a", "heron " + " ".join(f"word{n:03}" for n in range(200)))])
    (hit,) = engine.search(SearchQuery(text)).hits
    assert re.fullmatch(r"word\d{3}", hit.snippet.split()[-1])
    assert len(hit.snippet) > 250
