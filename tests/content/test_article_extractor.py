"""`content: {main: article}`: of the text of a page, what an extractor of articles takes for the article."""

import sys

import pytest
from support.project import Workspace
from support.site import Site
from support.until import bounded

from ultracrawl.content.html.articles import extractor
from ultracrawl.content.html.main_content import MAIN_CONTENT, ContentRule
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.limits import LARGE_PAGE_BYTES
from ultracrawl.content.reader import PageReader
from ultracrawl.errors import MissingExtraError
from ultracrawl.model import Page

URL = "https://example.com/herons.html"
ARTICLE = ContentRule(article=True)
LINES = [
    f"Heron number {n} stands in the shallow water of the lake, and waits for a fish or a frog."
    for n in range(12)
]
TEXT = " ".join(LINES)
STORY = "".join(f"<p>{line}</p>" for line in LINES)
BLOCKS = "<div>" + "".join(f"<a href=/{n}>Tale {n} of geese</a> " for n in range(40)) + "</div>"


def read(body: str, rule: ContentRule = ARTICLE) -> Page:
    page = parse_html(f"<title>t</title><body>{body}".encode(), url=URL, content=rule)
    assert all(section.matches_text(page.text) for section in page.sections)
    return page


@pytest.fixture
def extracts(monkeypatch: pytest.MonkeyPatch):
    """Return a function that has a text taken for the article of each page, or an error raised."""

    def use(found: str | BaseException | None) -> None:
        def extract(html: str, **_: object) -> str | None:
            if isinstance(found, BaseException):
                raise found
            return found

        monkeypatch.setattr(extractor, "_load", lambda: extract)

    return use


def test_what_has_neither_landmark_nor_name_is_left_out_and_its_links_are_followed() -> None:
    body = f"{BLOCKS}<div><h1>Herons</h1>{STORY}</div>{BLOCKS}"
    page = read(body)
    assert page.text.removeprefix("Herons ") == TEXT
    assert page.links == read(body, MAIN_CONTENT).links


@pytest.mark.parametrize(
    "found", [None, "", "Not a word of that page is here", "Heron", ValueError(), RecursionError()]
)
def test_where_nothing_is_found_the_text_is_that_of_auto(extracts, found: str | BaseException | None) -> None:
    extracts(found)
    body = f"<header>Site</header>{STORY}<p>An end of it</p>"
    assert read(body).text == read(body, MAIN_CONTENT).text == f"{TEXT} An end of it"


@pytest.mark.parametrize(
    ("body", "found", "text"),
    [
        ("<p>one two three four five</p>", "one two three four five", "one two three four five"),
        (
            "<p>one two three four</p><p>five six seven eight</p>",
            "five six seven eight",
            "five six seven eight",
        ),
        ("<p>one two three four</p><p>five six seven eight</p>", "one two three four", "one two three four"),
        ("<p>a b c d <b>e</b>-f g h i j</p>", "a b c d\n f g h i j", "a b c d e-f g h i j"),
        ("<p>a b c d</p><p>1 2 3 4 5</p><p>e f g h</p>", "a b c d e f g h", "a b c d e f g h"),
        ("<p>(a b c d).</p><p>“1 2 3 4 5”</p>", "a b c d", "(a b c d). “"),
        (
            "<p>鷺は浅い水に立つ。</p><p>広告です、見て下さい。</p>",
            "鷺は浅い水に立つ。",
            "鷺は浅い水に立つ。",
        ),
        (
            "<p hidden>a b c d</p><p>e f g h</p><p data-nosnippet>i j k l</p>",
            "a b c d e f g h i j k l",
            "e f g h",
        ),
        ("<header>a b c d</header><p>e f g h</p>", "a b c d e f g h", "e f g h"),
    ],
)
def test_words_in_a_row_tell_what_stays_of_our_text(extracts, body: str, found: str, text: str) -> None:
    extracts(found)
    assert read(body).text == text


def test_sections_and_anchors_are_those_of_what_stays(extracts) -> None:
    extracts("One a b c d e Two f g h i j")
    body = (
        "<h2 id=m>Menu of it all here</h2><p>1 2 3 4 5</p><h2 id=o>One</h2><p>a b c d e</p><h2 id=x>More to read</h2>"
        "<a href='#n'>Next</a> <p><a id=n></a>6 7 8 9 0</p><h2 id=t>Two</h2><p>f g h i j</p>"
    )
    page = read(body)
    assert page.text == "One a b c d e Two f g h i j"
    assert [(section.title, section.anchor) for section in page.sections] == [("One", "o"), ("Two", "t")]


def test_levels_of_a_source_stay_lines(extracts) -> None:
    extracts("One a b c d e Two f g h i j")
    rule = ContentRule(article=True, levels=("h2",), title_strips=(":",) * 7)
    assert read(
        "<h2>One:</h2><p>a b c d e</p><div>1 2 3 4 5</div><h2>Two:</h2><p>f g h i j</p>", rule
    ).text == ("One\na b c d e\nTwo\nf g h i j")


def test_selectors_of_a_source_come_first(extracts) -> None:
    extracts("a b c d i j k l")
    body = "<div class=x>a b c d</div><p>e f g h</p><p>i j k l</p>"
    assert read(body, ContentRule(exclude=".x", article=True)).text == "i j k l"
    assert read(body, ContentRule(include="p", article=True)).text == "e f g h i j k l"
    assert read(body, ContentRule(article=True, main=False)).text == "a b c d e f g h i j k l"


def test_a_page_of_many_words_ends(extracts) -> None:
    extracts("a " * 200_000)
    with bounded():
        assert len(read("<p>" + "a b " * 50_000 + "a " * 100_000).text) == 199_999


def test_only_pages_whose_article_is_extracted_and_large_ones_take_long() -> None:
    rules = (ContentRule(article=True, applies=lambda url: "/news/" in url), ContentRule())
    reader = PageReader(content=rules)
    large = b"x" * LARGE_PAGE_BYTES
    assert reader.takes_long(b"x", "http://h/news/", "text/html")
    assert not reader.takes_long(b"x", "http://h/news/", "text/plain")
    assert not reader.takes_long(b"x", "http://h/", "text/html")
    assert reader.takes_long(large, "http://h/", "text/html")
    assert not PageReader().takes_long(b"x", "http://h/news/", "text/html")


def test_without_the_extra_a_crawl_names_the_line_that_installs_it(
    site: Site, url: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extractor, "find_spec", lambda _: None)
    site.page("/", title="x")
    workspace.define(f"{url}/", content={"pages": [{"urls": [url], "main": "article"}]})
    assert 'pip install "ultracrawl[article]"' in workspace.crawl(code=2).err


def test_a_reader_without_the_extra_names_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    extractor._load.cache_clear()
    with pytest.raises(MissingExtraError):
        read(STORY)


def test_a_crawl_extracts_articles_in_another_process(site: Site, url: str, workspace: Workspace) -> None:
    site.file(
        "/", f"<meta name=robots content=nofollow><title>Herons</title>{BLOCKS}{STORY}".encode(), "text/html"
    )
    workspace.define(f"{url}/", content={"main": "article"})
    workspace.crawl()
    assert workspace.outcomes() == {"/": "NEW"}
    assert workspace.search("frog") != []
    assert workspace.search("geese") == []
    workspace.crawl()
    assert workspace.outcomes() == {"/": "NOT_MODIFIED"}
