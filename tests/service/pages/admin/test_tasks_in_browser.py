"""Tasks of people in a browser, each begun at the overview by somebody who has logged in with name and password."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect
from service.pages.admin.conftest import PASSWORD, Administration
from support.chromium import chromium
from support.clock import wall_time
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.pages import Watched, bird_site, served
from support.project import LOOPBACK

from ultracrawl.model import ScheduleStatus
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.api.app import ApiOptions, make_app
from ultracrawl.service.api.middleware.cookies import Cookies
from ultracrawl.service.orders import ScheduleState, SourcePhase, SourceState
from ultracrawl.service.pages.app import add_pages
from ultracrawl.stores.audit_log import Actor, record_action
from ultracrawl.stores.project_stores import source_notes
from ultracrawl.stores.source_notes.failure import FailureNote, note_failure

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.servers
NAMES = ("docs", "drafts", "lost", "broken", "damaged", "busy", "idle")
FORMULA = "=HYPERLINK(A1)"
"""Why the source `broken` failed."""
PREFIX = "/search"


class Room(Administration):
    """The administration of a project in which there is something to do."""

    address = ""

    def __init__(self, workspace: InProcessWorkspace, start: str) -> None:
        super().__init__(workspace)
        self.start = start
        self.supervisor.known = {name: SourceState(name) for name in NAMES}
        self.supervisor.known["busy"] = SourceState(
            "busy", SourcePhase.RUNNING, "2", {"fetched": 5}, begun=1.0
        )
        self.supervisor.timed["night"] = ScheduleState("night", ("idle",), ScheduleStatus.SCHEDULED)
        for role in Role:
            self.users.add_user(role.value, role, PASSWORD, ("staff",))

    def run_busy(self, fetched: int) -> None:
        """Let the source `busy` be crawled."""
        live = {"fetched": fetched}
        self.supervisor.known["busy"] = SourceState("busy", SourcePhase.RUNNING, "2", live, begun=1.0)

    @property
    def definition(self) -> Path:
        return self.workspace.directory / "ultracrawl.yaml"

    @property
    def done(self) -> list[tuple[str, ...]]:
        """What the supervisor was told."""
        return self.supervisor.orders


def crawled(folder: Path) -> Iterator[Room]:
    """Crawl the sources, and bring them into the conditions that their names say."""
    workspace, site = InProcessWorkspace(folder), bird_site()
    site.page("/gone", title="Gone", text="a page that will be gone")
    site.page("/", title="Birds", links=["/heron", "/egret", "/gone"], text="all birds of the lake")
    with site.serve() as url:
        define(workspace, url)
        workspace.crawl()
        site.gone("/gone")
        workspace.crawl("lost", code=1)
        room = Room(workspace, url)
        project = room.project
        note_failure(source_notes(project, "broken"), FailureNote(wall_time() + 9, FORMULA))
        record_action(project, Actor("user:zoe", "192.0.2.7"), "remove", ["drafts"])
        (project.state.path / "damaged.sqlite").write_bytes(b"no database" * 999)
        yield room


def define(workspace: InProcessWorkspace, url: str) -> None:
    """Write the definition with a source for each condition."""
    source = {"start_urls": [f"{url}/"], "politeness": {"delay": 0}, "boundary": LOOPBACK}
    sources: dict[str, Any] = {name: {**source, "refresh": {"interval": "1 h"}} for name in NAMES}
    sources["docs"] |= {"exclude": ["/egret"], "acl": ["board"]}
    sources["drafts"]["crawling_mode"] = "examine"
    sources["lost"]["deletion"] = {"percent": 10, "always": 0}
    del sources["idle"]["refresh"]
    schedules = {"night": {"sources": ["idle"], "cron": "0 3 * * *"}}
    workspace.write({"sources": sources, "schedules": schedules})


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    for made in crawled(tmp_path_factory.mktemp("room")):
        with served(made.app) as address:
            made.address = address
            yield made


@pytest.fixture(scope="module")
def browser(room: Room) -> Iterator[Browser]:
    """Chromium, begun after the crawls: both would run a loop in this thread."""
    assert room.address
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def sessions() -> dict[tuple[str, Role], Any]:
    """The cookies of those who have logged in, by address and role."""
    return {}


PUBLIC = "192.0.43.7"
"""A public address, of which the network of this process answers."""
Enter = Callable[..., Watched]


@contextmanager
def without_loop() -> Iterator[None]:
    """Let a crawl run a loop of its own in this thread, in which that of the browser stands still meanwhile."""
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)


def log_in(page: Page, name: str) -> None:
    """Fill the log-in form."""
    page.fill("#name", name)
    page.fill("#password", PASSWORD)
    page.click("form.login button")


@pytest.fixture
def enter(browser: Browser, room: Room, sessions: dict[tuple[str, Role], Any]) -> Iterator[Enter]:
    """Open windows of people who have logged in; none may complain, or ask anything of another host."""
    windows: list[Watched] = []

    def entered(role: Role = Role.ADMINISTRATOR, address: str = "", **options: Any) -> Watched:
        address = address or room.address
        state = sessions.get((address, role))
        context = browser.new_context(storage_state=state, reduced_motion="reduce", **options)
        window = Watched(context, address)
        windows.append(window)
        window.open("/admin")
        if state is None:
            log_in(window.page, role.value)
            window.page.wait_for_url("**/admin")
            sessions[address, role] = context.storage_state()
        return window

    yield entered
    for one in windows:
        one.page.context.close()
    assert [one.foreign for one in windows if one.foreign] == []
    complaints = [text for one in windows for text in one.complaints]
    expected = ("status of 403", "status of 409")
    assert [text for text in complaints if not any(part in text for part in expected)] == []


def test_somebody_logs_in_where_they_wanted_to_go_and_out_again(browser: Browser, room: Room) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{room.address}/admin/audit?who=user:zoe")
    log_in(page, "administrator")
    page.wait_for_url("**/admin/audit?who=user*zoe")
    page.click("summary:has-text('administrator')")
    page.click("form[action='/logout'] button")
    page.goto(f"{room.address}/admin")
    assert "/login?next=" in page.url
    context.close()


def test_why_a_page_is_missing_is_read_from_top_to_bottom(enter: Enter, room: Room) -> None:
    page = enter(Role.EDITOR).page
    page.click("tbody a:text-is('docs')")
    page.click(".filter a:has-text('All URLs')")
    page.click(".address >> nth=0")
    expect(page.locator(".verdict.good-box")).to_have_count(1)
    page.goto(f"{page.url.partition('?')[0]}?url={room.start}/egret")
    expect(page.locator(".verdict.bad-box")).to_have_count(1)
    expect(page.locator(".chain .decides")).to_have_count(1)
    assert "/egret" in page.locator(".chain .decides code").inner_text()


def test_why_somebody_does_not_see_a_page(enter: Enter, room: Room) -> None:
    page = enter().open(f"/admin/sources/docs/url?url={room.start}/heron")
    for who, sees in (("user:reader", False), ("board", True)):
        page.fill("#who", who)
        page.click("form:has(#who) button")
        page.wait_for_url("**who=*")
        assert ("does not see it" not in page.locator(".sight").inner_text()) == sees


def test_a_document_is_approved_after_a_look_at_its_text(enter: Enter, room: Room) -> None:
    page = enter(Role.EDITOR).page
    page.click(".need.approvals .foot a")
    page.wait_for_url("**/admin/approvals*")
    documents = page.locator(".documents li")
    before = documents.count()
    heron = documents.filter(has=page.locator(".address", has_text="/heron"))
    heron.locator("summary").click()
    expect(heron.locator(".preview")).to_contain_text("the grey heron")
    heron.locator("input[type=checkbox]").check()
    page.locator("form:has(.documents) button[value=approve]").click()
    expect(
        page.locator(".documents li", has_text="drafts").or_(page.locator(".documents"))
    ).not_to_have_count(0)
    page.goto(f"{room.address}/admin/approvals?source=drafts")
    expect(page.locator(".documents li")).to_have_count(before - 1)


def test_a_deletion_needs_a_second_press_and_is_held_until_then(enter: Enter, room: Room) -> None:
    page = enter(Role.EDITOR).page
    page.click(".need.deletions .foot a")
    assert page.locator("button.danger").is_hidden()
    page.click("details.sure summary")
    assert page.locator("button.danger").is_visible()
    page.click("button:has-text('Keep them')")
    page.goto(f"{room.address}/admin/approvals?source=lost")
    expect(page.locator("button.danger")).to_have_count(0)


def test_who_removed_something_is_found_in_the_log(enter: Enter) -> None:
    page = enter().page
    page.click("nav.sections a:has-text('Audit log')")
    row = page.locator("tbody tr", has_text="remove").filter(has_text="drafts")
    assert "user:zoe" in row.first.inner_text()
    row.first.locator("a").click()
    page.wait_for_url("**who=user*")
    rows = page.locator("tbody tr")
    assert {text.split("\t")[1] for text in rows.all_inner_texts()} == {"user:zoe"}


def test_a_crawl_is_stopped_and_another_started(enter: Enter, room: Room) -> None:
    room.run_busy(5)
    page = enter(Role.EDITOR).page
    page.click("#now a:text-is('busy')")
    page.click(".orders button:has-text('Stop')")
    page.wait_for_url("**/sources/busy?done=stop")
    assert ("stop", "busy") in room.done
    page.click(".orders button.main")
    page.wait_for_url("**/sources/busy?done=start")
    assert ("start", "busy", "") in room.done


def test_a_schedule_is_changed_after_a_look_at_its_next_launch(enter: Enter, room: Room) -> None:
    page = enter().page
    page.click("nav.sections a:has-text('Schedules')")
    page.click("tr:has(th:text-is('night')) button:has-text('Launch')")
    page.wait_for_url("**/admin/schedules?done=launch")
    assert ("launch", "night") in room.done
    page.click("a[href$='/definitions/schedules']")
    page.fill("textarea", page.input_value("textarea").replace("0 3 * * *", "0 4 * * *"))
    page.click("form:has(textarea) button")
    expect(page.locator("#launches-title")).to_be_visible()
    assert "0 3 * * *" in room.definition.read_text()
    page.click("button[formaction]")
    page.wait_for_url("**/definitions/schedules?done=save")
    assert "0 4 * * *" in room.definition.read_text()


def test_a_token_is_found_and_revoked(enter: Enter, room: Room) -> None:
    tokens = TokenStore.of_project(room.project)
    tokens.create_token("portal", Role.READER, ("staff",))
    page = enter().page
    page.click("nav.sections a:has-text('Access')")
    row = page.locator("tr", has_text="portal")
    assert "staff" in row.inner_text()
    if row.locator("details").count():
        row.locator("summary").click()
    row.locator("form button").click()
    page.wait_for_url("**/admin/access*")
    assert "portal" not in {one.name for one in tokens.all_tokens()}


def test_of_two_tabs_that_edit_the_same_the_later_one_loses_nothing(enter: Enter, room: Room) -> None:
    window = enter()
    first, second = window.page, window.page.context.new_page()
    for page in (first, second):
        page.goto(f"{room.address}/admin/sources/docs/definition")
    lines = first.input_value("textarea")
    for page, interval in ((first, "2 h"), (second, "3 h")):
        page.fill("textarea", lines.replace("1 h", interval))
        page.click("form:has(textarea) button")
        page.wait_for_selector("button[formaction]")
    first.click("button[formaction]")
    first.wait_for_url("**/docs/definition?done=save")
    second.click("button[formaction]")
    expect(second.locator("[role=alert]")).to_contain_text("administrator")
    assert "3 h" in second.input_value("textarea")
    assert "2 h" in room.definition.read_text()
    assert window.findings() == []


def test_a_source_is_added_by_its_url_looked_at_saved_and_crawled(enter: Enter, room: Room) -> None:
    before, site = room.definition.read_text(), NetworkSite()
    site.page("/manual/", title="Manual", text="how to watch birds")
    page = enter().page
    page.click("nav.sections a:has-text('Definitions')")
    page.click("a[href$='/definitions/new']")
    page.fill("#new-url", f"http://{PUBLIC}/manual/")
    page.fill("#new-name", "manual")
    page.click("form:has(#new-url) button")
    expect(page.locator("textarea")).to_contain_text(f"{PUBLIC}/manual/")
    assert room.definition.read_text() == before, "nothing is saved before a look"
    page.click("button[formaction]")
    page.wait_for_url("**/sources/manual/definition?done=save")
    try:
        assert room.workspace.command("lint").code == 0
        with site.serve(PUBLIC, 80), without_loop():
            assert room.workspace.crawl("manual").run["indexed"] == 1
        page.goto(f"{room.address}/admin/sources/manual")
        expect(page.locator("table tbody tr")).to_have_count(1)
    finally:
        page.goto(f"{room.address}/admin/sources/manual/definition")
        page.click("form[action$='/undo'] button")
        page.wait_for_url("**/admin/definitions?done=undo")
    assert room.definition.read_text() == before


def test_a_damaged_state_fails_its_source_and_no_other(enter: Enter) -> None:
    page = enter().page
    expect(page.locator("tbody tr", has_text="damaged").locator(".condition.failed")).to_have_count(1)
    page.click("tbody a:text-is('damaged')")
    page.wait_for_url("**/damaged")
    expect(page.locator(".condition.failed")).to_have_count(1)
    page.go_back()
    page.click("tbody a:text-is('docs')")
    page.wait_for_url("**/docs")
    expect(page.locator(".condition.failed")).to_have_count(0)


def test_what_a_role_may_not_do_is_not_offered_and_refused_with_the_way_back(enter: Enter) -> None:
    page = enter(Role.READER).page
    expect(page.locator("nav.sections a")).to_have_count(2)
    page.click("tbody a:text-is('docs')")
    expect(page.locator("main form")).to_have_count(0)
    page.goto(f"{page.url}/definition")
    assert "administrator" in page.locator(".detail").inner_text()
    page.click(".error a[href='/admin']")
    page.wait_for_url("**/admin")


def test_an_open_page_outlives_a_restart_of_the_service(enter: Enter, room: Room) -> None:
    room.run_busy(5)
    window = enter()
    page = window.open("/admin")
    expect(page.locator("#now")).to_contain_text("5 read")
    assert window.complaints == []
    page.context.route("**/*", lambda route: route.abort("connectionrefused"))
    with page.expect_event("requestfailed"):
        pass
    expect(page.locator("#now")).to_contain_text("5 read")
    room.run_busy(77)
    page.context.unroute("**/*")
    window.complaints.clear()  # of the request that was refused
    expect(page.locator("#now")).to_contain_text("77 read")


def test_filters_are_addresses_that_can_be_kept(enter: Enter, room: Room) -> None:
    window = enter()
    page = window.page
    page.click(".filter a:has-text('Need a person')")
    page.wait_for_url("**/admin?state=attention")
    shown = page.locator("tbody th a").all_inner_texts()
    assert {"broken", "damaged"} <= set(shown)
    other = page.context.new_page()
    other.goto(page.url)
    assert other.locator("tbody th a").all_inner_texts() == shown
    other.click(".as a:text-is('JSON')")
    assert [one["source"] for one in json.loads(other.inner_text("pre"))["sources"]] == shown


def test_a_table_that_is_downloaded_starts_no_formula(enter: Enter) -> None:
    page = enter().page
    with page.expect_download() as download:
        page.click(".as a:text-is('CSV')")
    rows = {row["source"]: row for row in csv.DictReader(StringIO(download.value.path().read_text()))}
    assert rows["broken"]["problem"] == f"'{FORMULA}"
    assert download.value.suggested_filename.endswith(".csv")


def test_a_url_is_submitted_and_one_that_does_not_belong_is_refused(enter: Enter, room: Room) -> None:
    page = enter(Role.EDITOR).open("/admin/sources/docs")
    page.fill("#submitted", f"{room.start}/new-page")
    page.click("form:has(#submitted) button")
    page.wait_for_url("**/url?url=*")
    page.goto(f"{room.address}/admin/sources/docs")
    page.fill("#submitted", f"{room.start}/egret")
    page.click("form:has(#submitted) button")
    expect(page.locator("#submitted-problem")).to_be_visible()
    assert page.input_value("#submitted") == f"{room.start}/egret"


def test_the_same_pages_below_the_prefix_of_a_proxy(enter: Enter, room: Room) -> None:
    options = ApiOptions(cookies=Cookies(8480, root_path=PREFIX))
    app = make_app(room.app.state.api.project_now, room.supervisor, options)
    add_pages(app)
    with served(app) as address:
        window = enter(Role.EDITOR, f"{address}{PREFIX}")
        page = window.page
        page.click("tbody a:text-is('docs')")
        page.wait_for_url(f"{address}{PREFIX}/admin/sources/docs")
        page.click(".orders button.main")
        page.wait_for_url(f"{address}{PREFIX}/admin/sources/docs?done=start")
        assert ("start", "docs", "") in room.done
        paths = {one.url.removeprefix(address).split("/")[1] for one in window.requests}
        assert paths == {PREFIX.strip("/")}
        page.context.close()


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 900), (390, 844)], ids=["desktop", "phone"])
def test_axe_finds_nothing_where_the_tasks_lead(
    enter: Enter, room: Room, colours: str, size: tuple[int, int]
) -> None:
    window = enter(color_scheme=colours, viewport={"width": size[0], "height": size[1]})
    found = {}
    for path in (
        "/admin",
        "/admin/approvals",
        "/admin/definitions/new",
        "/admin/definitions/schedules",
        "/admin/sources/damaged",
        f"/admin/sources/docs/url?url={room.start}/egret",
        f"/admin/sources/docs/url?url={room.start}/heron&who=user:reader&more=1",
        "/admin/audit?who=user:zoe",
        "/admin/access",
    ):
        page = window.open(path)
        if findings := window.findings():
            found[path] = findings
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    assert found == {}
