"""Definitions in the administration: what if, saving, two who edit the same, undo, and forged forms."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from lxml.html import HtmlElement, document_fromstring
from service.pages.admin.conftest import Administration, led_to, texts
from service.pages.test_page_attacks import QUOTES, SCRIPT, assert_harmless
from support.fast import fast_xml
from support.in_process import InProcessWorkspace

from ultracrawl.service.access.requester import Role
from ultracrawl.service.pages.admin.definitions import suggestions_page
from ultracrawl.settings.locations import with_location
from ultracrawl.sources import Project, usable_project
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.project_stores import source_notes
from ultracrawl.stores.source_notes.traps import note_traps

PAGE = "/admin/sources/site/definition"


class Definition:
    """The form of the page of a definition."""

    def __init__(self, administration: Administration) -> None:
        self.administration = administration
        self.file = administration.workspace.directory / "ultracrawl.yaml"
        page = administration.get(PAGE)
        self.lines = page.cssselect("textarea")[0].text.removeprefix("\n")
        self.revision = page.cssselect("[name=revision]")[0].get("value")

    @property
    def text(self) -> str:
        return self.file.read_text()

    def send(self, old: str, new: str, path: str = PAGE, role: Role | None = Role.ADMINISTRATOR) -> Any:
        """Send the lines as a browser does, which ends them by CR and LF."""
        assert old in self.lines
        lines = self.lines.replace(old, new).replace("\n", "\r\n")
        return self.administration.send(path, role, lines=lines, revision=self.revision)


@pytest.fixture
def definition(administration: Administration) -> Definition:
    return Definition(administration)


def test_what_is_suggested_can_be_checked(
    administration: Administration, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    suggested = "/admin/sources/site/suggestions"
    assert administration.get(suggested).cssselect("textarea") == []
    bounded = [f"{url}/cal?month=*", [100, 100, 100], list(range(10)), 1.0, 100, []]
    note_traps(source_notes(administration.project, "site"), [bounded])
    page = administration.get(suggested)
    (form,) = page.cssselect("form[action$=what-if]")
    assert form.get("action") == f"{PAGE}/what-if"
    fields = {name: form.cssselect(f"[name={name}]")[0] for name in ("lines", "revision")}
    lines, revision = fields["lines"].text.removeprefix("\n"), fields["revision"].get("value")
    asked = asked_page(
        administration.send(form.get("action"), Role.ADMINISTRATOR, lines=lines, revision=revision)
    )
    assert any("month" in line for line in texts(asked, ".difference .added code"))
    assert asked.cssselect("[formaction]"), "it can be saved"
    assert administration.get("/admin/sources/site").cssselect(f"a[href='{suggested}']")
    assert administration.status(suggested, Role.EDITOR) == 403
    monkeypatch.setattr(suggestions_page, "MOST_URLS", 0)
    assert texts(administration.get(suggested), ".nothing code") == ["ultracrawl suggest site"]


class ForeignAdministration(Administration):
    """The administration of a project whose definitions are the file of another crawler."""

    @property
    def project(self) -> Project:
        path = self.workspace.directory / "collection.xml"
        return with_location(usable_project(read_definitions(path)), path)


def test_what_is_suggested_for_the_file_of_another_crawler_is_written_by_hand(
    workspace: InProcessWorkspace, url: str
) -> None:
    options = {"delay": 0.0, "use_sitemaps": False, "start_uris": (f"{url}/",)}
    (workspace.directory / "collection.xml").write_text(fast_xml(options))
    assert workspace.command("crawl", "-c", "collection.xml").code == 0
    (workspace.directory / "ultracrawl.yaml").write_text("sources: {}")
    administration = ForeignAdministration(workspace)
    (name,) = administration.project.sources
    suggested = f"/admin/sources/{name}/suggestions"
    assert not administration.get(suggested).cssselect(".by-hand"), "nothing to write"
    bounded = [f"{url}/cal?month=*", [100, 100, 100], list(range(10)), 1.0, 100, []]
    note_traps(source_notes(administration.project, name), [bounded])
    page = administration.get(suggested)
    assert texts(page, ".findings code"), "the lines"
    assert texts(page, ".by-hand code") == [
        "collection.xml",
        "ultracrawl convert collection.xml -o ultracrawl.yaml",
    ]
    assert not page.cssselect("textarea, button.main")


def test_a_folder_is_excluded_after_a_look_at_what_it_drops(definition: Definition, url: str) -> None:
    asked = definition.send("    type: web", "    type: web\n    exclude: [/heron]", f"{PAGE}/what-if")
    page = asked_page(asked)
    assert texts(page, ".difference .added code") == ["exclude: [/heron]"]
    assert [one.get("href").rpartition("=")[2] for one in page.cssselect(".documents a")]
    assert texts(page, ".documents .address") == [f"{url}/heron"]
    (save,) = page.cssselect("[formaction]")
    assert save.get("formaction") == PAGE
    assert "exclude" not in definition.text
    answer = definition.send("    type: web", "    type: web\n    exclude: [/heron]")
    assert (answer.status_code, led_to(answer)) == (303, PAGE)
    assert definition.administration.project.sources["site"].exclude == ("/heron",)
    listed = definition.administration.get("/admin/definitions")
    assert "user:administrator" in " ".join(texts(listed, "tbody"))


def asked_page(answer: Any, status: int = 200) -> HtmlElement:
    assert answer.status_code == status, answer.text
    return document_fromstring(answer.text)


def test_the_page_is_there_before_anything_was_changed(definition: Definition) -> None:
    page = definition.administration.get(PAGE)
    assert not page.cssselect("[formaction]"), "nothing to save"
    assert definition.lines in definition.text
    assert page.cssselect(f"a[href='{PAGE}']") == []
    assert definition.administration.get("/admin/sources/site").cssselect(f"a[href='{PAGE}']")


def test_a_mistake_stands_at_its_line_and_nothing_is_saved(definition: Definition) -> None:
    before = definition.text
    page = asked_page(definition.send("    type: web", "    type: web\n    depht: 3", f"{PAGE}/what-if"))
    (row,) = page.cssselect(".difference li:has(.mistake)")
    assert "depht: 3" in row.cssselect("code")[0].text
    assert not page.cssselect("[formaction]")
    page = asked_page(definition.send("    type: web", "    type: web\n    depht: 3"), 400)
    assert "depht: 3" in page.cssselect("textarea")[0].text, "nothing is lost"
    assert definition.text == before


def test_the_later_of_two_tabs_is_refused_and_loses_nothing(definition: Definition) -> None:
    assert definition.send("interval: 1 h", "interval: 2 h").status_code == 303
    page = asked_page(definition.send("    type: web", "    type: web\n    depth: 4"), 409)
    assert "user:administrator" in " ".join(texts(page, "[role=alert]"))
    assert "depth: 4" in page.cssselect("textarea")[0].text
    removed = texts(page, ".difference .removed code")
    assert removed == ["interval: 2 h"], "what the other has saved"
    assert "interval: 2 h" in definition.text
    revision = page.cssselect("[name=revision]")[0].get("value")
    lines = page.cssselect("textarea")[0].text.removeprefix("\n")
    saved = definition.administration.send(PAGE, lines=lines, revision=revision)
    assert saved.status_code == 303
    assert "depth: 4" in definition.text


def test_a_change_is_undone_by_one_press(definition: Definition) -> None:
    before = definition.text
    definition.send("interval: 1 h", "interval: 2 h")
    page = definition.administration.get(PAGE)
    (form,) = [one for one in page.cssselect("form") if one.get("action") == f"{PAGE}/undo"]
    revision = form.cssselect("[name=revision]")[0].get("value")
    answer = definition.administration.send(f"{PAGE}/undo", revision=revision)
    assert (answer.status_code, definition.text) == (303, before)
    assert definition.administration.send(f"{PAGE}/undo", revision=revision).status_code == 409
    former = definition.administration.get(f"{PAGE}?version=2")
    assert "interval: 2 h" in former.cssselect("textarea")[0].text
    assert definition.administration.status(f"{PAGE}?version=99") == 404


@pytest.mark.parametrize(
    "line", ["class: evil.Spider", "settings: {X: 1}", "start_url_files: [/etc/passwd]", "public: true"]
)
def test_a_forged_form_changes_nothing_that_is_read_only(definition: Definition, line: str) -> None:
    before = definition.text
    page = asked_page(definition.send("    type: web", f"    type: web\n    {line}"), 400)
    assert line.partition(":")[0] in " ".join(texts(page, ".findings"))
    assert definition.text == before
    asked = asked_page(definition.send("    type: web", f"    type: web\n    {line}", f"{PAGE}/what-if"))
    assert not asked.cssselect("[formaction]")
    assert "root:" not in asked.text_content()


def test_rights_and_tokens(definition: Definition) -> None:
    before = definition.text
    changed = {
        "lines": definition.lines.replace("interval: 1 h", "interval: 2 h"),
        "revision": definition.revision,
    }
    for role, status in ((None, 303), (Role.READER, 403), (Role.EDITOR, 403)):
        for path in (PAGE, f"{PAGE}/what-if", f"{PAGE}/undo"):
            assert definition.administration.send(path, role, **changed).status_code == status
        for path in (PAGE, "/admin/definitions"):
            assert definition.administration.status(path, role) == status
        if role is not None:
            assert not definition.administration.get("/admin", role).cssselect("a[href='/admin/definitions']")
    browser = definition.administration.browser()
    for path in (PAGE, f"{PAGE}/what-if", f"{PAGE}/undo"):
        assert browser.ask("POST", path, data=changed).status_code == 403
        forged = {**changed, "csrf_token": "x"}
        assert browser.ask("POST", path, data=forged).status_code == 403
    foreign = {**changed, "csrf_token": browser.session_token}
    assert (
        browser.ask("POST", PAGE, data=foreign, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    )
    assert browser.ask("PUT", "/api/v1/sources/site/definition", json=changed).status_code == 403
    assert definition.text == before


@pytest.mark.parametrize(
    "text", [SCRIPT, QUOTES, "</textarea><script>alert(1)</script>", "{{ 7 * 7 }}", "</code></li>", "\u202e"]
)
def test_what_lines_say_is_text(definition: Definition, text: str) -> None:
    for line in (f"# {text}", f"'{text.replace(chr(39), '')}': 1", f"only: ['{text.replace(chr(39), '')}']"):
        for path in (f"{PAGE}/what-if", PAGE):
            answer = definition.send("    type: web", f"    type: web\n    {line}", path)
            if answer.status_code != 303:
                assert_harmless(asked_page(answer, answer.status_code))
            else:
                assert_harmless(definition.administration.get(PAGE))
                definition = Definition(definition.administration)


def test_a_file_in_git_shows_the_text_to_copy(definition: Definition) -> None:
    subprocess.run(["git", "init", "-q", definition.file.parent], check=True)
    before = definition.text
    page = asked_page(definition.send("interval: 1 h", "interval: 2 h", f"{PAGE}/what-if"))
    assert page.cssselect(".notice")
    assert "interval: 2 h" in page.cssselect("textarea")[0].text
    assert not page.cssselect("[formaction]")
    assert asked_page(definition.send("interval: 1 h", "interval: 2 h"), 409).cssselect("textarea")
    assert definition.text == before


def test_a_mistaken_source_is_mended_on_its_page(
    workspace: InProcessWorkspace, administration: Administration
) -> None:
    file = workspace.directory / "ultracrawl.yaml"
    file.write_text(file.read_text().replace("    refresh:", "    depht: 3\n    refresh:"))
    definition = Definition(administration)
    assert administration.project.invalid_sources
    assert asked_page(definition.send("depht: 3", "depth: 3", f"{PAGE}/what-if")).cssselect("[formaction]")
    assert definition.send("depht: 3", "depth: 3").status_code == 303
    assert administration.project.sources["site"].depth == 3


def test_schedules_are_changed_after_a_look_at_the_next_launches(
    workspace: InProcessWorkspace, administration: Administration
) -> None:
    file = workspace.directory / "ultracrawl.yaml"
    text = file.read_text().replace("    refresh:\n      interval: 1 h\n", "")
    file.write_text(text + "schedules:\n  nightly: {sources: [site], every: 6 h}\n")
    path = "/admin/definitions/schedules"
    assert administration.get("/admin/definitions").cssselect(f"a[href='{path}']")
    page = administration.get(path)
    revision = page.cssselect("[name=revision]")[0].get("value")
    lines = page.cssselect("textarea")[0].text.removeprefix("\n").replace("6 h", "7 h")
    asked = asked_page(administration.send(f"{path}/what-if", lines=lines))
    assert texts(asked, ".facts dt") == ["nightly"]
    answer = administration.send(path, lines=lines, revision=revision)
    assert (answer.status_code, led_to(answer)) == (303, path)
    assert "every: 7 h" in file.read_text()
    present = administration.get(path).cssselect("form[action$='/undo'] [name=revision]")[0].get("value")
    assert administration.send(f"{path}/undo", revision=present).status_code == 303
    assert "every: 6 h" in file.read_text()
    for role, status in ((None, 303), (Role.EDITOR, 403)):
        assert administration.status(path, role) == status
        assert administration.send(path, role, lines=lines, revision=revision).status_code == status
    forged = lines.replace("every: 7 h", "every: 7 h, profile: evil")
    assert administration.send(path, lines=forged, revision=revision).status_code in {400, 409}
    assert "evil" not in file.read_text()


def test_lines_are_not_lost_if_the_disk_is_full_or_the_state_is_damaged(
    definition: Definition, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = definition.text

    def fail(*_args: object, **_options: object) -> None:
        raise OSError(28, "no space left on device")

    with monkeypatch.context() as full:
        full.setattr("os.fsync", fail)
        page = asked_page(definition.send("interval: 1 h", "interval: 2 h"), 503)
    assert "interval: 2 h" in page.cssselect("textarea")[0].text
    assert definition.text == before
    (definition.administration.project.state.path / "site.sqlite").write_bytes(b"no database" * 100)
    assert definition.send("interval: 1 h", "interval: 2 h").status_code == 303


def test_a_hint_that_another_source_gets_by_a_change_is_shown(administration: Administration) -> None:
    file = administration.workspace.directory / "ultracrawl.yaml"
    file.write_text(file.read_text() + "schedules:\n  nightly: {sources: [], cron: 0 3 * * *}\n")
    path = "/admin/definitions/schedules"
    lines = administration.get(path).cssselect("textarea")[0].text.removeprefix("\n")
    page = asked_page(
        administration.send(f"{path}/what-if", lines=lines.replace("sources: []", "sources: [site]"))
    )
    assert not page.cssselect(".findings .mistake")
    assert any("interval" in one.text_content() for one in page.cssselect(".findings .hint"))
    assert page.cssselect("[formaction]"), "the schedule decides, so it may be saved"


def test_a_source_without_a_file_has_no_page(administration: Administration) -> None:
    assert administration.status("/admin/sources/none/definition") == 404
    assert administration.status(f"{PAGE}?language=de") == 200
