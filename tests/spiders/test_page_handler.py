"""What becomes of a parsed page: its links are followed or not, it becomes a document, or its visit ends."""

from __future__ import annotations

from typing import Any

import pytest
from support.handled import URL, HandledSource

from ultracrawl.model import CauseCode, Document, Page, UrlOutcome, UrlRecord
from ultracrawl.model.page import Link, LinkKind, RobotsDirectives
from ultracrawl.rules.attributes.headers import OF_ANSWERS
from ultracrawl.run import context_of
from ultracrawl.run.page_links import follow_links
from ultracrawl.spiders.page_handler import PageHandler, complete_item
from ultracrawl.spiders.source import SourceSpider

LINKS = (Link("a", LinkKind.A), Link("paid", LinkKind.A, nofollow=True))
NOFOLLOW = RobotsDirectives(follow=False)
NOINDEX = RobotsDirectives(index=False)
TWIN = UrlRecord("http://h.example/twin", "s")


def handled(source: HandledSource, page: Page, **fetched: Any) -> list[Any]:
    visit, response = source.answered(**fetched)
    return list(PageHandler(source.spider).handle(visit, response, page))


def test_a_page_becomes_a_document_and_its_links_are_followed() -> None:
    source = HandledSource()
    (document,) = handled(source, Page(title="T", text="words", links=LINKS, language="de"))
    assert (document.title, document.text, document.language) == ("T", "words", "de")
    assert (document.url, document.access_url, document.source) == (URL, URL, "s")
    assert source.followed == [(["a"], URL)], "a link with rel=nofollow is left"
    assert source.ended == [], "a document ends its visit in the pipelines"


def test_links_are_joined_to_the_base_of_the_page() -> None:
    source = HandledSource()
    handled(source, Page(links=LINKS, base="http://cdn.example/"))
    assert source.followed == [(["a"], "http://cdn.example/")]


def test_links_with_nofollow_are_followed_if_the_source_says_so() -> None:
    source = HandledSource(robots={"follow_nofollow_links": True})
    handled(source, Page(links=LINKS))
    assert source.followed == [(["a", "paid"], URL)]


@pytest.mark.parametrize(
    ("options", "page", "follows"),
    [
        ({}, Page(links=LINKS, robots=NOFOLLOW), False),
        ({"robots": {"meta": False}}, Page(links=LINKS, robots=NOFOLLOW), True),
        ({"sitemaps": {"only": True}}, Page(links=LINKS), False),
    ],
    ids=["nofollow", "META robots is not obeyed", "only sitemaps name pages"],
)
def test_the_links_of_an_indexed_page_may_be_left(
    options: dict[str, Any], page: Page, *, follows: bool
) -> None:
    source = HandledSource(**options)
    assert len(handled(source, page)) == 1
    assert bool(source.followed) is follows


@pytest.mark.parametrize(
    ("page", "code"),
    [
        (Page(links=LINKS, robots=NOINDEX), CauseCode.NOINDEX),
        (Page(links=LINKS, has_content=False), CauseCode.NO_CONTENT),
    ],
    ids=lambda one: one.value if isinstance(one, CauseCode) else "",
)
def test_a_page_that_is_not_indexed_is_followed(page: Page, code: CauseCode) -> None:
    source = HandledSource(duplicates={"follow_links": False})
    source.twin = TWIN
    assert handled(source, page) == []
    ((ending),) = source.ended
    assert (ending.outcome, ending.cause.code) == (UrlOutcome.NOT_INDEXED, code)
    assert source.followed == [(["a"], URL)]
    assert source.refused == [], "no duplicate is looked for"


def test_a_page_without_a_document_of_its_spider_ends() -> None:
    class Silent(SourceSpider):
        def documents(self, response: Any, page: Page) -> Any:
            return []

    source = HandledSource(Silent)
    assert handled(source, Page(links=LINKS)) == []
    assert [ending.cause.code for ending in source.ended] == [CauseCode.NO_DOCUMENT]
    assert source.followed == [(["a"], URL)]


# ---- duplicates


@pytest.mark.parametrize("follows", [True, False])
def test_a_duplicate_is_refused_and_followed_if_the_source_says_so(*, follows: bool) -> None:
    source = HandledSource(duplicates={"follow_links": follows})
    source.twin = TWIN
    assert handled(source, Page(links=LINKS)) == []
    assert source.refused == [TWIN]
    assert source.followed == ([(["a"], URL)] if follows else [])


def test_links_wait_for_the_end_of_the_visit_where_duplicates_are_not_followed() -> None:
    source = HandledSource(duplicates={"follow_links": False})
    visit, response = source.answered()
    assert len(list(PageHandler(source.spider).handle(visit, response, Page(links=LINKS)))) == 1
    assert source.followed == []
    links = visit.take_links()
    assert links is not None
    follow_links(context_of(source.spider.crawler), visit, links)
    assert source.followed == [(["a"], URL)]


# ---- META refresh


def test_a_quick_refresh_is_a_redirect() -> None:
    source = HandledSource()
    assert handled(source, Page(links=LINKS, refresh=(0.0, "/next"))) == []
    assert (source.redirected, source.followed) == (["/next"], [])


def test_the_links_of_a_page_are_followed_if_its_redirect_is_refused() -> None:
    source = HandledSource()
    source.redirect_ends = False
    assert handled(source, Page(links=LINKS, refresh=(0.0, "/next"))) == []
    assert source.followed == [(["a"], URL)]


@pytest.mark.parametrize("refresh", [(600.0, "/next"), (0.0, "")], ids=["slow", "of the page itself"])
def test_another_refresh_changes_nothing(refresh: tuple[float, str]) -> None:
    source = HandledSource()
    assert len(handled(source, Page(links=LINKS, refresh=refresh))) == 1
    assert source.redirected == []


# ---- attributes


@pytest.mark.parametrize(
    ("name", "meta", "headers", "values"),
    [
        ("x-kind", ["own"], {"X-Kind": "sent"}, ["own"]),
        ("x-kind", [], {"X-Kind": "sent"}, ["sent"]),
        ("x-kind", [], {"X-Kind": ["one", "two"]}, ["one", "two"]),
        ("x-kind", ["own"], {}, ["own"]),
        ("x-kind", [], {}, []),
        ("header.x-kind", ["own"], {"X-Kind": "sent"}, ["sent"]),
        ("header.x-kind", ["own"], {}, []),
        ("header.date", [], {"Date": "today"}, ["today"]),
        *((name, ["own"], {name: "sent"}, ["own"]) for name in sorted(OF_ANSWERS)),
        *((name, [], {name: "sent"}, []) for name in sorted(OF_ANSWERS)),
        ("größe", ["own"], {}, ["own"]),
        ("вода", [], {"X-Kind": "sent"}, []),
    ],
)
def test_meta_and_headers_are_two_name_spaces(
    name: str, meta: list[str], headers: dict[str, Any], values: list[str]
) -> None:
    source = HandledSource(attributes={name: "Author"})
    page = Page(meta={name: meta} if meta else {})
    (document,) = handled(source, page, headers=headers)
    assert document.attributes.get(name, []) == values


def test_only_headers_that_are_mapped_become_attributes() -> None:
    source = HandledSource(attributes={"size": "Author"})
    (document,) = handled(source, Page(), headers={"X-Other": "no"}, body=b"12345")
    assert document.attributes == {"size": ["5"]}


@pytest.mark.parametrize(
    ("written", "canonical"),
    [("/Main?b", ["http://h.example/Main?b"]), ("http://", [])],
    ids=["usable", "broken"],
)
def test_the_canonical_link_is_an_attribute(written: str, canonical: list[str]) -> None:
    (document,) = handled(HandledSource(), Page(canonical=written))
    assert document.attributes["canonical"] == canonical


def test_what_was_left_unread_is_an_attribute() -> None:
    (document,) = handled(HandledSource(), Page(), truncated="limits.size")
    assert document.attributes["truncated"] == ["limits.size"]


# ---- items of spiders

MADE = Document(url="u", access_url="a", source="s", title="made", text="words")


def test_an_empty_dict_is_the_document_that_was_made() -> None:
    assert complete_item({}, MADE) is MADE


def test_a_dict_keeps_its_fields_and_is_filled() -> None:
    item = complete_item(
        {"title": "own", "text": "", "price": 3, "url": "elsewhere", "source": "other"}, MADE
    )
    assert isinstance(item, dict)
    assert (item["title"], item["text"], item["price"]) == ("own", "words", 3)
    assert (item["url"], item["access_url"], item["source"]) == ("u", "a", "s"), (
        "identity is that of the visit"
    )


def test_a_document_stays_a_document() -> None:
    own = Document(url="elsewhere", access_url="", source="", title="own")
    item = complete_item(own, MADE)
    assert item is own
    assert (own.url, own.access_url, own.title, own.text) == ("u", "a", "own", "words")
