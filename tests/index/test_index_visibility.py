"""Who may see what, in every engine: whatever is asked, hidden documents are as if they were not there."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest
from support.sentences import sentence

from ultracrawl.errors import UserError
from ultracrawl.index import Deletion, IndexDocument, IndexEngine, NewAnchors, SearchQuery
from ultracrawl.rules.access.readers import BY_HAND

from .conftest import document

Found = Callable[..., list[str]]


def readable(url: str, *acl: str, text: str = "heron at the water", **values: object) -> IndexDocument:
    return replace(document(url, text, f"Page {url}", **values), acl=acl)


DOCUMENTS = [
    readable("/all"),
    readable("/staff", "staff", Author=["Ann Lee"]),
    readable("/both", "staff", "Bob Ray", Author=["Ann Lee", "Cid"]),
    readable("/bob", "Bob Ray", Author=["Bob Ray"], Size=[3]),
]


READERS: dict[str, tuple[tuple[str, ...] | None, set[str]]] = {
    "administrator": (None, {"/all", "/staff", "/both", "/bob"}),
    "everybody": ((), {"/all"}),
    "group": (("staff",), {"/all", "/staff", "/both"}),
    "user": (("Bob Ray",), {"/all", "/both", "/bob"}),
    "several": (("Bob Ray", "staff", "nobody"), {"/all", "/staff", "/both", "/bob"}),
    "not exactly": (("Staff", "bob ray", "staff ", "Bob", "Ray", "staf"), {"/all"}),
    "not by a trick": (("restricted", "=staff", "", "*", "staff,Bob Ray"), {"/all"}),
    "many": (tuple(f"group {n}" for n in range(300)), {"/all"}),
}
ALL_FIND = ["heron", "", '"the water"', "her*", "-nothing", "heron OR egret"]


@pytest.mark.filled_with(DOCUMENTS)
def test_documents_are_for_their_readers(engine: IndexEngine, subtests: pytest.Subtests) -> None:
    for (name, (principals, urls)), text in product(READERS.items(), ALL_FIND):
        with subtests.test(f"{name}: {text}"):
            result = engine.search(SearchQuery(text, principals=principals))
            assert {hit.url for hit in result} == urls
            assert result.total == len(urls)
            assert engine.search(SearchQuery(text, principals=principals, limit=0)).total == len(urls)


def test_the_url_of_a_hit_of_an_older_index_runs_no_script(engine: IndexEngine) -> None:
    engine.apply([document("javascript:alert(1)", "heron"), document("https://x.example/", "heron")])
    assert sorted(hit.url for hit in engine.search(SearchQuery("heron"))) == [
        "https://x.example/",
        "unsafe:javascript:alert(1)",
    ]


def test_facets_and_sorting_know_nothing_of_hidden_documents(engine: IndexEngine) -> None:
    engine.apply(DOCUMENTS)
    asked = SearchQuery("heron", principals=("staff",), facets=("Author", "Size"), sort="Author")
    result = engine.search(asked)
    assert [(one.value, one.count) for one in result.facets["Author"]] == [("Ann Lee", 2), ("Cid", 1)]
    assert result.facets["Size"] == ()
    assert [hit.url for hit in result.hits][-1] == "/all"
    hidden = SearchQuery("", principals=(), where=(("Author", "Bob Ray"),))
    assert engine.search(hidden).total == 0


@pytest.mark.parametrize("way", ["fresh", "merged", "deleted"])
def test_suggestions_come_from_what_may_be_seen(engine: IndexEngine, way: str) -> None:
    engine.apply(
        [readable("/secret", "staff", text="kingfisher project"), readable("/all", text="the egret")]
    )
    if way == "merged":
        engine.optimise()
    elif way == "deleted":
        engine.apply([Deletion("s", "/secret"), readable("/other", "staff", text="nothing")])

    def suggested(text: str, *principals: str) -> str:
        return engine.search(SearchQuery(text, principals=principals)).suggestion

    assert suggested("kingfishre") == ""
    assert suggested("egert") == "egret"
    assert suggested("egret kingfishre") == ""
    assert suggested("kingfishre", "staff") == ("" if way == "deleted" else "kingfisher")


def test_a_word_of_hidden_documents_is_as_unknown_as_any_other(engine: IndexEngine) -> None:
    engine.apply([readable("/secret", "staff", text="egrets"), readable("/all", text="egret")])
    assert engine.search(SearchQuery("egrets", principals=())).suggestion == "egret"
    assert engine.search(SearchQuery("egrets", principals=("staff",))).total == 1


def test_like_knows_nothing_of_hidden_documents(engine: IndexEngine, found: Found) -> None:
    same = "kingfisher dives river " * 3
    engine.apply([
        readable("/a", text=same), readable("/b", text=same), readable("/c", "staff", text=same),
        readable("/two", "staff", text=same), replace(readable("/two", text="kingfisher"), source="t"),
    ])  # fmt: skip
    assert set(found(like="/a", principals=())) == {"/b", "/two"}
    assert set(found(like="/a", principals=("staff",))) == {"/b", "/c", "/two"}
    for url in ("/c", "/unknown"):
        with pytest.raises(UserError, match=re.escape(sentence("index.nothing_similar", url=url))):
            engine.search(SearchQuery(like=url, text="", principals=()))
    assert set(found(like="/two", principals=())) == {"/a", "/b"}, "of the other source"


def test_a_document_gets_other_readers_by_being_written_anew(engine: IndexEngine, found: Found) -> None:
    engine.apply(DOCUMENTS)
    engine.apply([readable("/all", "staff"), readable("/bob")])
    assert found("heron", principals=()) == ["/bob"]
    engine.rebuild()
    assert found("heron", principals=()) == ["/bob"]
    assert set(found("heron", principals=("staff",))) == {"/all", "/staff", "/both", "/bob"}
    engine.optimise()
    assert found("heron", principals=()) == ["/bob"]


def test_documents_without_readers_are_for_everybody(engine: IndexEngine, found: Found) -> None:
    engine.apply([readable("/a"), readable("/b")])
    assert set(found("heron", principals=())) == {"/a", "/b"}
    assert engine.search(SearchQuery("heorn", principals=())).suggestion == "heron"


OF_TWO = [
    readable("/kept", text="egret at the water", Author=["Cid"]),
    replace(readable("/kept", text="egret at the water", Author=["Ann"]), source="old"),
    replace(readable("/gone", text="kingfisher at the water", Author=["Ann"]), source="old"),
]


@pytest.mark.parametrize("principals", [None, ()], ids=["administrator", "everybody"])
def test_documents_of_excluded_sources_are_as_if_they_were_not_there(
    engine: IndexEngine, principals: tuple[str, ...] | None
) -> None:
    engine.apply(OF_TWO)
    asked = SearchQuery("water", principals=principals, excluded_sources=("old",), facets=("Author",))
    result = engine.search(asked)
    assert [(hit.source, hit.url) for hit in result] == [("s", "/kept")]
    assert result.total == 1
    assert [(one.value, one.count) for one in result.facets["Author"]] == [("Cid", 1)]
    for text, suggested in (("kingfishre", ""), ("egert", "egret")):
        assert engine.search(replace(asked, text=text)).suggestion == suggested
    with pytest.raises(UserError, match="no document /gone"):
        engine.search(replace(asked, text="", like="/gone"))
    assert engine.search(replace(asked, text="kingf", completing=True)).total == 0
    assert engine.search(replace(asked, text="", where=(("Author", "Ann"),))).total == 0
    assert engine.search(replace(asked, excluded_sources=())).total == 3


OLD_AND_NEW = [
    readable("/old-private", "games", text="egret at the water", Author=["Ann"]),
    readable("/new-private", "user:games", text="heron at the water", Author=["Bob"]),
    readable("/new-group", "user:games", "group:games", text="gull at the water", Author=["Cid"]),
    readable("/by-hand", "games", BY_HAND, text="kingfisher at the water", Author=["Dee"]),
    replace(readable("/elsewhere", "games", text="teal at the water", Author=["Eve"]), source="other"),
]
READERS_FOUND = [
    (("games",), {"/by-hand", "/elsewhere"}),
    (("user:games",), {"/new-private", "/new-group"}),
    (("group:games",), {"/new-group"}),
    (("group:games", "games"), {"/new-group", "/by-hand", "/elsewhere"}),
    (("user:game", "User:games", "group:", "user:"), set()),
    ((), set()),
    (None, {"/old-private", "/new-private", "/new-group", "/by-hand", "/elsewhere"}),
]


@pytest.mark.parametrize(("principals", "urls"), READERS_FOUND)
def test_a_name_that_was_derived_without_its_type_shows_a_document_to_nobody(
    engine: IndexEngine, principals: tuple[str, ...] | None, urls: set[str]
) -> None:
    """Whatever is asked, and as long as the document is as an earlier version wrote it."""
    engine.apply(OLD_AND_NEW)
    asked = SearchQuery("water", principals=principals, derived_readers=("s",), facets=("Author",))
    for _ in range(2):
        result = engine.search(asked)
        assert ({hit.url for hit in result}, result.total) == (urls, len(urls))
        shown = {value.value for value in result.facets["Author"]}
        assert shown == {
            author for one in OLD_AND_NEW if one.url in urls for author in one.attributes["Author"]
        }
        for one, word, wrong in zip(
            OLD_AND_NEW, ("egret", "heron", "gull", "kingfisher", "teal"),
            ("egert", "heorn", "gulll", "kingfishre", "teall"), strict=True,
        ):  # fmt: skip
            is_seen = one.url in urls
            assert engine.search(replace(asked, text=wrong)).suggestion == (word if is_seen else "")
            assert (
                engine.search(replace(asked, text=f"page {one.url}"[:-2], completing=True)).total == is_seen
            )
            if is_seen:
                engine.search(replace(asked, text="", like=one.url))
            else:
                with pytest.raises(UserError):
                    engine.search(replace(asked, text="", like=one.url))
        engine.rebuild()


def test_new_readers_leave_the_rest_of_a_document_as_it_is(engine: IndexEngine, found: Found) -> None:
    engine.apply([readable("/a", "games"), readable("/b", "games"), readable("/c", "games")])
    called = NewAnchors("s", "/a", ("bird",))
    engine.apply([
        NewAnchors("s", "/a", (), acl=("user:games",)), called, NewAnchors("s", "/b", (), acl=()),
        NewAnchors("s", "/gone", (), acl=("games",)),
    ])  # fmt: skip
    assert set(found("heron", principals=("games",))) == {"/b", "/c"}
    assert set(found("heron", principals=("user:games",))) == {"/a", "/b"}
    assert found("bird", principals=("user:games",)) == ["/a"]
    assert engine.count() == 3


def test_an_index_says_whose_documents_it_has(engine: IndexEngine) -> None:
    assert engine.sources() == ()
    engine.apply(OF_TWO[:1])
    assert engine.sources() == ("s",)
    engine.apply(OF_TWO[1:])
    assert engine.sources() == ("old", "s")
    engine.apply([Deletion("old", "/kept"), Deletion("old", "/gone")])
    assert engine.sources() == ("s",)
    engine.optimise()
    assert engine.sources() == ("s",)
