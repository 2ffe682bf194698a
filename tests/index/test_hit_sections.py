"""The part of a document that a hit names: the same in every engine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ultracrawl.content.html.page import parse_html
from ultracrawl.index import Hit, IndexDocument, IndexEngine, NewAnchors, SearchQuery
from ultracrawl.index.query.parser import search_with_relaxation
from ultracrawl.index.stored_fields import STORED_TEXT_LIMIT
from ultracrawl.model.page import Section


def manual(
    *parts: tuple[int, str, str, str], title: str = "Settings", url: str = "http://h/m.html"
) -> IndexDocument:
    """Return a document of parts: level, anchor, title, and the text below it."""
    text, sections = "", []
    for level, anchor, heading, below in parts:
        sections.append(Section(len(text), level, anchor, heading))
        text += f"{heading} {below} "
    return IndexDocument("s", url, title, text.strip(), {"Language": ["en"]}, sections=tuple(sections))


PARTS = (
    (1, "settings", "Settings", "How the server is set up. Every setting has a default."),
    (2, "connections", "Connections", "These settings are about clients that connect."),
    (
        7,
        "GUC-MAX-CONNECTIONS",
        "max_connections (integer)",
        "Determines how many clients may connect. The default is 100.",
    ),
    (7, "GUC-RESERVED", "reserved (integer)", "Slots for superusers. It must be less than max_connections."),
    (2, "memory", "Memory", "What buffers and sorting take."),
    (
        7,
        "guc-shared-buffers",
        "shared_buffers",
        "Sets the memory for pages that are shared. Restart after a change.",
    ),
    (7, "", "Notes", "Huge pages need privileges of the kernel."),
    (7, "guc-work-mem", "work_mem", "Sets the memory of one sort. Sorting on disk begins beyond it."),
)
MANUAL = manual(*PARTS)


def hit(engine: IndexEngine, query: str, *documents: IndexDocument) -> Hit:
    engine.apply(documents or (MANUAL,))
    return engine.search(SearchQuery(query)).hits[0]


ANSWERS: list[tuple[str, str | None]] = [
    ("max_connections", "GUC-MAX-CONNECTIONS"),
    ("guc_shared_buffers", None),
    ("shared buffers", "guc-shared-buffers"),
    ("guc max", "GUC-MAX-CONNECTIONS"),
    ("connections", "connections"),
    ("sorting", "guc-work-mem"),
    ("superusers", "GUC-RESERVED"),
    ("superuser max_connections", "GUC-RESERVED"),
    ('"shared pages" OR "are shared"', "guc-shared-buffers"),
    ("memory", "memory"),
    ("memory sort", "memory"),
    ("huge", "guc-shared-buffers"),
    ("settings", ""),
    ("set up", ""),
    ("settings default", ""),
]


@pytest.mark.filled_with([MANUAL])
def test_the_part_that_answers(engine: IndexEngine, subtests: pytest.Subtests) -> None:
    for query, anchor in ANSWERS:
        with subtests.test(query):
            hits = engine.search(SearchQuery(query)).hits
            if anchor is None:
                assert not hits, "nothing is found by a name that nobody wrote"
                continue
            found = hits[0].section
            assert (found.anchor if found else "") == anchor
            assert hits[0].section_url == f"http://h/m.html{f'#{anchor}' if anchor else ''}"


def test_it_is_named_and_its_text_is_shown(engine: IndexEngine) -> None:
    found = hit(engine, "max_connections")
    assert found.section is not None
    assert (found.section.title, found.section.level) == ("max_connections (integer)", 7)
    assert found.snippet == "Determines how many clients may connect. The default is 100."
    assert hit(engine, "kernel").snippet == "Huge pages need privileges of the \x02kernel\x03."


def test_a_part_that_nothing_leads_to_is_named_where_nothing_leads_anywhere(engine: IndexEngine) -> None:
    found = hit(engine, "buffers", manual(*((level, "", title, text) for level, _, title, text in PARTS)))
    assert found.section is not None
    assert (found.section.title, found.section_url) == ("shared_buffers", "http://h/m.html") or (
        found.section.title == "Memory"
    )


def test_a_box_among_parts_is_named_by_the_part_that_it_stands_in(engine: IndexEngine) -> None:
    parts = (
        *PARTS,
        (2, "sorting", "Sorting", "How rows are ordered."),
        (2, "", "Note", "Collations cost time."),
    )
    found = hit(engine, "collations", manual(*parts))
    assert found.section is not None
    assert (found.section.title, found.snippet) == ("Sorting", "\x02Collations\x03 cost time.")


def test_the_form_that_was_typed_goes_before_others(engine: IndexEngine) -> None:
    parts = (*PARTS, (2, "proxy", "Proxy", "One of them."), (2, "proxies", "Proxies", "All of them."))
    sections = [hit(engine, query, manual(*parts)).section for query in ("proxy", "proxies")]
    assert [one.anchor if one else None for one in sections] == ["proxy", "proxies"]


def test_words_of_the_title_choose_no_part(engine: IndexEngine) -> None:
    parts = ((1, "f", "Built-in functions", "There are some."), (2, "ord", "ord(c)", "The code of a sign."))
    found = hit(engine, "built-in function ord", manual(*parts, title="Built-in functions"))
    assert found.section is not None
    assert found.section.anchor == "ord"


def test_texts_of_links_to_a_part_choose_it(engine: IndexEngine) -> None:
    long = "x" * 90 + "(java.lang.String,java.util.Map)"
    parts = (*PARTS, (2, long, "Constructor", "Makes one."), (2, "a (b)", "Other", "Else."))
    engine.apply([manual(*parts)])
    called = (
        ("memory", "tuning guide"),
        (long[:100], "with a map"),
        ("a%20(b)", "an escaped one"),
        ("gone", "lost"),
    )
    engine.apply([NewAnchors("s", "http://h/m.html", (), called)])
    found = [
        engine.search(SearchQuery(query)).hits[0] for query in ("tuning guide", "map", "escaped", "lost")
    ]
    assert [one.section.anchor if one.section else None for one in found] == ["memory", long, "a (b)", None]
    assert found[2].section_url == "http://h/m.html#a%20(b)"


def test_a_part_that_is_called_just_what_is_sought_is_named_though_the_title_has_it_too(
    engine: IndexEngine,
) -> None:
    parts = (
        (1, "top", "Maps of the server", "All about maps."),
        (2, "map", "Maps", "A map."),
        (2, "x", "Map keys", "Keys."),
    )
    found = hit(engine, "maps", manual(*parts, title="Maps of the server"))
    assert found.section is not None
    assert found.section.anchor == "map"
    assert hit(engine, "server maps", manual(*parts, title="Maps of the server")).section is None


METHODS = (
    (1, "", "Struct BTreeSet", "An ordered set, made from others, into which elements are put."),
    (4, "method.insert", "pub fn insert(&mut self, value: T)", "Adds a value from outside into it."),
    (4, "method.fmt-1", "fn fmt(&self, f: &mut Formatter)", "Formats it: fmt of fmt."),
    (4, "method.fmt", "fn fmt(&self, f: &mut Formatter)", "Formats it."),
    (4, "impl-Hash", "impl Hash for BTreeSet", "Hash, hash and hash again."),
    (4, "method.hash", "fn hash(&self, state: &mut H)", "Feeds it."),
    (4, "method.from", "fn from(arr: [T; N])", "Converts an array."),
    (4, "method.into", "fn into(self)", "Calls the other one."),
)


@pytest.mark.parametrize(
    ("query", "anchor"),
    [
        ("BTreeSet from", "method.from"),
        ("BTreeSet into", "method.into"),
        ("BTreeSet::from", "method.from"),
        ("BTreeSet::fmt", "method.fmt"),
        ("BTreeSet insert", "method.insert"),
        ("BTreeSet hash", "method.hash"),
        ("BTreeSet hash again", "impl-Hash"),
        ("insert from outside", "method.insert"),
        ("BTreeSet with", None),
    ],
)
def test_a_method_that_is_called_like_a_stop_word_has_its_part(
    engine: IndexEngine, query: str, anchor: str | None
) -> None:
    engine.apply([manual(*METHODS, title="BTreeSet in std::collections - Rust")])
    (found,) = search_with_relaxation(SearchQuery(query), {}, engine.search).hits
    assert (found.section and found.section.anchor) == anchor


MARKED = b"""<title>Options</title><h1>Options</h1>
<ul><li><a href="#jm">journal mode</a><li><a href="#x">extents</a></ul>
<p>They are set when it is built. <a name=busy></a><h3>(5) RESULT_BUSY</h3><p>Another one writes.
<a name=omit></a><p><b>OMIT_TRIGGER</b></p><blockquote>Leaves triggers out.</blockquote>
<dl><dd><span id=a></span><span id=cd></span></dd><dt><tt>AUTO_CD</tt></dt><dd>Changes the folder.</dl>
<a name=jm></a><p>How changes are kept until they are sure.<p id=x>How far files reach."""


MARKS = [
    ("RESULT_BUSY", "busy", "Another one writes"),
    ("OMIT_TRIGGER", "omit", "Leaves triggers out"),
    ("auto_cd", "cd", "Changes the folder"),
    ("journal mode", "jm", "How changes are kept"),
    ("extents", "x", "How far files reach"),
]


def test_a_name_leads_to_its_mark(engine: IndexEngine, subtests: pytest.Subtests) -> None:
    for query, anchor, shown in MARKS:
        with subtests.test(query):
            page = parse_html(MARKED, url="http://h/m.html")
            english = {"Language": ["en"]}
            found = hit(
                engine,
                query,
                IndexDocument("s", "http://h/m.html", page.title, page.text, english, sections=page.sections),
            )
            assert found.section_url == f"http://h/m.html#{anchor}"
            assert shown in found.snippet.replace("[", "").replace("]", "")


def test_without_words_of_the_text_no_part_is_named(engine: IndexEngine, subtests: pytest.Subtests) -> None:
    for query in ["", "m"]:
        with subtests.test(query):
            assert hit(engine, query).section is None


def test_of_a_text_that_may_not_be_shown_no_part_is_named(engine: IndexEngine) -> None:
    found = hit(engine, "max_connections", replace(MANUAL, secret_text=True))
    assert (found.section, found.snippet) == (None, "")


def test_a_pasted_url_names_its_part(engine: IndexEngine) -> None:
    found = hit(engine, "http://h/m.html#guc-work-mem")
    assert found.section is not None
    assert found.section.title == "work_mem"
    assert found.snippet.startswith("Sets the memory of one sort.")


def test_a_part_behind_what_is_kept_for_snippets_is_shown(engine: IndexEngine) -> None:
    filling = (
        (2, "filling", "Filling", "word " * (STORED_TEXT_LIMIT // 5)),
        (2, "last", "Last one", "The very end is here."),
    )
    found = hit(engine, "end", manual(*PARTS, *filling))
    assert found.section is not None
    assert (found.section.anchor, found.snippet) == ("last", "The very \x02end\x03 is here.")


def test_a_document_of_thousands_of_parts_is_looked_at_in_no_time(engine: IndexEngine) -> None:
    parts = (
        (2, f"entry-{number}", f"entry_{number}", f"Entry number {number} of many.") for number in range(3000)
    )
    found = hit(engine, "entry_2999", manual(*parts, title="Index"))
    assert found.section is not None
    assert found.section.anchor == "entry-2999"


def test_the_part_with_the_very_sentence_that_was_asked_for_answers(engine: IndexEngine) -> None:
    parts = (
        (1, "memory", "Memory of a sort", "The sort of memory sets what one sort takes. " * 5),
        (2, "buffers", "Buffers", "Sets the memory of one sort. Sorting on disk begins beyond it."),
        (2, "sorts", "Sorts of memory", "One sort of memory sets the other. " * 5),
    )
    found = hit(engine, "sets the memory of one sort", manual(*parts))
    assert found.section is not None
    assert found.section.anchor == "buffers"


def sections(engine: IndexEngine, query: str, most: int = 3) -> list[str]:
    found = engine.search(SearchQuery(query, sections=most)).hits[0]
    return [one.section.anchor for one in found.sections]


@pytest.mark.parametrize(
    ("query", "anchors"),
    [
        ("max_connections", ["GUC-MAX-CONNECTIONS"]),
        ("memory", ["memory"]),
        ("sort", ["guc-work-mem", "memory"]),
        ("integer", ["GUC-MAX-CONNECTIONS", "GUC-RESERVED"]),
        ("how the server is set up", []),
    ],
)
def test_the_sections_that_match_best_first(engine: IndexEngine, query: str, anchors: list[str]) -> None:
    engine.apply([MANUAL])
    assert sections(engine, query) == anchors
    assert sections(engine, query, 1) == anchors[:1]
    assert sections(engine, query, 0) == []


def test_a_section_has_its_url_and_a_marked_snippet(engine: IndexEngine) -> None:
    engine.apply([MANUAL])
    found = engine.search(SearchQuery("integer", sections=3)).hits[0]
    first = found.sections[0]
    assert (first.section, first.url) == (found.section, found.section_url)
    clients = engine.search(SearchQuery("clients", sections=3)).hits[0].sections
    assert ["\x02clients\x03" in one.snippet for one in clients] == [True, True]
    assert clients[0].url.startswith("http://h/m.html#")


def test_sections_around_one_anchor_are_one(engine: IndexEngine) -> None:
    notes = manual(
        (1, "top", "Guide", "All about it."),
        (2, "birds", "Birds", "A heron."),
        (3, "", "Note", "A heron again."),
        (3, "", "Heron warning", "A heron once more."),
    )
    engine.apply([notes])
    assert sections(engine, "heron") == ["birds"]


def test_a_page_whose_title_answers_still_lists_its_sections(engine: IndexEngine) -> None:
    engine.apply([manual(*PARTS, title="Memory settings of the server")])
    found = engine.search(SearchQuery("memory", sections=3)).hits[0]
    assert found.sections
    assert found.sections[0].section.anchor == "memory"


def test_hidden_text_has_no_sections(engine: IndexEngine) -> None:
    engine.apply([replace(MANUAL, secret_text=True)])
    assert sections(engine, "memory") == []


def test_a_url_with_a_fragment_has_the_section_of_it(engine: IndexEngine) -> None:
    engine.apply([MANUAL])
    assert sections(engine, "http://h/m.html#guc-work-mem") == ["guc-work-mem"]


BOOK_INDEX = manual(
    (3, "h", "H", ""),
    (7, "i1", "hash join, Planner, Costs", ""),
    (7, "i2", "heron, Birds of the water", ""),
    (7, "i3", "herring, Fish", ""),
    (3, "i", "I", ""),
    (7, "i4", "ibis, Birds of the desert", ""),
    title="Index",
)


ENTRIES = [
    ("heron", "\x02heron\x03, Birds of the water herring, Fish"),
    ("herring", "\x02herring\x03, Fish"),
    ("ibis", "\x02ibis\x03, Birds of the desert"),
]


def test_an_entry_of_a_book_index_is_its_own_snippet(engine: IndexEngine, subtests: pytest.Subtests) -> None:
    for query, shown in ENTRIES:
        with subtests.test(query):
            found = hit(engine, query, BOOK_INDEX)
            assert found.section is not None
            assert found.snippet == shown
            (part,) = engine.search(SearchQuery(query, sections=1)).hits[0].sections
            assert part.snippet == shown


def test_an_outline_has_the_length_of_the_whole_text(engine: IndexEngine) -> None:
    long = IndexDocument("s", "http://h/long", "Herons", "heron " * (STORED_TEXT_LIMIT // 4))
    short, hidden = replace(long, url="http://h/short", text="heron"), replace(long, url="http://h/hidden")
    engine.apply([long, short, replace(hidden, secret_text=True)])
    lengths = {
        one.url: one.characters for one in engine.search(SearchQuery("heron", outline=True, limit=5)).hits
    }
    assert lengths == {long.url: len(long.text), short.url: len(short.text), hidden.url: 0}


@pytest.mark.parametrize("query", [SearchQuery("heron"), SearchQuery("her", completing=True)])
def test_other_hits_have_no_length(engine: IndexEngine, query: SearchQuery) -> None:
    """Whole texts are not read for it."""
    engine.apply([IndexDocument("s", "http://h/a", "Herons", "a heron")])
    assert [one.characters for one in engine.search(query).hits] == [0]
