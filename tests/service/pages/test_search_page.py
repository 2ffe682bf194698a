"""The search page: what its URL says, what it shows, and where its links lead."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from lxml.html import HtmlElement, document_fromstring
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.pages import Pages, define_project

from ultracrawl.service.pages.result_view import place_of
from ultracrawl.service.pages.search_routes import plain_words

if TYPE_CHECKING:
    from httpx import Response
    from support.in_process import InProcessWorkspace
    from support.site import Site


def parsed(answer: Response) -> HtmlElement:
    assert answer.status_code == 200, answer.text
    return document_fromstring(answer.text)


def hits(page: HtmlElement) -> list[str]:
    """Return the titles of the hits."""
    return [one.text_content() for one in page.cssselect(".hit h3")]


def link(page: HtmlElement, selector: str) -> str:
    return str(page.cssselect(selector)[0].get("href"))


def test_the_start_page_has_the_box_and_the_number_of_pages(pages: Pages) -> None:
    page = parsed(pages.ask("/"))
    assert page.cssselect("form[role=search] input[name=q]")
    for place in ("h1", "title", ".brand"):
        assert "127.0.0.1" in page.cssselect(place)[0].text_content(), "the host of its only site"
    assert "3" in page.cssselect("#progress")[0].text_content()
    assert not page.cssselect(".hit")


def test_the_title_says_query_and_site(pages: Pages) -> None:
    assert parsed(pages.ask("/", params={"q": "heron"})).cssselect("title")[0].text == "heron - 127.0.0.1"
    project = pages.workspace.directory / "ultracrawl.yaml"
    project.write_text(f"search_page: {{title: Birds}}\n{project.read_text()}")
    assert parsed(pages.ask("/", params={"q": "heron"})).cssselect("title")[0].text == "heron - Birds"
    assert parsed(pages.ask("/")).cssselect("title")[0].text == "Birds"


def test_a_hit_has_its_title_link_place_and_marked_snippet(pages: Pages, url: str) -> None:
    page = parsed(pages.ask("/", params={"q": "grey heron"}))
    (title,) = page.cssselect(".hit h3 a")
    assert (title.text_content(), title.get("href")) == ("Heron", f"{url}/heron")
    assert [mark.text_content() for mark in title.cssselect("mark")] == ["Heron"]
    assert "site › heron" in page.cssselect(".hit .place")[0].text_content()
    assert page.cssselect(".snippet mark")[0].text_content() == "grey heron"


def test_a_hit_names_its_copies_under_other_addresses(
    workspace: InProcessWorkspace, site: Site, url: str
) -> None:
    text = " ".join(f"word{number}" for number in range(60))
    paths = ["/docs/en/herons/grey", "/docs/current/herons/grey", "/docs/old/herons/grey"]
    for path in paths:
        site.page(path, title="Grey herons", text=f"{text} {path}")
    workspace.define(start_urls=[url + path for path in paths])
    workspace.crawl()
    page = parsed(Pages(workspace).ask("/", params={"q": "grey herons"}))
    (shown,) = page.cssselect(".hit h3 a")
    others = [one.get("href") for one in page.cssselect(".also a")]
    assert sorted([shown.get("href"), *others]) == sorted(url + path for path in paths)


def test_the_query_stays_in_the_box_as_it_was_typed(pages: Pages) -> None:
    page = parsed(pages.ask("/", params={"q": '"grey heron" -egret'}))
    assert page.cssselect("#query")[0].get("value") == '"grey heron" -egret'


def test_results_have_pages_and_each_has_a_url(many: Pages) -> None:
    page = parsed(many.ask("/", params={"q": "bird"}))
    assert len(hits(page)) == 10
    second = parsed(many.ask(link(page, ".pages a[rel=next]")))
    assert second.cssselect(".pages [aria-current=page]")[0].text_content() == "2"
    assert second.cssselect(".hits")[0].get("start") == "11"
    assert not set(hits(page)) & set(hits(second))
    beyond = parsed(many.ask("/", params={"q": "bird", "page": "77"}))
    assert not hits(beyond)
    assert parse_qs(urlsplit(link(beyond, ".no-answer a")).query) == {"q": ["bird"]}


def test_a_page_number_that_no_link_has_is_the_first_page(many: Pages) -> None:
    for number in ("0", "-1", "1e3", "x", "", "99999999999999999999", "+2"):
        assert len(hits(parsed(many.ask("/", params={"q": "bird", "page": number})))) == 10, number


def test_a_filter_narrows_and_its_chip_takes_it_away(many: Pages) -> None:
    page = parsed(many.ask("/", params={"q": "bird"}))
    (value,) = [
        one for one in page.cssselect(".value") if one.cssselect(".label")[0].text_content() == "wader"
    ]
    chosen = parsed(many.ask(value.get("href")))
    assert int(value.cssselect(".count")[0].text_content()) == len(hits(chosen)) == 6
    others = {
        one.cssselect(".label")[0].text_content(): one.cssselect(".count")[0].text_content()
        for one in chosen.cssselect(".value")
    }
    assert others["duck"] == "6"
    cleared = parsed(many.ask(link(chosen, ".chip")))
    assert len(hits(cleared)) == 10


def test_a_filter_with_one_value_is_shown_if_it_narrows(workspace: InProcessWorkspace) -> None:
    site = NetworkSite()
    site.page("/", title="Start", links=["/pump", "/pipe"], text="all of them")
    for name in ("pump", "pipe"):
        head = '<meta name="family" content="pump">' if name == "pump" else ""
        site.page(f"/{name}", title=name, text=f"the {name} of the works", head=head)
    with site.serve() as url:
        options = {"attributes": {"family": "Family"}}
        define_project(workspace, url, {"attributes": {"Family": "string"}}, **options)
        workspace.crawl()
        pages = Pages(workspace)
    for query, shown in (("works", ["pump"]), ('"the pump of the works"', [])):
        assert [
            one.text_content() for one in parsed(pages.ask(f"/?q={query}")).cssselect(".filters .label")
        ] == shown


def test_further_values_of_a_filter_are_in_a_disclosure(many: Pages) -> None:
    page = parsed(many.ask("/", params={"q": "bird"}))
    colour = [one for one in page.cssselect(".filters .more") if one.cssselect(".label")]
    assert [len(one.cssselect(".value")) for one in colour] == [1]


def test_another_query_keeps_filters_order_and_language(many: Pages) -> None:
    chosen = {"q": "bird", "where": "Family=wader", "sort": "newest", "language": "de", "page": "2"}
    page = parsed(many.ask("/", params=chosen))
    kept = {one.get("name"): one.get("value") for one in page.cssselect("#kept input")}
    assert kept == {"where": "Family=wader", "sort": "newest", "language": "de"}
    assert page.get("lang") == "de"


def test_a_query_without_answer_says_what_was_searched_and_what_to_do(pages: Pages) -> None:
    page = parsed(pages.ask("/", params={"q": "heronn", "as_typed": "true"}))
    suggested = page.cssselect(".suggested")[0]
    assert suggested.text_content() == "heron"
    assert hits(parsed(pages.ask(suggested.get("href"))))[0] == "Heron"
    assert [one.text_content() for one in page.cssselect(".missing")] == []
    missing = parsed(pages.ask("/", params={"q": "qwrtzy"}))
    assert "qwrtzy" in missing.cssselect(".missing")[0].text_content()
    filtered = parsed(pages.ask("/", params={"q": "heron", "where": "Author=nobody"}))
    assert "2" in filtered.cssselect(".no-answer dl")[0].text_content()


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_corrected_query_has_a_link_to_the_one_that_was_typed(pages: Pages, language: str) -> None:
    page = parsed(pages.ask("/", params={"q": "heronn", "language": language}))
    assert hits(page)[0] == "Heron"
    right, typed = page.cssselect(".corrected a")
    assert (right.text_content(), typed.text_content()) == ("heron", "heronn")
    assert hits(parsed(pages.ask(right.get("href")))) == hits(page)
    as_typed = parsed(pages.ask(typed.get("href")))
    assert (hits(as_typed), as_typed.cssselect(".corrected")) == ([], [])
    assert as_typed.cssselect(".suggested")[0].text_content() == "heron"


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("query", ["heron AND", '"heron', "(heron", "heron)", "her*n", "#"])
def test_a_page_says_what_does_not_do_what_it_was_written_for(
    pages: Pages, language: str, query: str
) -> None:
    page = parsed(pages.ask("/", params={"q": query, "language": language}))
    assert all(one.text_content().strip() for one in page.cssselect(".flaw"))
    assert page.cssselect(".flaw")
    assert not parsed(pages.ask("/", params={"q": "heron"})).cssselect(".flaw")


def test_a_query_that_is_not_possible_stays_in_the_box(pages: Pages) -> None:
    answer = pages.ask("/", params={"q": "LastModifiedDate:grey"})
    assert answer.status_code == 400
    page = document_fromstring(answer.text)
    assert page.cssselect("[role=alert]")
    assert page.cssselect("#query")[0].get("value") == "LastModifiedDate:grey"


def test_a_word_with_a_colon_is_searched_and_the_page_says_which_attributes_exist(pages: Pages) -> None:
    page = parsed(pages.ask("/", params={"q": "bird:heron"}))
    assert hits(page)
    (said,) = page.cssselect(".unknown")
    assert {"bird", "Author"} <= set(re.findall(r"\w+", said.text_content()))
    assert parsed(pages.ask("/", params={"q": "heron"})).cssselect(".unknown") == []


@pytest.mark.parametrize(
    "params",
    [{"q": "x" * 2001}, {"q": "heron", "source": [f"s{n}" for n in range(60)]}],
    ids=["a long query", "many filters"],
)
def test_what_no_form_sends_is_refused(pages: Pages, params: dict[str, str]) -> None:
    assert pages.ask("/", params=params).status_code == 400


def test_an_unknown_source_is_a_mistake_of_the_request(pages: Pages) -> None:
    assert pages.ask("/", params={"q": "heron", "source": "nowhere"}).status_code == 400


def test_more_like_this(pages: Pages, url: str) -> None:
    page = parsed(pages.ask("/", params={"q": "grey heron"}))
    more = [one.get("href") for one in page.cssselect(".details a")][-1]
    assert parse_qs(urlsplit(more).query)["like"] == [f"{url}/heron"]
    assert pages.ask(more).status_code == 200


def test_htmx_gets_the_results_alone_and_a_reload_gets_the_page(pages: Pages) -> None:
    part = pages.ask("/", params={"q": "heron"}, headers={"HX-Request": "true"})
    assert "<html" not in part.text
    assert document_fromstring(part.text).cssselect("#results .hit")
    again = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert "<html" in pages.ask("/", params={"q": "heron"}, headers=again).text


def test_an_error_is_a_page_of_its_own_and_never_a_part_of_another(pages: Pages) -> None:
    part = {"HX-Request": "true"}
    long = "x" * 2001
    redirect = pages.ask("/", params={"q": long}, headers=part)
    assert (redirect.status_code, redirect.headers["hx-redirect"]) == (204, f"/?q={long}")
    assert "<html" in pages.ask("/", params={"q": long}).text
    progress = pages.ask("/progress", params={"source": [f"s{n}" for n in range(60)]}, headers=part)
    assert (progress.status_code, "hx-redirect" in progress.headers) == (204, False), (
        "it asks again by itself"
    )
    left = pages.ask("/progress", params={"sort": "newest"}, headers=part, signed_in=False)
    assert left.headers["hx-redirect"] == "/login?next=%2F%3Fsort%3Dnewest"


def test_an_empty_query_leads_to_the_start_page(pages: Pages) -> None:
    part = pages.ask("/", params={"q": "", "language": "de"}, headers={"HX-Request": "true"})
    assert (part.status_code, part.headers["hx-redirect"]) == (204, "/?language=de")
    assert not parsed(pages.ask("/", params={"q": " "})).cssselect(".hit")


def test_suggestions_are_options_with_where_they_lead(pages: Pages, url: str) -> None:
    page = document_fromstring(pages.ask("/suggestions", params={"q": "her"}).text)
    options = page.cssselect("[role=listbox] [role=option]")
    assert [one.get("data-url") for one in options] == [None, f"{url}/heron"]
    assert len({one.get("id") for one in options}) == 2
    assert options[1].cssselect("b")[0].text_content() == "Her"


@pytest.mark.parametrize("chosen", [[], ["frequent"], ["recent"]])
def test_former_queries_are_suggested_where_the_definition_wants_it(
    make_stored: Callable[..., Pages], chosen: list[str]
) -> None:
    pages = make_stored({"search_page": {"former_queries": chosen}})
    pages.app.state.api.queries._frequent = ["heron nest", "heron <b>", "egret"]
    page = document_fromstring(pages.ask("/suggestions", params={"q": "her"}).text)
    queries = [one.get("data-text") for one in page.cssselect("[role=option]") if not one.get("data-url")]
    assert queries == ["her", *(["heron nest", "heron <b>"] if chosen == ["frequent"] else [])]
    kept = parsed(pages.ask("/?q=heron")).cssselect("[data-recent]")
    assert [one.get("data-recent") for one in kept] == ["token:reader"] * (chosen == ["recent"])


def test_the_description_for_browsers_names_this_page(pages: Pages) -> None:
    page = parsed(pages.ask("/"))
    (search,) = page.cssselect("link[rel=search]")
    answer = pages.ask(search.get("href"), signed_in=False)
    assert answer.headers["content-type"].startswith("application/opensearchdescription+xml")
    assert 'template="http://127.0.0.1:8480/?q={searchTerms}"' in unescape(answer.text)


def test_the_same_url_is_the_same_page_for_a_script_and_for_a_browser_without(pages: Pages) -> None:
    page = parsed(pages.ask("/", params={"q": "heron"}))
    part = document_fromstring(pages.ask("/", params={"q": "heron"}, headers={"HX-Request": "true"}).text)
    assert hits(page) == hits(part)


def test_a_source_of_a_url_with_a_port_is_shown_as_its_host() -> None:
    assert place_of("127.0.0.1-8000", "http://127.0.0.1:8000/guide/") == "127.0.0.1:8000"
    assert place_of("docs", "http://127.0.0.1:8000/guide/") == "docs"
    assert place_of("docs.example.com", "https://docs.example.com/guide/") == "docs.example.com"


def test_a_date_that_all_hits_have_is_not_shown(workspace: InProcessWorkspace, site: Site, url: str) -> None:
    days = {"grey": 1, "white": 1, "brown": 2}
    for colour, day in days.items():
        changed = datetime(2026, 10, day, 10, tzinfo=UTC)
        site.page(f"/{colour}", title=colour, text=f"bird {colour} only{day}", modified=changed)
    workspace.define(start_urls=[f"{url}/{colour}" for colour in days])
    workspace.crawl()
    pages = Pages(workspace)

    def dates(query: str) -> int:
        page = parsed(pages.ask("/", params={"q": query}))
        return sum("2026" in one.text_content() for one in page.cssselect(".hit .details"))

    assert [dates(query) for query in ("bird", "only1", "only2")] == [3, 0, 1]


def newest(
    workspace: InProcessWorkspace, site: Site, url: str, dates: dict[str, datetime | str | None]
) -> Callable[[str], HtmlElement]:
    """Return what searches for birds, the newest first; their dates are those of headers, or of META."""
    for name, date in dates.items():
        meta = f'<meta property="article:modified_time" content="{date}">' if isinstance(date, str) else ""
        modified = date if isinstance(date, datetime) else False
        site.page(f"/{name}", title=name, text=f"bird {name.rstrip('12')}", head=meta, modified=modified)
    workspace.define(start_urls=[f"{url}/{name}" for name in dates])
    workspace.crawl()
    pages = Pages(workspace)
    return lambda query: parsed(pages.ask("/", params={"q": query, "sort": "newest"}))


def test_the_newest_comes_first_by_header_or_meta_and_each_date_is_shown(
    workspace: InProcessWorkspace, site: Site, url: str
) -> None:
    dates = {
        "old": datetime(2025, 3, 1, tzinfo=UTC),
        "stated": "2026-05-01T10:00:00+02:00",
        "undated": None,
        "wrong": "some day",
        "new": datetime(2026, 10, 1, tzinfo=UTC),
    }
    page = newest(workspace, site, url, dates)("bird")
    assert hits(page)[:3] == ["new", "stated", "old"]
    assert set(hits(page)[3:]) == {"undated", "wrong"}
    years = [
        "2026" in one.text_content() or "2025" in one.text_content() for one in page.cssselect(".details")
    ]
    assert years == [True, True, True, False, False]
    assert all(one.cssselect("span") for one in page.cssselect(".details")), "one without a date says so"
    assert not page.cssselect(".dating")


def test_a_date_that_the_definition_names_counts_in_place_of_that_of_the_server(
    workspace: InProcessWorkspace, site: Site, url: str
) -> None:
    built = datetime(2026, 10, 1, tzinfo=UTC)
    for name, date in {"first": "2026-01-02", "last": "2026-03-04", "never": "some day"}.items():
        head = f'<meta name="Published" content="{date}">'
        site.page(f"/{name}", title=name, text="bird", head=head, modified=built)
    mapped = {"published": "LastModifiedDate"}
    workspace.define(start_urls=[f"{url}/{name}" for name in ("first", "last", "never")], attributes=mapped)
    workspace.crawl()
    page = parsed(Pages(workspace).ask("/", params={"q": "bird", "sort": "newest"}))
    assert hits(page) == ["never", "last", "first"], "without a date that of the server"
    months = [one.cssselect("span")[0].text_content() for one in page.cssselect(".details")]
    assert ["Oct" in months[0], "Mar" in months[1], "Jan" in months[2]] == [True, True, True]


def test_an_order_by_dates_that_are_all_the_same_or_missing_is_said_to_say_nothing(
    workspace: InProcessWorkspace, site: Site, url: str
) -> None:
    day = datetime(2026, 10, 1, 10, tzinfo=UTC)
    dates = {
        "same1": day,
        "same2": day,
        "none1": None,
        "none2": None,
        "apart1": day,
        "apart2": day.replace(hour=11),
    }
    found = newest(workspace, site, url, dates)
    same, none, apart = map(found, ("same", "none", "apart"))
    assert sum("2026" in one.text_content() for one in same.cssselect(".details")) == 2
    assert same.cssselect(".dating")[0].text_content() != none.cssselect(".dating")[0].text_content()
    assert not apart.cssselect(".dating"), "of one day, and one later than the other"


def test_the_heading_says_search_once(pages: Pages) -> None:
    project = pages.workspace.directory / "ultracrawl.yaml"
    text = project.read_text()
    for title, language, heading in (
        ("Birds", "en", "Search Birds"), ("Bird Search", "en", "Bird Search"), ("Vogelsuche", "de", "Vogelsuche")
    ):  # fmt: skip
        project.write_text(f"search_page: {{title: {title}}}\n{text}")
        page = parsed(pages.ask("/", params={"language": language}))
        assert page.cssselect("h1")[0].text_content() == heading


def test_the_line_of_keys_can_be_hidden_and_shown_again(pages: Pages) -> None:
    def forms(cookie: str = "") -> list[str]:
        page = parsed(pages.ask("/?q=heron", headers={"Cookie": cookie} if cookie else {}))
        assert len(page.cssselect("footer.keys")) == (not cookie)
        return [str(one.get("value")) for one in page.cssselect("button[name=keys]")]

    assert forms() == ["hidden"]
    hidden = pages.ask("/preferences", method="POST", data={"keys": "hidden", "next": "/?q=heron"})
    assert (hidden.status_code, hidden.headers["location"]) == (303, "/?q=heron")
    assert forms(hidden.headers["set-cookie"].partition(";")[0]) == ["shown"]
    shown = pages.ask("/preferences", method="POST", data={"keys": "shown"})
    assert "Max-Age=0" in shown.headers["set-cookie"]


def test_words_that_find_nothing_together_are_counted_one_by_one(pages: Pages) -> None:
    def words(query: str, **filters: str) -> list[tuple[str, bool]]:
        page = parsed(pages.ask("/", params={"q": query, **filters}))
        rows = page.cssselect(".no-answer .word")
        return [(" ".join(one.text_content().split()), bool(one.cssselect("a"))) for one in rows]

    assert words("the qwrtzy NOT bird", where="Author=nobody") == [
        ("the 3 pages", True),
        ("qwrtzy 0 pages", False),
        ("bird 1 page", True),
    ]
    assert words("heron", where="Author=nobody") == [], "a word is what was searched"
    assert words("qwrtzy zyxwv") == [], "no word finds anything"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('"grey heron" -egret', ["grey", "heron", "egret"]),
        ("(a OR b) AND +a", ["a", "b"]),
        ("C++ node:fs", ["C", "node:fs"]),
        ("- ()", []),
    ],
)
def test_words_of_a_query(query: str, words: list[str]) -> None:
    assert plain_words(query) == words
