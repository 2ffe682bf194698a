"""The search page in a browser: search, keys, suggestions, first crawl, phone, colours, accessibility, weight."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Error, expect
from support.chromium import chromium
from support.pages import Pages, Watched, define_project, served
from support.project import Workspace
from support.site import Site

from ultracrawl.service.access.requester import Requester, RequesterKind
from ultracrawl.service.api import access
from ultracrawl.service.orders import SourcePhase, SourceState

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.servers

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
FIRST_VISIT_BYTES = 60_000
"""Bytes of page, styles and scripts together, compressed, that a first visit may take."""


PAGE = """<!doctype html><html lang="en"><head><title>Bird {number}</title>
<meta name="family" content="family {family}"></head><body><h1>Bird {number}</h1><p>A bird of the lake.</p>
{nest}</body></html>"""


class Served:
    """The pages of a crawled site, served to anybody."""

    def __init__(self, folder: Path, url: str) -> None:
        workspace = Workspace(folder)
        shown = {"title": "Birds", "former_queries": ["recent", "frequent"]}
        head = {"search_page": shown, "attributes": {"Family": "string"}}
        options = {"attributes": {"family": "Family"}, "storage": {"keep": True}}
        define_project(workspace, url, head, **options)
        workspace.crawl()
        self.pages = Pages(workspace)
        who = Requester("public", RequesterKind.PUBLIC, None, ())
        self.pages.app.dependency_overrides[access.authenticate] = lambda: who
        self.url = url


@pytest.fixture(scope="module")
def served_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    site = Site()
    site.page("/", title="Start", links=[f"/{number}" for number in range(14)], text="all of them")
    for number in range(14):
        nest = f'<h2 id="nest">Nest of bird {number}</h2><p>Bird {number} builds a nest of grass.</p>' * (
            number < 3
        )
        site.file(
            f"/{number}", PAGE.format(number=number, family=number % 7, nest=nest).encode(), "text/html"
        )
    with site.serve() as url:
        found = Served(tmp_path_factory.mktemp("pages"), url)
        with served(found.pages.app) as address:
            yield found, address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def visit(browser: Browser, served_pages: tuple[Served, str]) -> Iterator[Callable[..., Watched]]:
    """Open windows; none of them may complain, or ask anything of another host."""
    windows: list[Watched] = []

    def opened(size: dict[str, int] = DESKTOP, **options: Any) -> Watched:
        context = browser.new_context(viewport=size, reduced_motion="reduce", **options)
        windows.append(Watched(context, served_pages[1]))
        return windows[-1]

    yield opened
    for one in windows:
        one.page.context.close()
    assert [one.complaints for one in windows if one.complaints] == []
    assert [
        one.foreign for one in windows if one.foreign and not one.foreign[0].startswith(served_pages[0].url)
    ] == []


def begin(window: Watched, text: str) -> Page:
    """Go to the start page, and type as soon as its box has the focus."""
    page = window.open("/")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.type(text)
    return page


def focused(page: Page) -> str:
    """Return the text, or else the id, of the element with the focus."""
    return page.evaluate("document.activeElement.innerText?.trim() || document.activeElement.id")


def test_search_replaces_the_results_and_the_url(visit: Callable[..., Watched]) -> None:
    page = visit().open("/")
    page.fill("#query", "nest")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=nest")
    expect(page.locator(".hit")).to_have_count(3)
    page.evaluate("window.isTheSamePage = true")
    page.fill("#query", "bird")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=bird")
    expect(page.locator(".hit")).to_have_count(10)
    assert page.evaluate("window.isTheSamePage")
    expect(page.locator("#announcement")).to_contain_text("14")
    page.click(".value:has-text('family 1')")
    expect(page.locator(".hit")).to_have_count(2)
    assert "where=Family" in page.url
    expect(page.locator("#kept input[name=where]")).to_have_count(1)
    page.go_back()
    expect(page.locator(".hit")).to_have_count(10)
    expect(page.locator(".chip")).to_have_count(0)


def test_keys(visit: Callable[..., Watched], served_pages: tuple[Served, str]) -> None:
    page = visit().open("/?q=nest")
    page.keyboard.press("ArrowDown")
    first = focused(page)
    assert first.startswith("Bird")
    page.keyboard.press("ArrowDown")
    assert focused(page) not in {first, "query"}
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    assert focused(page).startswith("Nest")
    page.keyboard.press("Escape")
    assert focused(page) == first
    page.keyboard.press("Escape")
    assert focused(page) == "query"
    page.keyboard.type("/?")
    assert page.input_value("#query").endswith("/?")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    assert focused(page) == "query"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert focused(page) == "query"
    page.goto(page.url)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = focused(page)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{served_pages[0].url}/*")
    page.go_back()
    expect(page.locator(".hit :focus")).to_have_count(1)
    assert focused(page) == chosen


@pytest.mark.parametrize("held", ["Control", "Meta"])
def test_a_held_key_opens_what_is_chosen_in_a_new_tab(
    visit: Callable[..., Watched], served_pages: tuple[Served, str], held: str
) -> None:
    page = visit().open("/?q=nest")
    here = page.url
    page.keyboard.press("ArrowDown")
    for key in ("", "ArrowRight"):
        if key:
            page.keyboard.press(key)
        goal = page.evaluate("document.activeElement.href")
        assert goal.startswith(served_pages[0].url)
        with page.context.expect_page() as another, page.expect_request("**/api/v1/clicks?*") as counted:
            page.keyboard.press(f"{held}+Enter")
        assert another.value.url == goal
        assert counted.value.url.endswith("q=nest&position=1")
        another.value.close()
    assert page.url == here
    page.fill("#query", "nest of bird 1")
    page.wait_for_selector("#suggestions [data-url]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    with page.context.expect_page() as another:
        page.keyboard.press(f"{held}+Enter")
    assert another.value.url.startswith(served_pages[0].url)
    assert page.url == here


def test_single_keys_can_be_turned_off(visit: Callable[..., Watched]) -> None:
    page = visit().open("/?q=nest")
    page.click("#all-keys")
    page.uncheck("#single-keys")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("/")
    assert focused(page) != "query"
    page.keyboard.press("Control+k")
    assert focused(page) == "query"


def test_suggestions(visit: Callable[..., Watched], served_pages: tuple[Served, str]) -> None:
    page = begin(visit(), "nest of bi")
    page.wait_for_selector("#suggestions [role=option]")
    assert page.get_attribute("#query", "aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    active = page.get_attribute("#query", "aria-activedescendant")
    assert active
    chosen = page.locator(f"#{active}")
    assert chosen.get_attribute("aria-selected") == "true"
    assert focused(page) == "query"
    page.keyboard.press("Escape")
    assert page.locator("#suggestions").is_hidden()
    assert page.input_value("#query") == "nest of bi"
    page.keyboard.type("r")
    page.wait_for_selector("#suggestions [role=option]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{served_pages[0].url}/*#nest")


def test_recent_searches_complete_what_is_typed_until_they_are_forgotten(
    visit: Callable[..., Watched],
) -> None:
    window = visit()
    page = window.open("/?q=nest")
    for query in ("bird", "qwzx"):
        page.fill("#query", query)
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/?q={query}")
    window.open("/")
    shown = page.locator("#suggestions [role=option]")
    page.locator("#query").press("ArrowDown")
    expect(shown).to_have_text(["bird", "nest"])  # the other one found nothing
    assert window.findings() == []
    page.keyboard.type("ne")
    page.wait_for_selector("#suggestion-0 ~ [role=group] [data-text=nest]:not([data-url])")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=nest")
    page.fill("#query", "")
    expect(shown).to_have_text(["nest", "bird"])
    page.click(".forget")
    expect(shown).to_have_count(0)
    window.open("/")
    page.locator("#query").press("ArrowDown")
    assert shown.count() == 0


def test_a_late_answer_is_dropped(visit: Callable[..., Watched]) -> None:
    page = visit().open("/")
    waiting: list[Any] = []
    expect(page.locator("#query")).to_be_focused()
    page.route("**/suggestions?q=bird", lambda route: waiting.append(route))  # noqa: PLW0108 - builtins fail
    with page.expect_request("**/suggestions?q=bird"):
        page.keyboard.type("bird")
    page.keyboard.type(" 1")
    page.wait_for_selector("#suggestions [role=option]")
    for one in waiting:
        with suppress(Error):  # the page may have given it up
            one.fulfill(body="too late")
    expect(page.locator("#suggestions")).to_contain_text("bird 1")
    assert "too late" not in page.locator("#suggestions").inner_text()


def test_without_scripts_everything_is_there(visit: Callable[..., Watched]) -> None:
    page = visit(java_script_enabled=False).open("/")
    page.fill("#query", "bird")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=bird")
    expect(page.locator(".hit")).to_have_count(10)
    page.click(".pages a[rel=next]")
    expect(page.locator(".hit")).to_have_count(4)
    page.go_back()
    page.click(".value:has-text('family 1')")
    expect(page.locator(".hit")).to_have_count(2)
    page.click(".chip")
    expect(page.locator(".hit")).to_have_count(10)
    page.click(".more > summary")
    page.click(".value:has-text('family 6')")
    expect(page.locator(".hit")).to_have_count(2)
    page.click("summary:has-text('Theme')")
    page.click("button[value=dark]")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.click("summary:has-text('English')")
    page.click("a[hreflang=de]")
    expect(page.locator("html")).to_have_attribute("lang", "de")


def test_a_phone_shows_filters_on_request_and_never_scrolls_sideways(visit: Callable[..., Watched]) -> None:
    page = visit(PHONE, has_touch=True).open("/?q=bird")
    assert page.locator(".value").first.is_hidden()
    page.click("#filters > summary")
    assert page.locator(".value").first.is_visible()
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        for path in ("/?q=bird", "/", "/?q=nothing-" + "x" * 200):
            page.goto(page.url.partition("?")[0].rstrip("/") + path)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_first_crawl_is_followed_while_the_page_is_open(
    visit: Callable[..., Watched], served_pages: tuple[Served, str]
) -> None:
    known = served_pages[0].pages.supervisor.known
    known["new"] = SourceState("new", SourcePhase.RUNNING, "1", {"fetched": 5, "queued": 758}, begun=1.0)
    try:
        page = visit().open("/")
        assert "758" in page.locator("#progress").inner_text()
        known["new"] = SourceState("new", SourcePhase.RUNNING, "1", {"fetched": 9, "queued": 12}, begun=1.0)
        expect(page.locator("#progress")).to_contain_text("12")
        del known["new"]
        expect(page.locator("#progress[hx-trigger]")).to_have_count(0)
    finally:
        known.pop("new", None)


def test_the_position_of_a_chosen_hit_is_reported(visit: Callable[..., Watched]) -> None:
    page = visit().open("/?q=bird&page=2")
    with page.expect_request("**/api/v1/clicks?*") as found:  # the page that is left hears of no response
        page.locator(".hit h3 a").nth(1).click()
    assert found.value.method == "POST"
    assert found.value.url.endswith("/api/v1/clicks?q=bird&position=12")


def test_a_cached_copy_runs_nothing(visit: Callable[..., Watched]) -> None:
    window = visit()
    page = window.open("/?q=nest")
    page.keyboard.press("ArrowDown")
    page.click("text=Cached copy")
    expect(page.locator("article")).to_contain_text("builds a nest")
    assert page.evaluate("window.origin") == "null"


STATES = (
    "/",
    "/?q=bird",
    "/?q=bird&where=Family%3Dfamily+1",
    "/?q=qwzx",
    "/?q=LastModifiedDate:x",
    "/?q=shade:nest",
    "/?q=nest&page=9",
)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing(visit: Callable[..., Watched], size: dict[str, int], colours: str) -> None:
    window = visit(size, color_scheme=colours)
    found = {}
    for path in STATES:
        window.open(path)
        found[path] = window.findings()
    window.open("/?q=nest").keyboard.press("ArrowDown")
    found["a chosen hit"] = window.findings()
    page = begin(window, "nest of")
    page.wait_for_selector("#suggestions [role=option]")
    page.keyboard.press("ArrowDown")
    found["suggestions"] = window.findings()
    page = window.open("/?q=bird")
    page.evaluate("document.getElementById('keys').showModal()")
    found["keys"] = window.findings()
    unguarded = visit(size, color_scheme=colours, bypass_csp=True)
    copy = window.open("/?q=nest").locator(".details a").first.get_attribute("href")
    unguarded.open(str(copy))
    found["cached copy"] = unguarded.findings()
    window.complaints = [one for one in window.complaints if "400" not in one]
    assert {state: findings for state, findings in found.items() if findings} == {}


def test_a_first_visit_takes_few_bytes(visit: Callable[..., Watched]) -> None:
    window = visit()
    window.open("/?q=bird").wait_for_load_state("networkidle")
    sizes = {one.url: one.sizes()["responseBodySize"] for one in window.requests}
    assert any(url.endswith("?q=bird") for url in sizes)
    assert any("/static/htmx.js" in url for url in sizes)
    assert sum(sizes.values()) < FIRST_VISIT_BYTES
