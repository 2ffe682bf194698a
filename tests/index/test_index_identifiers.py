"""Names of code and configuration are found whole and by their parts, on every engine."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.memory_index import MemoryIndex

from ultracrawl.index import IndexEngine, SearchQuery
from ultracrawl.index.engine import Reading
from ultracrawl.index.hits.highlighting import END_MARK, START_MARK
from ultracrawl.index.hits.identifiers import IdentifierMatcher
from ultracrawl.index.query import tree
from ultracrawl.index.query.parser import parse_query, search_with_relaxation
from ultracrawl.index.words import identifiers
from ultracrawl.index.words.identifiers import identifier_terms, query_operators, word_parts

from .conftest import ATTRIBUTES, document

Found = Callable[..., list[str]]

NAMES = {
    "tcp_syncookies": ("tcp", "syncookies"),
    "HashMap": ("hash", "map"),
    "getElementById": ("get", "element", "by", "id"),
    "XMLHttpRequest": ("xml", "http", "request"),
    "IOError": ("io", "error"),
    "utf8mb4": ("utf8", "mb4"),
    "Base64Encoder": ("base64", "encoder"),
    "__init__": ("init",),
    "gr\u00f6\u00dfeMax": ("grosse", "max"),
    "E0502": (),
    "URLs": (),
    "Heron": (),
    "x_1": (),
    "0x7fff": (),
    "a_b" * 40: (),
}


def test_the_parts_of_a_word(subtests: pytest.Subtests) -> None:
    for name, parts in NAMES.items():
        with subtests.test(name):
            assert word_parts(name) == parts


def parsed(text: str) -> tree.Node:
    return parse_query(SearchQuery(text), {})


def words_of(node: tree.Node) -> set[str]:
    return {leaf.word for leaf in tree.searched_words(node) if isinstance(leaf, tree.Word)}


def test_a_name_in_a_query_is_itself_or_looser_its_parts() -> None:
    name = parsed("std::HashMap::with_capacity")
    assert isinstance(name, tree.Named)
    assert (name.words, name.names) == (("std", "hashmap", "with_capacity"), ("with_capacity",))
    node = name.node
    assert isinstance(node, tree.Identifier)
    assert node.whole == tree.Phrase(("std", "hashmap", "with_capacity"))
    assert words_of(node) == {"std", "hashmap", "with_capacity"}
    assert words_of(node.parts) == {"std", "hash", "map", "hashmap", "with", "capacity", "with_capacity"}


NO_NAMES = ["heron", "\u6771\u4eac\u30bf\u30ef\u30fc", '"HashMap"', "HashM*", "Stra\u00dfe"]


def test_what_is_no_name_has_no_parts(subtests: pytest.Subtests) -> None:
    for text in NO_NAMES:
        with subtests.test(text):
            node = parsed(text)
            assert not isinstance(node.node if isinstance(node, tree.Named) else node, tree.Identifier)


MANUAL = [
    document("/syncookies", "Set net.ipv4.tcp_syncookies to 1", "Kernel settings"),
    document("/flood", "SYN cookies guard against a flood of the network", "SYN flood"),
    document("/vec", "Calls of Vec::with_capacity(10) allocate once", "Vectors"),
    document("/capacity", "The capacity of a vector; with more it grows. Vec is one", "Capacity"),
    document("/table", "A HashMap has entries", "Collections"),
    document("/atlas", "An atlas is a map, not a hash", "Atlas"),
    document("/dom", "document.getElementById finds it by its id; see XMLHttpRequest", "DOM"),
    document("/charset", "The charset utf8mb4 has all characters", "Charsets"),
    document("/cpp", "We write C++ and use operator!= there", "A language"),
    document("/c", "C is a language too, and operator~ is an operator", "The C language"),
    document("/csharp", "In C# or F#: @property and #pragma, and $_ is the topic", "Others"),
    document(
        "/json", "a ->> 'b' and x @> y; case of letters does not matter to ~*; a::text, b && c", "Operators"
    ),
    document("/order", "a <=> b compares; a != b is no order; -> and |- are arrows", "Comparing"),
    document("/index", "v.operator[](1) and f.operator()(2)", "Calls"),
    document("/ssl", "Edit /etc/ssl/openssl.cnf, then src/main.rs; see E0502", "Files"),
    document("/apt", "Run apt-get install --no-install-recommends foo", "Apt"),
]

WHOLE = {
    "net.ipv4.tcp_syncookies": ["/syncookies"],
    "tcp_syncookies": ["/syncookies"],
    "Vec::with_capacity": ["/vec"],
    "vec::With_Capacity": ["/vec"],
    "HashMap": ["/table"],
    "hashmap": ["/table"],
    "document.getElementById": ["/dom"],
    "utf8mb4": ["/charset"],
    "C++": ["/cpp"],
    "c++": ["/cpp"],
    '"C++"': ["/cpp"],
    "C++ operator": ["/cpp"],
    "C#": ["/csharp"],
    "F#?": ["/csharp"],
    "operator!=": ["/cpp"],
    "operator~": ["/c"],
    "operator[]": ["/index"],
    "operator()": ["/index"],
    "@property": ["/csharp"],
    "#pragma": ["/csharp"],
    "$_": ["/csharp"],
    "->>": ["/json"],
    "@>": ["/json"],
    "~*": ["/json"],
    "::": ["/json", "/vec"],
    "&&": ["/json"],
    "!=": ["/cpp", "/order"],
    "a != b": ["/order"],
    "<=>": ["/order"],
    "->": ["/order"],
    "|-": ["/order"],
    "/etc/ssl/openssl.cnf": ["/ssl"],
    "src/main.rs": ["/ssl"],
    "E0502": ["/ssl"],
    "--no-install-recommends": ["/apt"],
    "-> -@property": ["/order"],
}


@pytest.mark.filled_with(MANUAL)
def test_names_and_operators_are_found_as_they_are_written(
    engine: IndexEngine, found: Found, subtests: pytest.Subtests
) -> None:
    for text, urls in WHOLE.items():
        with subtests.test(text):
            assert sorted(found(text)) == urls


BY_PARTS = {
    "syncookies": ["/syncookies"],
    "capacity": ["/capacity", "/vec"],
    "hash map": ["/atlas", "/table"],
    "map": ["/atlas", "/table"],
    "element": ["/dom"],
    "request http": ["/dom"],
    "utf8": ["/charset"],
    "openssl": ["/ssl"],
    "syncook*": ["/syncookies"],
}


@pytest.mark.filled_with(MANUAL)
def test_a_name_is_found_by_its_parts_after_the_words_themselves(
    engine: IndexEngine, found: Found, subtests: pytest.Subtests
) -> None:
    for text, urls in BY_PARTS.items():
        with subtests.test(text):
            assert found(text) == urls


def test_a_part_counts_less_than_a_word_however_common_that_is(engine: IndexEngine, found: Found) -> None:
    engine.apply([document(f"/{n}", "heron " * n + "and egret " * 20) for n in range(1, 50)])
    engine.apply([document("/name", "the setting heron_limit")])
    assert found("heron")[-1] == "/name"


SCATTERED = {
    "std::collections::HashMap::entry": "/rust",
    "HashMap::remove_entry": "/rust",
    "kernel.panic_on_oops": "/oops",
    "getCapacityHint": "/growing",
    "#heron": "/bird",
    "F++": "/keys",
}


PROSE = [
    document("/rust", "The hash map of std, in collections, has an entry; remove takes it out"),
    document("/rusty", "Its entry is in the map"),
    document("/oops", "The kernel may panic after an oops that it goes on from"),
    document("/growing", "A hint of the capacity is what to get first"),
    document("/bird", "A heron"),
    document("/keys", "The keys F and G"),
]


@pytest.mark.filled_with(PROSE)
def test_a_name_that_is_nowhere_as_it_is_written_is_found_by_all_its_parts(
    engine: IndexEngine, subtests: pytest.Subtests
) -> None:
    for text, url in SCATTERED.items():
        with subtests.test(text):
            result = search_with_relaxation(SearchQuery(text), ATTRIBUTES, engine.search)
            assert ([hit.url for hit in result.hits], result.reading) == ([url], Reading.PARTS)


def test_a_sign_in_the_title_counts(engine: IndexEngine, found: Found) -> None:
    more = "C++ is not C, though C++ has C in it and C is in C++. " * 20
    engine.apply(
        [
            document("/1", more, "The C language"),
            document("/2", "All of C++ is explained here, templates too", "The C++ language"),
        ]
    )
    assert found("C++") == ["/2", "/1"]
    assert found("C language")[0] == "/1"


@pytest.mark.parametrize("remade", [False, True], ids=["replaced", "rebuilt"])
def test_names_are_found_after_a_change(engine: IndexEngine, found: Found, remade: bool) -> None:
    engine.apply(MANUAL)
    engine.apply([document("/table", "An atlas"), document("/cpp", "In C++ the HashMap is unordered")])
    if remade:
        engine.rebuild()
    assert (found("C++"), found("hash"), found("!=")) == (["/cpp"], ["/atlas", "/cpp"], ["/order"])


MARKED = {
    "capacity": "Calls of Vec::with_[capacity](10) allocate once",
    "hash map": "A [Hash][Map] has entries",
    "hashmap": "A [HashMap] has entries",
    "syncookies": "Set net.ipv4.tcp_[syncookies] to 1",
    "tcp_syncookies": "Set net.ipv4.[tcp_syncookies] to 1",
    "element http": "document.get[Element]ById finds it by its id; see XML[Http]Request",
    "utf8 characters": "The charset [utf8]mb4 has all [characters]",
    "C++": "We write [C++] and use operator!= there",
    "operator!=": "We write C++ and use [operator!=] there",
    "#pragma": "In C# or F#: @property and [#pragma], and $_ is the topic",
    "->>": "a [->>] 'b' and x @> y; case of letters does not matter to ~*; a::text, b && c",
    "etc/ssl": "Edit /[etc]/[ssl]/openssl.cnf, then src/main.rs; see E0502",
}


@pytest.mark.filled_with(MANUAL)
def test_the_snippet_marks_what_was_sought_in_names(engine: IndexEngine, subtests: pytest.Subtests) -> None:
    for text, shown in MARKED.items():
        with subtests.test(text):
            snippets = [hit.snippet for hit in engine.search(SearchQuery(text)).hits]
            assert shown in [one.replace(START_MARK, "[").replace(END_MARK, "]") for one in snippets]


@given(st.text(alphabet="abAB_+#@-> 08", max_size=60))
def test_every_sign_and_part_of_a_text_is_found_in_it_again(text: str) -> None:
    for term in identifier_terms(text):
        matcher = IdentifierMatcher({term: 1})
        places = [*matcher.operators(text, 0, len(text)), *matcher.parts(text, 0, len(text), 1)]
        assert places, term
        assert {text[start:end].lower().replace("r ", "r") for start, end, _ in places} == {term}


MISSPELT = {
    "HashMpa": "HashMap",
    "HashMpa::entry": "HashMap::entry",
    "get_elemnt": "get_element",
    "tcp_synccookies": "tcp_syncookies",
    "TCP_SYNCCOOKIES": "TCP_SYNCOOKIES",
    "net.ipv4.tcp_synccookies -heron": "net.ipv4.tcp_syncookies -heron",
    "max_conections Size:3": "max_connections Size:3",
    "autovacuum_vacuum_scale_facter": "autovacuum_vacuum_scale_factor",
    "opensl.cnf": "openssl.cnf",
    "pg_slep": "pg_sleep",
    "PG_SLEP PgSlep": "PG_SLEEP PgSleep",
    "tcpsyncookies": "tcp_syncookies",
    "qqqqq_xxxxx": "",
    "C++++ ->>>": "",
}


SETTINGS = [*MANUAL, document("/settings", "max_connections or autovacuum_vacuum_scale_factor")]
STEPS = [document("/sleep", "pg_sleep and PgSleep, but a step is a step"), document("/step", "step")]


@pytest.mark.filled_with(SETTINGS, STEPS)
def test_spelling_inside_a_name(engine: IndexEngine, subtests: pytest.Subtests) -> None:
    for text, better in MISSPELT.items():
        with subtests.test(text):
            assert engine.search(SearchQuery(text)).suggestion == better


LONG = 200_000


LONG_RUNS = ["a_" * LONG, "aB" * LONG, "x1y" * LONG, "@" + "a" * LONG, ":" * LONG, "$" * LONG]


def test_long_runs_are_no_names_and_are_not_remembered(subtests: pytest.Subtests) -> None:
    for text in LONG_RUNS:
        with subtests.test(text[:6]):
            assert all(len(term) <= 60 for term in identifier_terms(text))
            assert not [word for word in identifiers._PARTS if len(word) > 60]
            assert not [sign for sign in identifiers._FOLDED if len(sign) > 60]
            assert [*IdentifierMatcher({"ab": 1, "a": 2}).parts(text, 0, len(text), 3)] == []


def test_few_words_are_looked_up_for_a_suggestion() -> None:
    asked: list[str] = []
    index = MemoryIndex(ATTRIBUTES)
    index.apply(MANUAL)
    index.frequency = lambda word: asked.append(word) or 0  # type: ignore[method-assign, func-returns-value]
    for text in (
        "aaaaaaaa_bbbbbbbb_cccccccc " * 20,
        " ".join(f"{chr(n)}aaaaaaaaaaaaaaaa" for n in range(98, 120)),
    ):
        asked.clear()
        assert index.search(SearchQuery(text)).suggestion == ""
        assert len(asked) < 12_000


NAME = st.from_regex(
    r"\A[A-Za-z_@#$][A-Za-z0-9_]{0,8}(?:(?:::|\.|->|/|#|\+\+|!=|_)[A-Za-z0-9_]{1,8}){0,3}(?:\+\+|#)?\Z"
)


@given(
    NAME, st.sampled_from(["", "In ", "f(", "\u95a2\u6570 "]), st.sampled_from(["", " is", ")", ", or", "."])
)
def test_a_name_as_it_stands_in_a_text_finds_the_document(name: str, before: str, after: str) -> None:
    index = MemoryIndex(ATTRIBUTES)
    index.apply([document("/name", f"{before}{name}{after}"), document("/other", "other")])
    hits = index.search(SearchQuery(name, suggest=False)).hits
    assert [hit.url for hit in hits] == ["/name"] or not any(map(str.isalnum, name))


@given(st.text(max_size=60) | st.text(alphabet="aA0_+#@$%:=!->~\u00e4\u6771\x01?\n ", max_size=40))
def test_no_text_raises(text: str) -> None:
    terms = identifier_terms(text)
    assert all(term and not re.search(r"\s", term) for term in terms)
    assert set(query_operators(text)) <= set(terms)
