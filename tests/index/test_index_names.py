"""A name finds the page that documents it, with and without what it belongs to, on every engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ultracrawl.index import IndexDocument, IndexEngine, Reading, SearchQuery, SearchResult
from ultracrawl.index.hits.names import NameFinder
from ultracrawl.index.query.identifiers import is_qualified
from ultracrawl.index.query.parser import parse_query, search_with_relaxation
from ultracrawl.model import Section

from .conftest import ATTRIBUTES, document

Ask = Callable[..., SearchResult]
PADDING = "one two three four five six seven eight nine ten. " * 8


def page(url: str, title: str, *sections: tuple[str, str, str]) -> IndexDocument:
    """Return a page with sections: anchor, heading, text."""
    text, found = f"{title}\n", []
    for anchor, heading, said in sections:
        found.append(Section(len(text), 2, anchor, heading))
        text += f"{heading}\n{said} {PADDING}\n"
    return replace(document(url, text, title, Language=["en"]), sections=tuple(found))


MANUALS = [
    # Javadoc: the type in title and address, the member as a heading.
    page(
        "/java.base/java/util/HashMap.html",
        "HashMap (Java SE 17)",
        ("entrySet()", "entrySet", "Returns a Set view of the mappings in package java.util."),
        ("get(java.lang.Object)", "get", "Returns the value."),
        ("inherited", "Methods inherited from java.util.HashMap", "entrySet and others of java.util.HashMap"),
    ),
    page(
        "/java.base/java/util/TreeMap.html",
        "TreeMap (Java SE 17)",
        ("entrySet()", "entrySet", "Like java.util HashMap, a view of the mappings."),
    ),
    page(
        "/guide/maps.html",
        "A tour of maps",
        ("", "Views", "Call java.util.HashMap.entrySet to loop. HashMap"),
    ),
    page(
        "/java.base/java/util/Collections.html",
        "Collections (Java SE 17)",
        ("sort(java.util.List)", "sort", "Sorts a list."),
    ),
    page(
        "/guide/sorting.html", "Sorting", ("", "How to sort", "Collections::sort is quick: Collections::sort")
    ),
    # Sphinx: anchors with the whole name.
    page(
        "/library/os.path.html",
        "os.path \u2014 Common pathname manipulations \u2014 Python documentation",
        ("os.path.join", "os.path.join(path, *paths)", "Join one or more path segments."),
    ),
    page("/faq.html", "FAQ", ("", "Windows", "With os.path.join a path may be wrong, os.path.join again")),
    page(
        "/library/logging.handlers.html",
        "logging.handlers \u2014 Logging handlers \u2014 Python documentation",
        (
            "logging.handlers.RotatingFileHandler",
            "class logging.handlers.RotatingFileHandler(filename)",
            "Files.",
        ),
        ("logging.handlers.RotatingFileHandler.doRollover", "doRollover()", "Does a rollover, as described."),
    ),
    page(
        "/news.html",
        "News",
        ("", "Fixes", "logging.handlers.RotatingFileHandler.doRollover is safe now; a rotating file handler"),
    ),
    # DocBook: the relation in the title, the column somewhere in a table.
    page(
        "/catalog-pg-class.html",
        "53.11. pg_class",
        ("", "Columns", "relname name: name of the table, index, view, etc."),
    ),
    page(
        "/functions.html", "Functions", ("", "Lookup", "select pg_catalog.pg_class.relname from pg_catalog")
    ),
    # Linux: the qualifier in the address, the setting as a heading; words of it in other titles.
    page(
        "/sysctl/kernel.html",
        "Documentation for /proc/sys/kernel/",
        ("panic-on-oops", "panic_on_oops", "Controls the behaviour of sysctl when an error occurs."),
    ),
    page(
        "/panic.html",
        "Kernel panic",
        ("", "Panic", "When the kernel hits an oops it may panic on that, sysctl"),
    ),
    page(
        "/oops.html",
        "Oops",
        ("", "The kernel's oops", "On an oops see panic and sysctl of the kernel; an oops"),
    ),
    # rustdoc.
    page(
        "/std/vec/struct.Vec.html",
        "Vec in std::vec - Rust",
        ("method.with_capacity", "pub fn with_capacity(capacity: usize) -> Vec<T>", "Constructs a new Vec."),
    ),
    page("/book/vectors.html", "Vectors", ("", "Growth", "Vec::with_capacity and Vec::with_capacity again")),
    # Apache: names that are common words, in angle brackets.
    page("/mod/core.html", "core - server", ("files", "<Files> Directive", "Contains directives for names.")),
    *(
        page(f"/move{n}.html", f"About {n} folders", ("", "Moving files", "files and files, files"))
        for n in range(9)
    ),
]


@pytest.fixture
def ask(engine: IndexEngine) -> Ask:
    def answer(text: str, **options: object) -> SearchResult:
        query = SearchQuery(text, **options)  # type: ignore[arg-type]
        return search_with_relaxation(query, ATTRIBUTES, engine.search)

    return answer


NAMES = [
    ("java.util.HashMap.entrySet", "/java.base/java/util/HashMap.html", "entrySet()"),
    ("HashMap#entrySet", "/java.base/java/util/HashMap.html", "entrySet()"),
    ("HashMap entrySet", "/java.base/java/util/HashMap.html", "entrySet()"),
    ("TreeMap->entrySet", "/java.base/java/util/TreeMap.html", "entrySet()"),
    ("Collections::sort", "/java.base/java/util/Collections.html", "sort(java.util.List)"),
    ("os.path.join", "/library/os.path.html", "os.path.join"),
    ("os.path join", "/library/os.path.html", "os.path.join"),
    (
        "logging.handlers.RotatingFileHandler.doRollover",
        "/library/logging.handlers.html",
        "logging.handlers.RotatingFileHandler.doRollover",
    ),
    ("pg_catalog.pg_class", "/catalog-pg-class.html", None),
    ("pg_catalog pg_class", "/catalog-pg-class.html", None),
    ("kernel.panic_on_oops", "/sysctl/kernel.html", "panic-on-oops"),
    ("/proc/sys/kernel/panic_on_oops", "/sysctl/kernel.html", "panic-on-oops"),
    ("sysctl panic_on_oops", "/sysctl/kernel.html", "panic-on-oops"),
    ("Vec::with_capacity", "/std/vec/struct.Vec.html", "method.with_capacity"),
    ("std::vec::Vec", "/std/vec/struct.Vec.html", None),
    ("Files", "/mod/core.html", "files"),
]


@pytest.mark.filled_with(MANUALS)
def test_a_name_finds_the_page_that_documents_it(ask: Ask, subtests: pytest.Subtests) -> None:
    for text, url, anchor in NAMES:
        with subtests.test(text):
            first = ask(text).hits[0]
            assert (first.url, first.section and first.section.anchor) == (url, anchor)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("TreeMap entrySet", "/java.base/java/util/TreeMap.html"),
        ("TreeMap EntrySet", "/java.base/java/util/TreeMap.EntrySet.html"),
    ],
)
def test_of_two_things_whose_names_differ_in_capitals_the_typed_one_is_first(
    engine: IndexEngine, text: str, url: str
) -> None:
    inner = page(
        "/java.base/java/util/TreeMap.EntrySet.html",
        "TreeMap.EntrySet (Java SE 17)",
        ("<init>()", "EntrySet", "Creates a view of the mappings."),
    )
    engine.apply([*MANUALS, inner])
    assert search_with_relaxation(SearchQuery(text), ATTRIBUTES, engine.search).hits[0].url == url


CAPITALS: list[tuple[str, str, bool]] = [
    ("entrySet", "class EntrySet", True),
    ("entrySet", "Map.entrySet(), not EntrySet", False),
    ("entrySet", "entryset", False),
    ("entryset", "EntrySet", False),
    ("Map entrySet", "MAP", True),
    ("Map entrySet", "keys", False),
]


def test_capitals_of_a_name_differ_only_where_both_have_some(subtests: pytest.Subtests) -> None:
    for query, title, expected in CAPITALS:
        with subtests.test(query, title=title):
            finder = NameFinder(parse_query(SearchQuery(query), ATTRIBUTES), query)
            assert finder.has_other_capitals(title) is expected


@pytest.mark.filled_with(MANUALS)
def test_pages_that_mention_a_name_stay_hits_beside_the_one_that_documents_it(ask: Ask) -> None:
    result = ask("java.util.HashMap.entrySet")
    assert "/guide/maps.html" in {hit.url for hit in result.hits}
    assert (result.reading, result.total) == (Reading.PARTS, len(result.hits))


def test_a_name_that_only_one_page_has_is_read_as_it_is_written(engine: IndexEngine) -> None:
    engine.apply([document("/a", "Set vm.swappiness to 1"), document("/b", "nothing")])
    result = search_with_relaxation(SearchQuery("vm.swappiness"), ATTRIBUTES, engine.search)
    assert ([hit.url for hit in result.hits], result.reading) == (["/a"], Reading.ALL_WORDS)


@pytest.mark.filled_with(MANUALS)
def test_filters_pins_and_facets_hold_for_names(ask: Ask) -> None:
    assert {hit.source for hit in ask("os.path.join", sources=("t",)).hits} == set()
    pinned = ask("os.path.join", pinned=("/oops.html",))
    assert [hit.url for hit in pinned.hits[:2]] == ["/oops.html", "/library/os.path.html"]
    plain = ask("os.path.join", facets=("Language",))
    assert plain.facets["Language"][0].count == plain.total


QUALIFIED: list[tuple[str, bool]] = [
    ("os.path.join", True),
    ("Collections::sort", True),
    ("HashMap#entrySet", True),
    ("p->next", True),
    ("net/http.Client", True),
    ("/proc/sys/vm", True),
    ("/etc/ssl/openssl.cnf", False),
    ("3.11", False),
    ("swappiness", False),
    ("well-known", False),
    ("--no-install-recommends", False),
    ("a@b.org", False),
]


def test_what_is_a_qualified_name(subtests: pytest.Subtests) -> None:
    for text, expected in QUALIFIED:
        with subtests.test(text):
            assert is_qualified(text) is expected
