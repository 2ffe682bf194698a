"""The overview: the condition of each source, what needs a person, filters, files, and who may see it."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Callable, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from jinja2 import Environment
from lxml.html import fragment_fromstring
from service.pages.admin.conftest import Administration, texts
from support.clock import wall_time
from support.in_process import InProcessWorkspace

from ultracrawl.service.access.requester import Role
from ultracrawl.service.metrics.indexes import IndexFactsReader
from ultracrawl.service.orders import SourcePhase, SourceState
from ultracrawl.service.pages import rendering
from ultracrawl.service.pages.admin.downloads import csv_lines, csv_text
from ultracrawl.service.pages.admin.rendering import OVERVIEW_TEMPLATES
from ultracrawl.service.pages.admin.sources import overview_routes
from ultracrawl.stores.project_stores import source_notes
from ultracrawl.stores.source_notes.failure import FailureNote, note_failure
from ultracrawl.stores.sqlite.engine import SqliteEngine

if TYPE_CHECKING:
    from pathlib import Path

PATHS = ("/admin", "/admin/sources.json", "/admin/sources.csv")


def row_of(administration: Administration, name: str = "site", query: str = "") -> dict[str, Any]:
    """Return a row of the overview as JSON."""
    answer = administration.browser().get(f"/admin/sources.json{query}")
    return next(row for row in answer.json()["sources"] if row["source"] == name)


def test_nobody_is_led_to_the_form_and_back(administration: Administration) -> None:
    for path in PATHS:
        answer = administration.browser(None).get(f"{path}?state=late")
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/login?next=%2Fadmin")


def test_a_public_search_page_opens_no_administration(administration: Administration) -> None:
    definition = administration.workspace.directory / "ultracrawl.yaml"
    definition.write_text(f"search_page: {{public: true}}\n{definition.read_text()}")
    assert administration.status("/", None) == 200
    assert [administration.status(path, None) for path in PATHS] == [303] * 3


def test_a_crawled_source_is_shown_with_its_numbers(administration: Administration) -> None:
    page = administration.get("/admin", Role.READER)
    (row,) = page.cssselect("tbody tr")
    assert "site" in row.text_content()
    assert row.cssselect(".condition.ok")
    assert "+3" in row.text_content(), "what the last run changed"
    assert len(row.cssselect("svg.spark rect.done")) == 1
    assert "3 pages" in row.cssselect("svg.spark")[0].get("aria-label")
    assert page.cssselect("aside .nothing")
    found = row_of(administration)
    assert (found["condition"], found["documents"], found["runs"][0]["new"]) == ("ok", 3, 3)


def test_a_failed_source_needs_a_person(administration: Administration) -> None:
    note_failure(
        source_notes(administration.project, "site"),
        FailureNote(wall_time() + 9, "log-in failed: 401 <script>"),
    )
    page = administration.get("/admin")
    (need,) = page.cssselect(".need.failed")
    assert "log-in failed: 401 <script>" in need.text_content()
    assert len(need.cssselect(".foot a")) == 1, "one action"
    assert administration.status(need.cssselect(".foot a")[0].get("href")) == 200
    assert page.cssselect("tbody .condition.failed")


def test_a_damaged_state_fails_its_source_only(administration: Administration) -> None:
    (administration.project.state.path / "site.sqlite").write_bytes(b"no database" * 999)
    page = administration.get("/admin")
    assert page.cssselect("tbody .condition.failed")
    assert administration.status("/admin/sources/site") == 200


def test_an_index_without_a_server_is_named_in_the_language_of_the_page(
    administration: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = "no server <b> answers"
    monkeypatch.setattr(IndexFactsReader, "problems", lambda *_: {"birds": problem})
    sentences = set[str]()
    for language in ("en", "de"):
        (notice,) = administration.get(f"/admin?language={language}", Role.EDITOR).cssselect(".notice")
        assert notice.get("role") == "alert"
        (english,) = notice.cssselect("[lang=en]")
        assert english.text_content() == problem
        assert notice.cssselect("b")[0].text == "birds"
        english.drop_tree()
        sentences.add(notice.text_content())
    assert len(sentences) == 2
    assert not administration.get("/admin", Role.READER).cssselect(".notice"), "readers cannot do anything"


def test_a_mistake_is_shown_with_its_line(administration: Administration) -> None:
    definition = administration.workspace.directory / "ultracrawl.yaml"
    definition.write_text(f"{definition.read_text()}    depht: 3\n")
    lines = definition.read_text().splitlines()
    (line,) = [number for number, text in enumerate(lines, 1) if "depht" in text]
    (need,) = administration.get("/admin").cssselect(".need.mistake")
    assert str(line) in need.text_content()
    assert "depht" in need.text_content()
    assert row_of(administration)["needs"][0]["line"] == line


def test_a_source_that_nothing_crawls_needs_a_person(workspace: InProcessWorkspace, url: str) -> None:
    workspace.define(f"{url}/")
    path = workspace.directory / "ultracrawl.yaml"
    path.write_text(f"processes: {{default_interval: null}}\n{path.read_text()}")
    administration = Administration(workspace)
    assert administration.get("/admin").cssselect(".need.never-due")
    administration.supervisor.known["site"] = SourceState("site", paused_by_hand=True)
    assert not administration.get("/admin").cssselect(".need"), "a person has paused it"


def test_a_source_that_is_due_and_has_not_begun_is_late(administration: Administration) -> None:
    supervisor = administration.supervisor
    for ago, condition in ((60, "ok"), (3000, "late")):
        supervisor.known["site"] = SourceState("site", next_run=wall_time() - ago)
        assert row_of(administration)["condition"] == condition
    supervisor.known["site"] = SourceState("site", SourcePhase.QUEUED, next_run=wall_time() - 3000)
    assert row_of(administration)["condition"] == "waiting"


def test_a_running_crawl_shows_its_progress(administration: Administration) -> None:
    live = SourceState("site", SourcePhase.RUNNING, "2", {"fetched": 1204, "queued": 758}, begun=1.0)
    administration.supervisor.known["site"] = live
    page = administration.get("/admin")
    assert "1,204" in texts(page, "#now")[0]
    assert "758" in texts(page, "#now")[0]
    assert page.cssselect("tbody .condition.crawling")


def test_a_second_overview_reads_no_state_and_the_schedules_once(
    administration: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = administration.workspace.directory / "ultracrawl.yaml"
    more = "".join(
        f"  {name}: {{start_urls: [http://{name}.example/], refresh: {{interval: 2 h}}}}\n" for name in "ab"
    )
    definition.write_text(
        f"{definition.read_text()}{more}schedules: {{night: {{cron: '0 3 * * *', sources: [b]}}}}\n"
    )
    assert len(administration.get("/admin").cssselect("tbody tr")) == 3
    opened: list[str] = []
    for name in ("open_store", "open_schedules"):
        method = getattr(SqliteEngine, name)
        monkeypatch.setattr(SqliteEngine, name, counting(opened, name, method))
    assert len(administration.get("/admin").cssselect("tbody tr")) == 3
    assert opened == ["open_schedules"]
    administration.workspace.crawl("site")
    opened.clear()
    assert texts(administration.get("/admin"), "tbody tr")
    assert sorted(opened) == ["open_schedules", "open_store"], (
        "the state that has changed is read again, once"
    )


def counting(opened: list[str], name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that notes its name when it is called."""

    def counted(*arguments: Any, **options: Any) -> Any:
        opened.append(name)
        return method(*arguments, **options)

    return counted


def test_the_first_visitor_waits_for_no_template(
    administration: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    administration.browser()  # the form has templates of its own
    rendering._environment.cache_clear()
    rendering.prepare_templates(OVERVIEW_TEMPLATES)
    monkeypatch.setattr(Environment, "compile", lambda *_, **__: pytest.fail("a template was compiled"))
    assert administration.get("/admin").cssselect("tbody tr")


def test_the_templates_are_prepared_while_the_service_begins(
    administration: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: list[Sequence[str]] = []
    monkeypatch.setattr("ultracrawl.service.pages.app.prepare_templates", prepared.append)

    async def begin() -> None:
        async with administration.app.router.lifespan_context(administration.app):
            pass

    asyncio.run(begin())
    assert prepared == [OVERVIEW_TEMPLATES]


def test_an_open_page_asks_for_what_is_crawled_now_alone(
    administration: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview_routes, "overview", lambda _: pytest.fail("a state was read"))
    known, headers = administration.supervisor.known, {"HX-Request": "true"}
    known["site"] = SourceState("site", SourcePhase.RUNNING, "2", {"fetched": 1204, "queued": 758}, begun=1.0)
    answer = administration.browser().ask("GET", "/admin?state=ok", headers=headers)
    part = fragment_fromstring(answer.text, create_parent=True)
    (now,) = part.cssselect("#now")
    assert (now.get("hx-get"), now.get("hx-trigger")) == ("/admin?state=ok", "every 2s")
    assert "1,204" in texts(part, "#now")[0]
    assert not part.cssselect("table")
    assert len(answer.content) < 1000
    known["site"] = SourceState("site")
    answer = administration.browser().ask("GET", "/admin", headers=headers)
    (now,) = fragment_fromstring(answer.text, create_parent=True).cssselect("#now")
    assert now.get("hx-trigger") == "every 10s", "it notices the next crawl"
    answer = administration.browser(None).ask("GET", "/admin?state=ok", headers=headers)
    assert answer.headers["HX-Redirect"] == "/login?next=%2Fadmin%3Fstate%3Dok"


@pytest.mark.parametrize(("state", "shown"), [("", 1), ("ok", 1), ("late", 0), ("attention", 0), ("x<y", 1)])
def test_filters_are_links(administration: Administration, state: str, shown: int) -> None:
    page = administration.get(f"/admin?state={state}")
    assert len(page.cssselect("tbody tr")) == shown
    for link in page.cssselect(".filter a"):
        assert administration.status(link.get("href")) == 200


def test_files_have_the_rows_of_the_filter(administration: Administration) -> None:
    browser = administration.browser()
    answer = browser.get("/admin/sources.csv?state=ok")
    assert "attachment" in answer.headers["content-disposition"]
    (row,) = csv.DictReader(StringIO(answer.text))
    assert (row["source"], row["new"], row["documents"]) == ("site", "3", "3")
    assert browser.get("/admin/sources.csv?state=late").text == ""
    assert browser.get("/admin/sources.json?state=late").json() == {"sources": []}


def test_no_cell_of_a_csv_file_is_a_formula() -> None:
    dangers = ["=1+1", "+1", "-2+3", "@SUM(1)", "\t=1", "\r=1", " =1", "＝1", "\n@x"]
    written = "".join(csv_lines([{"title": one} for one in dangers]))
    cells = [row["title"] for row in csv.DictReader(StringIO(written, newline=""))]
    assert [one[0] for one in cells] == ["'"] * len(dangers)
    assert [one.replace("'", "") for one in cells] == dangers
    inside = {
        "=1;=2": "'=1;'=2",
        "http://a.example/x;=1+1": "http://a.example/x;'=1+1",
        "a\n=1+1": "a\n'=1+1",
        "a\t @x;;-2": "a\t '@x;;'-2",
        "a;b, =c": "a;b, =c",
        'a;"=1': "a;\"'=1",
    }
    assert [csv_text(one) for one in inside] == list(inside.values()), "where a comma divides no cells"
    assert "".join(csv_lines([{"number": -5, "text": 'a "b", c\nd', "none": None}])) == (
        'number,text,none\r\n-5,"a ""b"", c\nd",\r\n'
    )


def test_a_page_of_rows_has_a_next_one(workspace: InProcessWorkspace, tmp_path: Path) -> None:
    names = [f"s{number:03}" for number in range(230)]
    workspace.write({"sources": {name: {"start_urls": [f"https://{name}.example/"]} for name in names}})
    administration = Administration(workspace)
    page = administration.get("/admin")
    assert len(page.cssselect("tbody tr")) == 200
    following = administration.get(page.cssselect(".pages a[rel=next]")[0].get("href"))
    assert len(following.cssselect("tbody tr")) == 30
    assert json.loads(administration.browser().get("/admin/sources.json").text)["sources"][229]


def test_links_have_the_prefix_of_a_proxy(administration: Administration) -> None:
    page = administration.ask("/search/admin", root="/search").text
    assert 'href="/search/admin/sources/site"' in page
    assert 'href="/admin' not in page


def test_a_cell_is_made_in_one_pass() -> None:
    """A text of blanks alone, which a site may send, took time by the square of its length."""
    text = "a" + "\n" * 500_000 + "b"
    assert csv_text(text) == text
