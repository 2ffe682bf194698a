"""The search box in pages of other sites: in Chromium, against a real service on another port."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect
from support.chromium import PATIENCE, chromium
from support.free_port import free_port
from support.search_box import BOX, BoxPage, BoxService
from support.site import Site

from ultracrawl.index import IndexDocument
from ultracrawl.model.page import Section

pytestmark = [pytest.mark.servers, pytest.mark.processes]

STRICT = (
    "default-src 'none'; script-src {0}; connect-src {0}; require-trusted-types-for 'script'; base-uri 'none'"
)
XSS = "<img src=x onerror=alert(1)><script>alert(2)</script>"
Open = Callable[..., BoxPage]
DELAY, WAITING, SLOW, GIVEN_UP = 200, 500, 5100, 15100
"""Milliseconds after which the box has asked, and says that it searches, that it is slow, and that it gives up."""


class World:
    """A foreign site, the service whose box its pages have, and a browser."""

    def __init__(self, service: BoxService, site: Site, url: str, browser: Browser) -> None:
        self.service, self.site, self.url, self.browser = service, site, url, browser
        self.key = service.key("docs", url)
        self._pages = 0

    def page(self, *, policy: str = STRICT, lang: str = "en", inside: str = "", **attributes: str) -> str:
        """Return the path of a new page with a box."""
        self._pages += 1
        path, values = f"/page/{self._pages}", {"key": self.key, **attributes}
        written = " ".join(f'{name.replace("_", "-")}="{value}"' for name, value in values.items())
        body = (
            f'<!DOCTYPE html><html lang="{lang}"><head><title>Docs</title>'
            f'<script src="{self.service.url}/static/box.js" async></script></head><body><main><h1>Docs</h1>'
            f"<{BOX} {written}>{inside}</{BOX}><input id=other aria-label=other>"
            f"<p>{'Far below. ' * 3000}</p><a href=/end id=end>end</a></main></body></html>"
        )
        headers = {"Content-Type": "text/html", "Content-Security-Policy": policy.format(self.service.url)}
        self.site.respond(path, headers=headers, body=body)
        return path


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    site = Site()
    site.file("/favicon.ico", b"", "image/x-icon")
    for path in ("/guide/heron", "/guide/egret", "/reference/heron"):
        site.page(path, title=path)
    definition = {
        "search": {"group_names": {"guides": {"en": "Guides", "de": "Anleitungen"}}},
        "sources": {
            "guide": {"start_urls": ["https://g.example/"], "public": True, "groups": ["guides"]},
            "reference": {"start_urls": ["https://r.example/"], "public": True},
            "payroll": {"start_urls": ["https://p.example/"]},
        },
    }
    service = BoxService(tmp_path_factory.mktemp("box"), definition)
    with site.serve() as url, chromium() as browser, service.serving(free_port()):
        text = "Herons stand in the water. Nesting herons are loud. In winter the heron leaves."
        sections = (Section(0, 27, "water", "Heron in water"), Section(27, 52, "nests", "Nests of the heron"))
        service.index([
            IndexDocument("guide", f"{url}/guide/heron", "The heron - Birds", text, sections=sections),
            IndexDocument("guide", f"{url}/guide/egret", "The egret - Birds", "An egret is no heron."),
            IndexDocument("reference", f"{url}/reference/heron", "Heron (Ardea) - Birds", "Genus of herons."),
            IndexDocument("reference", "javascript:alert(3)", f"Bittern {XSS}", f"bittern {XSS} </mark>"),
            IndexDocument("reference", f"{url}/{XSS}", f"Bittern {XSS}", f"the bittern & {XSS} <mark>"),
            IndexDocument("payroll", "https://p.example/heron", "Heron salaries", "heron"),
        ])  # fmt: skip
        yield World(service, site, url, browser)


@pytest.fixture
def opened(world: World) -> Iterator[Open]:
    contexts = []

    def open_page(
        path: str = "", /, *, at: str = "", context: dict[str, Any] | None = None, **page: Any
    ) -> BoxPage:
        contexts.append(
            world.browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **(context or {})})
        )
        contexts[-1].set_default_timeout(PATIENCE)
        return BoxPage(contexts[-1]).go(f"{at or world.url}{path or world.page(**page)}")

    yield open_page
    for one in contexts:
        one.close()


def answer_with(box: BoxPage, value: object, status: int = 200) -> None:
    """Let searches of a page be answered with this."""
    headers = {"Access-Control-Allow-Origin": "*"}
    body = json.dumps(value)
    box.page.route(
        "**/api/v1/search*", lambda route: route.fulfill(status=status, headers=headers, body=body)
    )


def of_hits(*hits: dict[str, Any], total: int | None = None) -> dict[str, Any]:
    plain = {"title": "T", "url": "https://a.example/", "snippet_html": "", "sections": []}
    found = [{**plain, **hit} for hit in hits]
    return {"query": "", "total": len(found) if total is None else total, "hits": found, "suggestion": ""}


def test_it_opens_by_click_and_by_keys_and_searches_by_keyboard(world: World, opened: Open) -> None:
    box = opened()
    assert [url for url in box.requests if "/api/" in url] == [], "no data before it is opened"
    box.page.locator(f"{BOX} button").first.click()
    expect(box.field).to_be_focused()
    box.page.keyboard.press("Escape")
    expect(box.dialog).not_to_be_visible()
    box.type("hero")
    expect(box.page.locator(f"{BOX} .count")).to_have_text("3 pages")
    assert "salaries" not in box.dialog.inner_text()
    assert [one.inner_text() for one in box.page.locator(f"{BOX} .label").all()] == ["Guides"]
    assert box.chosen() == ""
    box.page.keyboard.press("ArrowDown")
    first = box.chosen()
    box.page.keyboard.press("ArrowDown")
    assert box.chosen() not in {"", first}
    box.page.keyboard.press("ArrowUp")
    assert box.chosen() == first
    goal = box.options.first.get_attribute("href")
    box.page.keyboard.press("Enter")
    box.page.wait_for_url(str(goal))
    assert box.errors == []


def test_enter_leads_to_the_search_page_if_nothing_was_found(world: World, opened: Open) -> None:
    box = opened(all_results=f"{world.url}/guide/egret#{{query}}")
    box.type("xyzzyqq", ".foot a:not([hidden])")
    box.page.keyboard.press("Enter")
    box.page.wait_for_url(f"{world.url}/guide/egret#xyzzyqq")
    assert box.errors == []


def test_sections_stand_below_their_page_and_lead_into_it(world: World, opened: Open) -> None:
    box = opened()
    box.type("heron water")
    section = box.page.locator(f"{BOX} .section").first
    assert section.inner_text().replace("\n", " ").strip("# ") == "Heron in water"
    assert section.get_attribute("href") == f"{world.url}/guide/heron#water"
    section.click()
    box.page.wait_for_url(f"{world.url}/guide/heron#water")


def test_hits_show_paths_that_lead_to_them(world: World, opened: Open) -> None:
    box = opened()
    paths = ["/guide/bookindex.html", "/guide/index.html", "/guide/", "/a%20b.html", "/index.htm"]
    answer_with(box, of_hits(*({"url": f"{world.url}{path}"} for path in paths)))
    box.type("heron")
    shown = [one.inner_text() for one in box.page.locator(f"{BOX} .path").all()]
    assert shown == ["guide/bookindex.html", "guide", "guide", "a b.html", ""]


def test_control_enter_opens_a_new_tab(world: World, opened: Open) -> None:
    box = opened()
    box.type("egret")
    with box.page.context.expect_page() as another:
        box.page.keyboard.press("Control+Enter")
    another.value.wait_for_url(f"{world.url}/guide/egret")
    assert "/page/" in box.page.url


def test_escape_returns_focus_and_scroll(opened: Open) -> None:
    box = opened()
    box.page.locator("#end").focus()
    at = box.page.evaluate("scrollY")
    assert at > 0
    box.type("heron")
    box.page.keyboard.press("Escape")
    expect(box.page.locator("#end")).to_be_focused()
    assert box.page.evaluate("scrollY") == at
    box.page.mouse.wheel(0, -100)
    box.page.keyboard.press("Control+k")
    assert box.field.input_value() == "heron", "what was typed is still there"


def test_tab_reaches_the_page_behind_by_no_way(opened: Open) -> None:
    box = opened()
    box.type("heron")
    for _ in range(6):
        box.page.keyboard.press("Tab")
        inside = box.page.evaluate("document.activeElement.localName")
        assert inside in {BOX, "body"}, "body: the browser itself"


def test_keys_that_the_site_chose(opened: Open) -> None:
    box = opened(shortcut="/")
    box.page.locator("#other").press("/")
    expect(box.dialog).not_to_be_visible()
    assert box.page.locator("#other").input_value() == "/"
    box.page.locator("h1").click()
    box.page.keyboard.press("Control+k")
    expect(box.dialog).not_to_be_visible()
    box.page.keyboard.press("/")
    expect(box.field).to_be_focused()
    assert box.field.input_value() == ""
    none = opened(shortcut="none")
    none.page.keyboard.press("Control+k")
    expect(none.dialog).not_to_be_visible()
    expect(none.page.locator(f"{BOX} .opener kbd")).not_to_be_visible()


def test_methods_and_events(world: World, opened: Open) -> None:
    box = opened()
    box.page.evaluate(
        "window.told = [];"
        "for (const name of ['open', 'close', 'search', 'select']) document.addEventListener(name, (event) => {"
        f"  if (event.target.localName === '{BOX}') told.push([name, event.detail]);"
        "  if (name === 'select') event.preventDefault(); });"
        f"document.querySelector('{BOX}').focus()"
    )
    assert (
        box.page.evaluate(f"document.querySelector('{BOX}').shadowRoot.activeElement.localName") == "button"
    )
    box.page.evaluate(f"document.querySelector('{BOX}').open()")
    box.type("egret")
    box.page.keyboard.press("Enter")
    expect(box.dialog).not_to_be_visible()
    assert "/page/" in box.page.url, "the page goes there itself"
    box.page.wait_for_function(
        "told.some(([name]) => name === 'close')"
    )  # it comes after the dialog has gone
    told = dict(box.page.evaluate("told"))
    assert told["search"] == {"query": "egret", "total": 1}
    assert told["select"] == {"url": f"{world.url}/guide/egret", "position": 1}
    assert {"open", "close"} <= told.keys()
    box.page.evaluate(f"document.querySelector('{BOX}').open(); document.querySelector('{BOX}').close()")
    expect(box.dialog).not_to_be_visible()


def test_a_correction_is_searched_at_once_and_can_be_refused(opened: Open) -> None:
    box = opened()
    count, buttons = box.page.locator(f"{BOX} .count"), box.note.locator("button")
    box.type("heorn", ".note button")
    expect(buttons).to_have_text(["heron", "heorn"])
    expect(count).to_have_text("3 pages")
    buttons.nth(1).click()
    expect(buttons).to_have_text(["heron"])
    expect(count).not_to_have_text("3 pages")
    buttons.click()
    expect(count).to_have_text("3 pages")
    assert box.field.input_value() == "heron"


def test_a_query_that_is_not_possible_is_reported(opened: Open) -> None:
    box = opened()
    box.page.evaluate(
        "document.addEventListener('error', (event) => { window.status_ = event.detail?.status; })"
    )
    box.type("LastModifiedDate:abc", ".note:not([hidden])")
    expect(box.note).to_have_text("This cannot be searched for.")
    expect(box.note.get_by_role("alert")).to_be_visible()
    expect(box.page.locator(f"{BOX} .count")).to_have_text("")
    assert box.page.evaluate("window.status_") == 400
    box.type("bird:heron", "[role=option]")
    expect(box.note.get_by_role("alert")).to_have_count(0)


def test_odd_queries_show_that_nothing_is_found(opened: Open) -> None:
    box = opened()
    for text in ("((((", "nothing at all zzzz"):
        box.type(text, ".note:not([hidden])")
        expect(box.page.locator(f"{BOX} .count")).to_have_text("0 pages")


def test_a_late_answer_is_dropped(opened: Open) -> None:
    box = opened()
    held: list[Route] = []

    def answer(route: Route) -> None:
        if "slow" in route.request.url:
            held.append(route)
        else:
            route.fulfill(headers={"Access-Control-Allow-Origin": "*"}, json=of_hits({"title": "Fast"}))

    box.page.route("**/api/v1/search*", answer)
    box.page.keyboard.press("Control+k")
    with box.page.expect_request("**/api/v1/search*slow*"):
        box.page.keyboard.type("slow")
    box.type("fast")
    for route in held:
        route.fulfill(headers={"Access-Control-Allow-Origin": "*"}, json=of_hits({"title": "Slow"}))
    box.page.wait_for_timeout(200)
    assert [one.inner_text().strip() for one in box.page.locator(f"{BOX} .name").all()] == ["Fast"]


def test_a_search_without_answer_says_that_it_waits_and_gives_up(opened: Open) -> None:
    box = opened()
    box.page.clock.install()
    count, held = box.page.locator(f"{BOX} .count"), list[Route]()
    answer_with(box, of_hits(total=0))
    box.page.keyboard.press("Control+k")
    box.field.fill("qwrtzy")
    box.page.clock.run_for(DELAY)
    expect(count).to_have_text("0 pages")
    said = box.note.text_content()
    box.page.unroute("**/api/v1/search*")
    box.page.route("**/api/v1/search*", lambda route, _request: held.append(route))
    box.field.fill("heron")
    with box.page.expect_request("**/api/v1/search*heron*"):
        box.page.clock.run_for(DELAY)
    expect(count).to_have_text("")
    shown = [said]
    for milliseconds in (WAITING, SLOW - WAITING, GIVEN_UP - SLOW):
        box.page.clock.run_for(milliseconds)
        shown.append(box.note.text_content())
        expect(box.options).to_have_count(0)
    assert len(set(shown)) == 4, "nothing found, searching, slow, given up"
    box.page.unroute("**/api/v1/search*")
    answer_with(box, of_hits({"title": "Back again"}))
    box.note.locator(".again").click()
    expect(box.options).to_have_count(1)
    box.page.clock.run_for(GIVEN_UP)
    expect(box.options).to_have_count(1)


def test_titles_snippets_and_urls_of_documents_run_nothing(world: World, opened: Open) -> None:
    box = opened(policy="default-src * 'unsafe-inline'")
    box.page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    box.type("bittern")
    assert box.options.count() == 1, "the other has a URL that is no page"
    assert XSS in box.options.first.inner_text()
    assert XSS in box.page.locator(f"{BOX} .excerpt").inner_text()
    assert box.page.locator(f"{BOX} img, {BOX} script").count() == 0
    box.page.wait_for_timeout(200)
    assert box.errors == []


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)",
            "data:text/html,<script>alert(1)</script>", "vbscript:x", "unsafe:javascript:alert(1)", "file:///etc/passwd",
            "blob:https://a.example/x", "", "//evil.example", "/relative"],
)  # fmt: skip
def test_an_answer_of_a_hostile_server_runs_nothing(opened: Open, url: str) -> None:
    box = opened(policy="default-src * 'unsafe-inline'")
    box.page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    hostile = {
        "title": XSS, "label": XSS, "snippet_html": f"<mark>{XSS}</mark>{XSS}&lt;b&gt;<mark onclick=alert(4)>x",
        "sections": [{"title": "s", "url": url, "snippet_html": XSS}, {"title": f"s{XSS}", "url": "https://a.example/#s"}],
    }  # fmt: skip
    answer_with(box, {**of_hits({"url": url, "title": "bad"}, hostile), "suggestion": XSS})
    box.type("xss")
    links = [one.get_attribute("href") for one in box.page.locator(f"{BOX} a[href]").all()]
    assert links == ["https://a.example/", "https://a.example/#s"]
    assert box.page.locator(f"{BOX} img, {BOX} script, {BOX} b, {BOX} [onclick]").count() == 0
    assert "<b>" in box.page.locator(f"{BOX} .excerpt").inner_text()
    assert "bad" not in box.dialog.inner_text()


@pytest.mark.parametrize(
    "value", [None, [], "x", {"hits": None}, {"total": 1, "hits": [{"url": "https://a.example/"}]}]
)
def test_an_answer_that_is_none_counts_as_not_reachable(opened: Open, value: object) -> None:
    box = opened()
    answer_with(box, value)
    box.type("heron", ".note .again")
    assert box.errors == []


def test_a_page_of_a_site_that_was_not_named_is_refused_and_the_log_says_so(
    world: World, opened: Open
) -> None:
    port = world.url.rpartition(":")[2]
    box = opened(at=f"http://localhost:{port}")
    box.type("heron", ".note .again")
    assert box.options.count() == 0
    log = world.service.log.read_text()
    assert log.count(f"http://localhost:{port}") == 1
    box.note.locator(".again").click()
    box.page.wait_for_timeout(300)
    assert world.service.log.read_text().count(f"http://localhost:{port}") == 1


@pytest.mark.parametrize("attribute", ["key", "server"])
def test_a_refused_key_and_a_service_that_is_down_look_alike(opened: Open, attribute: str) -> None:
    value = "uc_no_no" if attribute == "key" else f"http://127.0.0.1:{free_port()}"
    box = opened(policy="default-src *", **{attribute: value})
    box.page.evaluate(
        "document.addEventListener('error', (event) => { window.status_ = event.detail?.status; })"
    )
    box.type("heron", ".note .again")
    expect(box.note).to_contain_text("Search is not reachable.")
    assert box.page.evaluate("window.status_") == 0
    answer_with(box, of_hits({"title": "Back again"}))
    box.note.locator(".again").click()
    expect(box.options).to_have_count(1)
    expect(box.field).to_be_focused()


def test_too_many_searches(opened: Open) -> None:
    box = opened()
    answer_with(box, {}, 429)
    box.type("heron", ".note .again")
    expect(box.note).to_contain_text("Too many searches.")


def test_a_phone_shows_it_on_the_whole_screen(opened: Open) -> None:
    box = opened(context={"viewport": {"width": 390, "height": 844}, "has_touch": True})
    assert not box.page.locator(f"{BOX} .opener kbd").is_visible(), (
        "no keys, and room for the name of the site"
    )
    box.page.locator(f"{BOX} button").first.tap()
    box.type("heron")
    assert box.dialog.bounding_box() == {"x": 0, "y": 0, "width": 390, "height": 844}
    assert box.page.evaluate("document.querySelector('main').scrollWidth") <= 390
    assert not box.page.locator(f"{BOX} .keys").first.is_visible()
    box.page.get_by_role("button", name="Close").tap()
    expect(box.dialog).not_to_be_visible()


def test_themes(opened: Open) -> None:
    def is_dark(scheme: str, **attributes: str) -> bool:
        box = opened(context={"color_scheme": scheme}, **attributes)
        box.page.keyboard.press("Control+k")
        colour = box.dialog.evaluate("(one) => getComputedStyle(one).backgroundColor")
        return max(map(int, re.findall(r"\d+", colour)[:3])) < 128

    assert [is_dark("dark"), is_dark("light")] == [True, False]
    assert [is_dark("dark", theme="light"), is_dark("light", theme="dark")] == [False, True]


def test_variables_and_parts_reach_in_and_styles_of_the_page_do_not(opened: Open) -> None:
    box = opened(policy="default-src *; style-src 'unsafe-inline'")
    box.page.add_style_tag(
        content=f"{BOX} {{ --ultracrawl-accent: rgb(1, 2, 3); --ultracrawl-width: 500px }} input, a, button, dialog "
        f"{{ display: none !important; color: red !important }} {BOX}::part(field) {{ letter-spacing: 3px }}"
    )
    box.type("heron")
    style = "(one) => { const style = getComputedStyle(one); return [style.color, style.letterSpacing, style.display] }"
    assert box.page.locator(f"{BOX} .head").evaluate(style)[0] == "rgb(1, 2, 3)"
    assert box.field.evaluate(style)[1:] == ["3px", "block"]
    box_of_dialog = box.dialog.bounding_box()
    assert box_of_dialog is not None
    assert box_of_dialog["width"] == 500


def test_german(opened: Open) -> None:
    for page in ({"lang": "de-CH"}, {"inside": ""}):
        box = opened(**page)
        if "lang" not in page:
            box.page.evaluate(f"document.querySelector('{BOX}').lang = 'de'")
        assert box.page.locator(f"{BOX} .opener").inner_text().startswith("Suchen")
        box.type("heron")
        expect(box.page.locator(f"{BOX} .count")).to_have_text("3 Seiten")
        expect(box.page.locator(f"{BOX} .label").first).to_have_text("Anleitungen")
    french = opened(lang="fr")
    assert french.page.locator(f"{BOX} .opener").inner_text().startswith("Search")


def test_attributes_choose_what_is_searched_and_shown(world: World, opened: Open) -> None:
    box = opened(
        group="guides", hits="1", all_results=f"{world.url}/all?q={{query}}&amp;x=1", placeholder="Find birds"
    )
    assert box.page.locator(f"{BOX} .opener").inner_text().startswith("Find birds")
    box.type("heron")
    expect(box.page.locator(f"{BOX} .count")).to_have_text("2 pages")
    assert box.page.locator(f"{BOX} a.hit:not(.section)").count() == 1
    every = box.page.locator(f"{BOX} .foot a")
    assert every.inner_text() == "All results (2)"
    assert every.get_attribute("href") == f"{world.url}/all?q=heron&x=1"
    other = opened(source="reference")
    other.type("heron")
    expect(other.page.locator(f"{BOX} .count")).to_have_text("1 page")
    private = opened(source="payroll")
    private.type("heron", ".note:not([hidden])")
    expect(private.note.get_by_role("alert")).to_be_visible()
    expect(private.options).to_have_count(0)


def test_recent_searches_are_kept_only_where_the_site_allows_it(opened: Open) -> None:
    for attributes, kept in (({}, 0), ({"recent": ""}, 1)):
        box = opened(**attributes)
        box.page.evaluate("document.addEventListener('select', (event) => event.preventDefault())")
        box.type("egret")
        box.page.keyboard.press("Enter")
        assert box.page.evaluate("localStorage.length") == kept
        box.page.reload()
        box.page.keyboard.press("Control+k")
        expect(box.options).to_have_count(kept)
    box.options.first.click()
    expect(box.page.locator(f"{BOX} .count")).to_have_text("1 page")
    box.field.fill("")
    box.note.locator("button").click()
    expect(box.options).to_have_count(0)
    assert box.page.evaluate("JSON.parse(localStorage.getItem('ultracrawl-recent'))") == []


def test_without_script_the_form_stays(world: World, opened: Open) -> None:
    form = '<form action="/search"><input name="q" id="q" aria-label="q"></form>'
    box = opened(inside=form)
    expect(box.page.locator("#q")).not_to_be_visible()
    context = world.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{world.url}{world.page(inside=form)}")
    expect(page.locator("#q")).to_be_visible()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(opened: Open, scheme: str, width: int) -> None:
    context = {"color_scheme": scheme, "viewport": {"width": width, "height": 844}, "bypass_csp": True}
    box = opened(context=context, recent="", all_results="https://search.example.com/?q={query}")
    assert box.violations() == []
    box.page.keyboard.press("Control+k")
    assert box.violations() == [], "before typing"
    for text, wait in (
        ("heron", "[role=option]"),
        ("heorn", ".note button"),
        ("zzzz", ".note:not([hidden])"),
    ):
        box.type(text, wait)
        box.page.keyboard.press("ArrowDown")
        assert box.violations() == [], text
    answer_with(box, {}, 503)
    box.type("down", ".note .again")
    assert box.violations() == [], "not reachable"


def test_the_number_of_pages_is_announced_and_focus_stays(opened: Open) -> None:
    box = opened()
    box.type("heron")
    status = box.page.get_by_role("status")
    expect(status).to_have_text("3 pages")
    expect(box.field).to_be_focused()
    assert box.field.get_attribute("aria-expanded") == "true"
    expect(box.page.get_by_role("combobox")).to_have_count(1)
    expect(box.page.get_by_role("listbox").get_by_role("option")).to_have_count(box.options.count())


def test_two_boxes_in_a_page_and_one_that_is_moved(world: World, opened: Open) -> None:
    box = opened()
    box.page.evaluate(
        f"const one = document.querySelector('{BOX}'); const two = one.cloneNode(); document.body.append(two);"
        "document.querySelector('main').append(one)"
    )
    box.page.evaluate(f"document.querySelectorAll('{BOX}')[1].remove()")
    box.type("heron")
    expect(box.page.locator(f"{BOX} .count")).to_have_text("3 pages")
    assert box.errors == []


def test_keys_open_the_box_that_can_be_seen(opened: Open) -> None:
    box = opened()
    box.page.evaluate(
        f"const one = document.querySelector('{BOX}'); one.after(one.cloneNode()); one.hidden = true"
    )
    box.page.keyboard.press("Control+k")
    assert [one.evaluate("(dialog) => dialog.open") for one in box.dialog.all()] == [False, True]
    box.page.keyboard.type("heron")
    expect(box.page.locator(f"{BOX} .count").nth(1)).to_have_text("3 pages")


def test_the_script_may_be_cached_and_read_by_any_site(world: World, tmp_path: Path) -> None:
    context = world.browser.new_context()
    answer = context.request.get(f"{world.service.url}/static/box.js")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "max-age" in answer.headers["cache-control"]
    context.close()
