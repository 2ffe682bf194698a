"""The administration in a browser: every page and state, light and dark, desktop and phone, and tasks of people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect
from service.pages.admin.conftest import Administration
from support.chromium import chromium
from support.clock import wall_time
from support.pages import Watched, served
from support.project import Workspace
from support.site import Site

from ultracrawl.service.access.requester import Requester, RequesterKind, Role
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.api import access
from ultracrawl.service.editing.versions import Versions
from ultracrawl.service.orders import SourcePhase, SourceState
from ultracrawl.stores.audit_log import Actor, record_action
from ultracrawl.stores.project_stores import source_notes
from ultracrawl.stores.source_notes.failure import FailureNote, note_failure

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.servers

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
NAMES = ("failed", "held", "running", "late", "paused", "new", "a-name-that-is-very-long-" + "x" * 60)
PATHS = (
    "/admin",
    "/admin?state=late",
    "/admin?state=attention&language=de",
    *(f"/admin/sources/{name}" for name in ("failed", "held", "running", "mistaken", "new")),
    "/admin/sources/running/runs/1",
    "/admin/sources/running/urls",
    "/admin/sources/running/url?url=http://elsewhere.example/",
    "START&more=1&who=user:ben",
    "/admin/sources/paused?done=pause",
    "/admin/schedules?done=launch&language=de",
    "/admin/sources/running/suggestions",
    "/admin/approvals",
    "/admin/schedules",
    "/admin/queries",
    "/admin/queries/query?q=bird&page=http://elsewhere.example/&language=de",
    "/admin/audit?language=de",
    "/admin/definitions",
    "/admin/sources/mistaken/definition",
    "/admin/definitions/new",
    "/admin/definitions/new?url=nowhere:1&language=de",
    "/admin/sources/added/definition?start_url=http://192.0.43.7/",
    "/admin/definitions/schedules",
    "/admin/access",
    "/admin/access?language=de",
    "/admin/access/new-user",
    "/admin/access/new-user?language=de",
    "/admin/access/users/ben?language=de",
    "/admin/access/new-token",
    "/admin/access/new-key?language=de",
    "/admin/sources/nothing",
)
MOST_BYTES = 80_000
"""Bytes of page, styles and scripts together, compressed, that a first visit may take."""


def everything(workspace: Workspace, url: str) -> Administration:
    """Make a project with sources in all conditions."""
    common = {
        "boundary": {"networks": ["127.0.0.0/8"]},
        "politeness": {"delay": 0},
        "refresh": {"interval": "1 h"},
    }
    sources: dict[str, Any] = {name: {"start_urls": [f"{url}/"], **common} for name in NAMES}
    sources["held"]["crawling_mode"] = "examine"
    workspace.write({"sources": sources})
    workspace.command("crawl", "failed", "held", "running", "late", timeout=120)
    sources["mistaken"] = {"start_urls": [f"{url}/"], "depht": 3}
    workspace.write({"sources": sources})
    administration = Administration(workspace)
    note_failure(
        source_notes(administration.project, "failed"), FailureNote(wall_time() + 9, "log-in failed: 401 <b>")
    )
    tokens = TokenStore.of_project(administration.project)
    tokens.create_token("portal", Role.READER, ("staff",))
    tokens.create_token("over", None, (), wall_time() - 9, ["https://docs.example.com"])
    administration.users.add_user("ben", Role.READER, "correct horse battery", ("staff", "x" * 90))
    record_action(administration.project, Actor("oidc:ida", "192.0.2.7"), "log-in")
    with Versions(administration.project, "running").adding() as added:
        added.add("1", "type: web", at=1.0)
        added.add("2", "type: web\ndepth: 2", "user:anna")
    administration.supervisor.known |= {name: SourceState(name) for name in NAMES}
    administration.supervisor.known |= {
        "running": SourceState("running", SourcePhase.RUNNING, "2", {"fetched": 5, "queued": 758}, begun=1.0),
        "late": SourceState("late", next_run=wall_time() - 9000),
        "paused": SourceState("paused", paused_by_hand=True),
    }
    return administration


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Administration, str]]:
    site = Site()
    site.page("/", title="Start", links=[f"/{number}" for number in range(5)], text="all of them")
    for number in range(5):
        site.page(f"/{number}", title=f"Bird {number}", text=f"a bird of the lake {number}")
    with site.serve() as url:
        administration = everything(Workspace(tmp_path_factory.mktemp("admin")), url)
        who = Requester("user:anna", RequesterKind.USER, Role.ADMINISTRATOR, None)

        def signed_in(request: access.Request) -> Requester:
            request.state.requester, request.state.project = who, administration.project
            request.state.csrf_token = "token"
            return who

        administration.app.dependency_overrides[access.authenticate] = signed_in
        with served(administration.app) as address:
            yield administration, address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def visit(browser: Browser, shown: tuple[Administration, str]) -> Iterator[Callable[..., Watched]]:
    """Open windows; none of them may complain, or ask anything of another host."""
    windows: list[Watched] = []

    def opened(size: dict[str, int] = DESKTOP, **options: Any) -> Watched:
        context = browser.new_context(viewport=size, reduced_motion="reduce", **options)
        windows.append(Watched(context, shown[1]))
        return windows[-1]

    yield opened
    for one in windows:
        one.page.context.close()
    assert [one.foreign for one in windows if one.foreign] == []
    complaints = [text for one in windows for text in one.complaints if "404" not in text]
    assert complaints == []


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_and_no_page_scrolls_sideways(
    visit: Callable[..., Watched],
    shown: tuple[Administration, str],
    size: dict[str, int],
    colours: str,
) -> None:
    window, found = visit(size, color_scheme=colours), {}
    for path in PATHS:
        start = f"/admin/sources/running/url?url={shown[0].project.sources['running'].start_urls[0]}"
        page = window.open(path.replace("START", start))
        found[path] = window.findings()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    assert {path: findings for path, findings in found.items() if findings} == {}


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no JavaScript"])
def test_the_failing_source_is_found_and_a_crawl_is_paused(
    visit: Callable[..., Watched], shown: tuple[Administration, str], scripts: bool
) -> None:
    page = visit(java_script_enabled=scripts).open("/admin")
    page.click(".need.failed .foot a")
    page.wait_for_url("**/admin/sources/failed")
    assert "log-in failed" in page.locator(".need.failed").inner_text()
    page.click(".path a")
    page.click(".filter a:has-text('Crawling')")
    page.click("tbody th a")
    page.wait_for_url("**/admin/sources/running")
    page.click(".orders button:has-text('Pause')")
    page.wait_for_url("**/admin/sources/running?done=pause")
    assert ("pause", "running") in shown[0].supervisor.orders


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_user_is_added_by_the_keyboard_alone(
    visit: Callable[..., Watched], shown: tuple[Administration, str], language: str
) -> None:
    window = visit(PHONE)
    page = window.open(f"/admin/access?language={language}")
    page.locator(".head .button").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/access/new-user*")
    page.locator("#name").focus()
    page.keyboard.type("ben")
    for text in ("", "searcher", "group:sales", "", "nowhere"):
        page.keyboard.press("Tab")
        page.keyboard.type(text)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#name")).to_be_focused()
    assert page.locator(".field-problem").count() == 2
    assert page.locator("#principals").input_value() == "group:sales"
    assert page.locator("html").get_attribute("lang") == language
    assert window.findings() == []
    page.keyboard.press("Control+A")
    page.keyboard.type(f"kim.{language}")
    page.locator("#sources").fill("")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("pre.code")).to_be_visible()
    assert window.findings() == []
    assert shown[0].users.known_user(f"kim.{language}").principals == ("group:sales",)
    (refused,) = window.complaints
    assert "400" in refused, "the browser's word for the form that came back"
    window.complaints.clear()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_what_was_clicked_is_answered_where_the_focus_is(
    visit: Callable[..., Watched], shown: tuple[Administration, str], colours: str
) -> None:
    start = shown[0].project.sources["late"].start_urls[0]
    window = visit(PHONE, color_scheme=colours)
    path = f"/admin/sources/late/url?url={start}{'0' if colours == 'light' else '1'}"
    page = window.open(path)
    page.click(".orders form[action$='/submit'] button")
    expect(page.locator(".done[role=status]")).to_be_focused()
    assert window.findings() == []
    page.click(".orders summary")
    page.click(".orders form[action$='/remove'] button")
    expect(page.locator(".orders form:has([name=restore])")).to_be_visible()
    expect(page.locator(".done[role=status]")).to_be_focused()
    assert window.findings() == []
    page.click(".orders form:has([name=restore]) button")
    expect(page.locator(".orders summary")).to_be_visible()
    assert window.findings() == []
    window.open("/?q=bird+4")
    window.page.locator(".hit", has_text="Bird 4").first.locator(".remove summary").click()
    window.page.locator(".remove[open] button").click()
    expect(window.page.locator(".done[role=status]")).to_be_focused()
    assert window.findings() == []
    window.page.click(".done button")
    expect(window.page.locator(".next-visit")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no JavaScript"])
def test_a_folder_is_excluded_after_a_look_at_what_it_drops_and_the_change_undone(
    visit: Callable[..., Watched], shown: tuple[Administration, str], scripts: bool
) -> None:
    file = shown[0].workspace.directory / "ultracrawl.yaml"
    before = file.read_text()
    window = visit(java_script_enabled=scripts)
    page = window.open("/admin/sources/running")
    page.click("a[href$='/definition']")
    lines = page.input_value("textarea")
    assert lines in before
    page.fill("textarea", f"{lines}\n    exclude: [/3]")
    page.click("form:has(textarea) button")
    expect(page.locator(".difference .added")).to_contain_text("exclude: [/3]")
    expect(page.locator(".documents .address")).to_contain_text("/3")
    assert file.read_text() == before
    assert not scripts or window.findings() == []
    page.click("button[formaction]")
    page.wait_for_url("**/sources/running/definition?done=save")
    assert file.read_text() == before.replace(lines, f"{lines}\n    exclude: [/3]")
    page.click("form[action$='/undo'] button")
    page.wait_for_url("**/sources/running/definition?done=undo")
    assert file.read_text() == before


def test_progress_is_followed_while_the_page_is_open(
    visit: Callable[..., Watched], shown: tuple[Administration, str]
) -> None:
    known = shown[0].supervisor.known
    before = known["running"]
    page = visit().open("/admin")
    assert "758" in page.locator("#now").inner_text()
    known["running"] = SourceState(
        "running", SourcePhase.RUNNING, "2", {"fetched": 9, "queued": 12}, begun=1.0
    )
    try:
        expect(page.locator("#now")).to_contain_text("12")
    finally:
        known["running"] = before


def test_an_open_page_of_a_source_shows_that_its_run_has_ended(
    visit: Callable[..., Watched], shown: tuple[Administration, str]
) -> None:
    known, window = shown[0].supervisor.known, visit()
    before, page = known["running"], window.open("/admin/sources/running")
    page.fill("#submitted", "http://typed.example/")
    known["running"] = SourceState("running", last_end=wall_time())
    try:
        expect(page.locator("#now .notice a")).to_have_attribute("href", "/admin/sources/running/runs/1")
        expect(page.locator(".orders button.main")).to_have_count(1)
        assert page.input_value("#submitted") == "http://typed.example/", "what was typed stays"
        assert window.findings() == []
    finally:
        known["running"] = before


def test_a_first_visit_takes_few_bytes(visit: Callable[..., Watched]) -> None:
    window = visit()
    window.open("/admin").wait_for_load_state("load")
    sizes = {one.url: one.sizes()["responseBodySize"] for one in window.requests}
    assert any("/static/admin.css" in url for url in sizes)
    assert sum(sizes.values()) < MOST_BYTES
