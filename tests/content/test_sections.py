"""The parts of a page: headings and terms with an id, and where in the text they begin."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.until import bounded

from ultracrawl.content.html.collector import MOST_SECTIONS
from ultracrawl.content.html.fragments import LONGEST_ANCHOR
from ultracrawl.content.html.main_content import ContentRule
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.html.sections import LONGEST_TITLE
from ultracrawl.content.limits import PageLimits
from ultracrawl.model import Page, Section
from ultracrawl.sources.compilation.extraction import compile_content_rules
from ultracrawl.sources.sections.documents.page_content import ContentSection

URL = "https://example.com/dir/page.html"

SPHINX = """<section id="module-os.path"><span id="paths"></span><h1>os.path — Pathnames<a
href="#module-os.path" title="Permalink">¶</a></h1><p>This module.</p>
<dl class="py function"><dt class="sig" id="os.path.join"><span class="sig-prename">os.path.</span><span
class="sig-name">join</span>(<em>path</em>)<a href="#os.path.join">¶</a></dt><dd>Join.</dl></section>"""
DOCBOOK = """<div class="sect1" id="RUNTIME-CONFIG"><div class="titlepage"><div><div>
<h2 class="title">20.4. Resources <a href="#RUNTIME-CONFIG" class="id_link">#</a></h2></div></div></div>
<div class="toc"><dl><dt><span class="sect2"><a href="x.html#MEM">20.4.1. Memory</a></span></dl></div>
<dl><dt id="GUC-WORK-MEM"><span class="term"><code>work_mem</code> (<code>integer</code>)</span></dt>
<dd>Sets it.</dd></dl>
<dl><dt><a name="OLD-GUC"></a><span class="term">old_mem</span></dt><dd>Old.</dd></dl></div>"""
JAVADOC = """<main><div class="header"><h1>Class ArrayDeque</h1></div>
<section class="details" id="method-detail"><h2>Method Details</h2><ul><li>
<section class="detail" id="add(E)"><h3>add</h3><div>public boolean add</div></section></li></ul></section></main>"""
DOXYGEN = """<a name="details" id="details"></a><h2 class="groupheader">Detailed Description</h2><p>A state.</p>
<a id="a400"></a>
<h2 class="memtitle"><span class="permalink"><a href="#a400">&#9670;&#160;</a></span>state()</h2><div>state (Cdr)</div>
<table><tr class="heading"><td><h2 class="groupheader"><a name="pub-methods"></a>Public Methods</h2></table>"""
RUSTDOC = """<main><div class="width-limiter"><section id="main-content" class="content">
<div class="main-heading"><h1>Struct <span>Map</span><button id="copy-path" title="Copy">Copy item path</button></h1>
<span>source</span></div><h2 id="implementations" class="section-header">Implementations<a href="#implementations"
class="anchor">§</a></h2><div class="impl-items"><details open><summary><section id="method.entry" class="method">
<span class="rightside"><a class="src" href="../src/map.rs.html#9">Source</a></span><a href="#method.entry"
class="anchor">§</a><h4 class="code-header">pub fn <a href="#method.entry" class="fn">entry</a>(&amp;mut self)
-&gt; Entry <a href="#" class="tooltip" data-notable-ty="Entry">ⓘ</a><div class="notable-tooltiptext">Notable traits for
<h3>Entry</h3></div></h4></section></summary><div class="docblock">Gets it.</div></details></div></section></div>
</main>"""
APACHE = """<div class="directive-section"><h2><a id="Listen" name="listen">Listen</a> <a
id="listen2">Directive</a></h2></div>"""


def parse(html: str, **options: object) -> Page:
    return parse_html(html.encode(), url=URL, **options)  # type: ignore[arg-type]


def parts(html: str) -> list[tuple[int, str, str]]:
    page = parse(html)
    assert all(one.matches_text(page.text) for one in page.sections)
    return [(one.level, one.anchor, one.title) for one in page.sections]


GENERATED = {
    "sphinx": (
        SPHINX,
        [(1, "module-os.path", "os.path — Pathnames"), (7, "os.path.join", "os.path.join(path)")],
    ),
    "docbook": (
        DOCBOOK,
        [
            (2, "RUNTIME-CONFIG", "20.4. Resources"),
            (7, "GUC-WORK-MEM", "work_mem (integer)"),
            (7, "OLD-GUC", "old_mem"),
        ],
    ),
    "javadoc": (
        JAVADOC,
        [(1, "", "Class ArrayDeque"), (2, "method-detail", "Method Details"), (3, "add(E)", "add")],
    ),
    "rustdoc": (
        RUSTDOC,
        [
            (1, "main-content", "Struct Map"),
            (2, "implementations", "Implementations"),
            (4, "method.entry", "pub fn entry(&mut self) -> Entry"),
        ],
    ),
    "doxygen": (
        DOXYGEN,
        [
            (2, "details", "Detailed Description"),
            (2, "a400", "state()"),
            (2, "pub-methods", "Public Methods"),
        ],
    ),
    "apache": (APACHE, [(2, "Listen", "Listen Directive")]),
    "id inside": ("<h2><span class=x id=a>A</span></h2>", [(2, "a", "A")]),
    "id deep inside": ("<dt><span><a id=x></a>term</span></dt>", [(7, "x", "term")]),
    "term without id": ("<dl><dt>term</dt></dl>", []),
    "heading without id": ("<h3>A</h3>", [(3, "", "A")]),
    "not the first content": (
        "<h1>T</h1><div id=d><p>text</p><h2>A</h2><h2>B</h2></div>",
        [(1, "", "T"), (2, "d", "A"), (2, "", "B")],
    ),
    "first heading of the nearest": (
        "<div id=o><h2>O</h2><div id=i>text<div><h3>A</h3></div></div></div>",
        [(2, "o", "O"), (3, "i", "A")],
    ),
    "of the whole page": ("<h1>T</h1><main id=m><p>text</p><h2>A</h2></main>", [(1, "", "T"), (2, "", "A")]),
    "a main title needs none": ("<div id=d><p>text</p><h1>A</h1></div>", [(1, "", "A")]),
    "permalink before": ("<p>x</p><a href='#a'>§</a><h2>A</h2>", [(2, "a", "A")]),
    "permalink behind": ("<p>x</p><h2>A</h2><a href='#a%20b'>¶</a>", [(2, "a b", "A")]),
    "permalink inside": ("<p>x</p><h2>A <a href='#a'>#</a></h2>", [(2, "a", "A")]),
    "a link is no permalink": (
        "<p>x</p><a href='#a'>See A</a><h2>A <a href='#b'>B</a></h2>",
        [(2, "", "A B")],
    ),
    "buttons and tooltips": (
        "<h2 id=a>A<button>Copy <b>it</b></button> <span role=tooltip>tip</span><i>b</i></h2>c",
        [(2, "a", "A b")],
    ),
    "a link is no mark": ("<a id=x>text</a><h2>A</h2>", [(2, "", "A")]),
    "comments are no content": ("<div id=d><!-- c --> <h2>A</h2></div>", [(2, "d", "A")]),
    "top is the page": ("<a name=Top></a><h1>A</h1>", [(1, "", "A")]),
    "the body is the page": ("<body id=b><h1>A</h1>", [(1, "", "A")]),
    "no text": ("<h1 id=a> <img alt=logo> </h1>", []),
    "out of sight": ("<nav><h2 id=n>Menu</h2></nav><h2 hidden id=h>H</h2>", []),
    "not indexed": ("a<!--noindex--><h2 id=n>No</h2><!--/noindex--><h2 id=y>Yes</h2>", [(2, "y", "Yes")]),
    "blocks in titles": ("<h2 id=a>one<br>two<div>three</div></h2>four", [(2, "a", "one two three")]),
    "last of its parent": ("<section><h2 id=a>a<b>b</b></h2></section>c", [(2, "a", "ab")]),
    "last of all": ("text<h2 id=a>last", [(2, "a", "last")]),
    "permalink without width": ("<h2 id=a>A<a href='#a'>\u200b</a></h2>b", [(2, "a", "A")]),
    "permalinks": ("<h2>§ <svg><title>icon</title></svg>One #</h2>", [(2, "", "One")]),
}


def test_sections_of_what_generators_write(subtests: pytest.Subtests) -> None:
    for name, (html, expected) in GENERATED.items():
        with subtests.test(name):
            assert parts(html) == expected


def test_sections_begin_where_they_stand_in_the_folded_text() -> None:
    page = parse("<p>  one \n two</p>\n\n<h2 id=a>  A \n b </h2>three<h3>C</h3>\n")
    assert page.text == "one two A b three C"
    assert page.sections == (Section(8, 2, "a", "A b"), Section(18, 3, "", "C"))


def test_sections_of_a_cut_text_are_those_that_are_in_it() -> None:
    page = parse("<h2>one</h2><p>two</p><h2>three</h2>", limits=PageLimits(text=8))
    assert (page.text, [one.title for one in page.sections]) == ("one two", ["one"])


def test_sections_are_bounded_in_number_and_length() -> None:
    page = parse("".join(f"<h2 id=n{n}>title {n}</h2>" for n in range(MOST_SECTIONS + 9)))
    assert len(page.sections) == MOST_SECTIONS
    (long,) = parse(f"<h2 id={'i' * (LONGEST_ANCHOR + 1)}>{'word ' * 100}</h2>").sections
    assert long.anchor == ""
    assert LONGEST_TITLE - 5 <= len(long.title) <= LONGEST_TITLE
    (wide,) = parse(f"<h2 id=i>{'w' * 1000}</h2>").sections
    assert wide == Section(0, 2, "i", "w" * LONGEST_TITLE)


PIECES = [
    "<h2 id=a>",
    "</h2>",
    "<div>",
    "</div>",
    "<dt id=d>",
    "<dd>",
    "<b>",
    "</b>",
    "<br>",
    "<nav>",
    "</nav>",
    "x",
    " y ",
    "<p>",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_sections_begin_with_their_title_whatever_the_page(pieces: list[str]) -> None:
    page = parse("".join(pieces))
    for one in page.sections:
        assert page.text[one.offset :].startswith(one.title)
        assert one.offset == 0 or page.text[one.offset - 1] == " "
    assert list(page.sections) == sorted(page.sections, key=lambda one: one.offset)


LEVELS = """<body><nav><h2>Menu</h2></nav><div class=top id=t>Guide</div><p>First.</p><div class="docs">
<h3 class=a id=x>.Pumps:</h3><p>Water.</p><p class=b><a name=y></a>Seals <b class=b>inside</b></p><p>Rubber.</p>
<h2>Not one</h2></div></body>"""


def rule(**options: Any) -> ContentRule:
    """Return the rule of a section `content`."""
    (made,) = compile_content_rules(ContentSection.model_validate(options))
    return made


def read(levels: tuple[str, ...], **options: Any) -> Page:
    return parse(LEVELS, content=ContentRule(levels=levels, **options))


def test_selectors_say_what_starts_a_section_of_which_level() -> None:
    page = read((".top", ".docs .a, .docs .b"))
    assert all(one.matches_text(page.text) for one in page.sections)
    assert [(one.level, one.anchor, one.title) for one in page.sections] == [
        (1, "t", "Guide"),
        (2, "x", ".Pumps:"),
        (2, "y", "Seals inside"),
    ]


def test_of_two_selectors_the_first_gives_the_level() -> None:
    assert [(one.level, one.anchor) for one in read((".b", ".docs > *")).sections][:2] == [(2, "x"), (2, "x")]
    assert [one.level for one in read((".docs .a", ".docs .a, .top")).sections] == [2, 1]


def test_characters_are_stripped_from_titles_only() -> None:
    page = parse(LEVELS, content=rule(levels=(".a",), strip=(".:",)))
    assert [(one.title, one.matches_text(page.text)) for one in page.sections] == [("Pumps", True)]
    assert page.text.startswith("Guide First.\nPumps\nWater.")


def test_each_level_and_the_texts_have_characters_of_their_own_to_strip() -> None:
    of_each = rule(levels=(".top", "", ".a"), include=".top, .docs p, .a", strip=("Ge", "x", ":", "W."))
    page = parse(LEVELS, content=of_each)
    assert [(one.level, one.title) for one in page.sections] == [(1, "uid"), (3, ".Pumps")]
    assert page.text == "uid\n.Pumps\nater\nSeals inside\nRubber"
    assert all(one.matches_text(page.text) for one in page.sections)


def test_a_level_without_a_selector_has_no_elements() -> None:
    assert [one.level for one in read(("", "", ".a")).sections] == [3]


def test_permalinks_stay_in_titles_whose_level_says_what_is_removed() -> None:
    page = parse("<h2 id=a>C#\u200b</h2><p>x", content=rule(levels=("h2",), strip=(".", ".")))
    assert ([one.title for one in page.sections], page.text) == (["C#"], "C#\nx")


def test_an_included_element_is_one_line_without_what_is_excluded_in_it() -> None:
    html = """<h2 id=a>Rubber <i class=x>!</i>seals</h2><p>One <b>two</b> <i class=x>no</i></p><p>Three
    <i class=x>no</i> four</p><ul><li>Five<ul><li>six</ul></ul>"""
    page = parse(html, content=ContentRule(include="h2, p, li, b", exclude=".x", levels=("h2",)))
    assert page.text == "Rubber seals\nOne two\nThree four\nFive six"
    assert [(one.title, one.anchor) for one in page.sections] == [("Rubber seals", "a")]


def test_a_title_goes_on_behind_an_excluded_element() -> None:
    page = parse("<h2>Rubber <i class=x>?</i>seals</h2><p>x", content=ContentRule(exclude=".x"))
    assert ([one.title for one in page.sections], page.text) == (["Rubber seals"], "Rubber seals x")


def test_texts_without_headings_are_lines() -> None:
    page = parse("<p>One</p><p>Two", content=rule(include="p", levels=("",), strip=("", "O")))
    assert (page.sections, page.text) == ((), "ne\nTwo")


def test_a_title_of_signs_alone_is_in_no_text() -> None:
    page = parse("<h2 id=a>::</h2><p>x</p>", content=rule(levels=("h2",), strip=(":",)))
    assert (page.sections, page.text) == ((), "x")


ANCHORS = [
    ("<p id=near></p><p>x</p><h2>T</h2>", "near"),
    ("<div id=far><p>x</p><div><h2>T</h2></div></div>", "far"),
    ("<p>x</p><p><a name=mark></a></p><h2>T</h2>", "mark"),
    ("<h2 name=own>T</h2>", "own"),
    ("<div id=__next><p>x</p><h2>T</h2></div>", ""),
    ("<p>x</p><h2>T</h2>", ""),
]


def test_an_element_of_a_level_has_the_nearest_anchor_before_it(subtests: pytest.Subtests) -> None:
    for html, anchor in ANCHORS:
        with subtests.test(html):
            (section,) = parse(f"<body>{html}</body>", content=ContentRule(levels=("h2",))).sections
            assert section.anchor == anchor


def test_without_an_element_of_a_level_there_is_no_section() -> None:
    assert read((".none",)).sections == ()


def test_a_page_has_content_if_it_has_a_required_element(subtests: pytest.Subtests) -> None:
    for selector, has in [("", True), (".docs", True), (".none, .top", True), (".none", False)]:
        with subtests.test(selector):
            assert read((), required=selector).has_content is has


NESTED: dict[str, tuple[str, str, list[str]]] = {
    "heading": ("<h2>One <div><h3>Head</h3></div> more</h2>z", "One Head more z", ["One Head more", "Head"]),
    "term": ("<dl><dt id=a>One<dl><dt id=b>Two</dl>three</dl>", "One Two three", ["One Two three", "Two"]),
    "not closed": (
        "<h2>Intro<div>Text <h3>Sub</h3> x</div>",
        "Intro Text Sub x",
        ["Intro Text Sub x", "Sub"],
    ),
}


def test_a_heading_in_a_heading_is_read_once(subtests: pytest.Subtests) -> None:
    for name, (markup, text, titles) in NESTED.items():
        with subtests.test(name):
            page = parse(markup)
            assert (page.text, [one.title for one in page.sections]) == (text, titles)


def test_many_headings_in_headings_do_not_multiply_a_text() -> None:
    page = parse("<h2>a<div>" * 40 + "word " * 1000)
    assert len(page.text.split()) == 1040
    assert len(page.sections) == 40


MARKED = {
    "unclosed paragraph before a heading": (
        "<h1 id=r>R</h1><p>x <a name=busy></a><h3>(5) BUSY</h3><p>text",
        [(1, "r", "R"), (3, "busy", "(5) BUSY")],
    ),
    "paragraph of a mark": ("<p><a name=busy></a></p><h3>B</h3>", [(3, "busy", "B")]),
    "empty paragraph behind it": ("<a name=busy></a><p></p><h3>B</h3>", [(3, "busy", "B")]),
    "empty paragraph with an id": ("<p>x</p><p id=a></p><h3>B</h3>", [(3, "a", "B")]),
    "option in bold": ("<a name=o></a><p><b>OMIT_X</b></p><blockquote>t", [(7, "o", "OMIT_X")]),
    "option in its mark": ("<p><a name=o><b>OMIT_X</b></a> leaves x out", [(7, "o", "OMIT_X")]),
    "option in code": ("<table><td><a id=i1 class=indexterm></a><code>abs</code> (x)", [(7, "i1", "abs")]),
    "option without a mark": ("<p>x</p><p><b>OMIT_X</b></p>", []),
    "term behind a mark": ("<a name=q></a><dt>Q</dt><dd>t", [(7, "q", "Q")]),
    "mark in a bold term": ("<dl><dt><b><a name=x>x</a> (default: 1)</b><dd>y", [(7, "x", "x (default: 1)")]),
    "marks of several names": (
        "<dl><dd><span id=a></span>\n<span id=b></span></dd><dt><span><tt>AUTO_CD</tt></span><dd>x",
        [(7, "b", "AUTO_CD")],
    ),
    "of several marks the one with links": (
        "<a href='#a'>auto</a><dl><dd><span id=a></span><span id=b></span><dt>AUTO</dl>",
        [(7, "a", "AUTO")],
    ),
    "name in the table of contents": (
        "<ul><li><a href='#j'>journal mode</a></ul><a name=j></a><p>The mode.",
        [(7, "j", "journal mode")],
    ),
    "link to the page's own address": (
        "<a href='page.html#j'>state</a><a class=anchor id=j></a><table class=memname><tr><td>int state()</table>",
        [(7, "j", "state")],
    ),
    "line that a link leads to": ("<a href='#j'>mode</a><ul><li id=j>The mode.</ul>", [(7, "j", "mode")]),
    "way back from a title": (
        "<li><a name=t1 href='#s1'>NAME</a></ul><br><a name=s1 href='#t1'>NAME</a><br><p>x",
        [(7, "s1", "NAME")],
    ),
    "link behind what it leads to": ("<p id=j>The mode.<p><a href='#j'>mode</a>", []),
    "a text of links to several parts": (
        "<a href='#a'>here</a> <a href='#b'>here</a><p id=a>A<p id=b>B",
        [],
    ),
    "man2html": ("<hr><a name=lbAB>&nbsp;</a><h2>NAME</h2>x", [(2, "lbAB", "NAME")]),
    "groff": ("<p>x</p><h2>NAME\n<a name=NAME></a>\n</h2>x", [(2, "NAME", "NAME")]),
    "mandoc": (
        "<section class=Sh><h1 id=N><a class=permalink href='#N'>NAME</a></h1><dl><dt id=a><a class=permalink "
        "href='#a'><code class=Fl>-a</code></a><dd>All.</dl></section>",
        [(1, "N", "NAME"), (7, "a", "-a")],
    ),
    "javadoc 8": ("<a name='add-E-'>\n<!-- --></a><ul><li><h4>add</h4>", [(4, "add-E-", "add")]),
    "hidden mark": ("<div hidden><a name=x></a></div><h2>A</h2>", [(2, "", "A")]),
    "mark before something hidden": (
        "<a name=x></a><script>1</script><nav>N</nav><h2>A</h2>",
        [(2, "x", "A")],
    ),
    "text before the heading": ("<p><a name=x></a>text<h2>A</h2>", [(2, "", "A")]),
    "in the middle of a line": ("<p>see <a name=x></a><b>this</b>, <span id=y></span><code>that</code>", []),
    "filled by a program": ("<p><span id=l1><b>Price</b></span> 5", []),
    "option of another page": ("<p><span id=i1></span><a href=/x><b>PEP 492</b></a>, coroutines", []),
    "menu": ("<p><a id=home href=/><b>Home</b></a>", []),
    "form": ("<div id=search><form id=f><input id=q></form></div><h1>T</h1>", [(1, "", "T")]),
    "content of the page": ("<a href='#c'>Skip to it</a><div id=c><p>One<p>Two</div>", []),
    "mark to skip to": ("<a href='#c'>Skip to it</a><a id=c tabindex=-1></a><p>One", []),
    "footnote": ("<p>x<sup id=r><a href='#f'>1</a></sup><ol><li id=f>Foot <a href='#r'>^</a></ol>", []),
    "not indexed": ("<a href='#j'>mode</a><!--noindex--><p id=j>The mode.<!--/noindex--><p>x", []),
    "top": ("<a href='#Top'>back to the top</a><a name=Top></a><p><b>A</b>", []),
    "section around a mark": ("<section id=s><a name=x></a><h2>A</h2></section>", [(2, "s", "A")]),
    "mark in an element": ("<div id=d><a name=x></a><h2>A</h2></div>", [(2, "x", "A")]),
}


def test_a_mark_belongs_to_the_next_text(subtests: pytest.Subtests) -> None:
    for name, (html, expected) in MARKED.items():
        with subtests.test(name):
            assert [(one.level, one.anchor, one.title) for one in parse(html).sections] == expected


def test_a_part_named_by_a_link_begins_with_its_text() -> None:
    page = parse("<a href='#j'>journal mode</a><h1 id=h>H</h1><p>x<p id=j>The mode.")
    assert page.text == "journal mode H x The mode."
    assert page.sections[-1] == Section(page.text.index("The mode"), 7, "j", "journal mode")
    assert [one.begin_of_text(page.text) for one in page.sections] == [14, page.text.index("The mode")]


ANY_NAME = ["", "it's.html", "a\\.html", "a]b\n.html", "s\xfc\xdf.html", "a%22.html?q=']#x"]


def test_links_to_a_page_of_any_name_are_read(subtests: pytest.Subtests) -> None:
    for name in ANY_NAME:
        with subtests.test(name):
            page = parse_html(b"<a href='#j'>mode</a><p id=j>The mode.", url=f"https://example.com/{name}")
            assert [one.title for one in page.sections] == ["mode"]


@pytest.mark.parametrize(
    ("piece", "times"),
    [
        ("<a name=x{n}></a>", 100_000),
        ("<a name=x{n}></a><p></p>", 30_000),
        ("<span id=x{n}><a name=y{n}></a>", 30_000),
        ("<div><a id=x{n}></a></div>", 30_000),
        ("<a href='#x{n}'>to it</a><p id=x{n}></p>", 30_000),
        ("<nav><a name=x{n}></a></nav><a name=y{n}></a>", 30_000),
        ("<a name=x{n}></a><dt>", 30_000),
    ],
)
def test_many_marks_take_linear_time(piece: str, times: int) -> None:
    html = "".join(piece.format(n=n) for n in range(times)) + "<h2>A</h2><p>text"
    with bounded():
        assert parse(html).text.endswith("A text")
