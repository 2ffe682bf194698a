"""A source that is added over the API: looked at, saved, taken back; and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from service.api.conftest import Api
from service.api.test_audit import rows_of

from ultracrawl.service.access.requester import Role

PUBLIC = "192.0.43.7"
NEW = "/api/v1/sources/docs/definition"


class Adding:
    """The API of a project to which sources are added."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.file = api.workspace.directory / "ultracrawl.yaml"

    def lines(self, url: str = f"http://{PUBLIC}/", more: str = "", name: str = "docs") -> str:
        return f"  {name}:\n    start_urls: ['{url}']" + (f"\n    {more}" if more else "")

    def what_if(self, lines: str, path: str = NEW, role: Role = Role.ADMINISTRATOR) -> Any:
        return self.api.ask("POST", f"{path}/what-if", json={"lines": lines}, role=role)

    def save(
        self, lines: str, path: str = NEW, role: Role | None = Role.ADMINISTRATOR, revision: str = ""
    ) -> Any:
        return self.api.ask("PUT", path, json={"lines": lines, "revision": revision}, role=role)


@pytest.fixture
def adding(api: Api) -> Adding:
    return Adding(api)


def test_a_source_is_looked_at_added_and_taken_back(adding: Adding) -> None:
    before = adding.file.read_text()
    assert adding.api.ask("GET", NEW).status_code == 404
    answer = adding.what_if(adding.lines()).json()
    assert (answer["can_be_saved"], answer["changed"], answer["refused"]) == (True, ["start_urls"], [])
    assert answer["difference"]["start_urls_added"] == [f"http://{PUBLIC}/"]
    assert adding.file.read_text() == before
    saved = adding.save(adding.lines())
    assert saved.status_code == 200, saved.text
    assert adding.api.project.sources["docs"].start_urls == (f"http://{PUBLIC}/",)
    listed = adding.api.get("/sources/docs/definition/versions")["versions"]
    assert [(one["number"], one["who"]) for one in listed] == [(2, "token:administrator"), (1, None)]
    assert rows_of(adding.api.project)[-1]["targets"] == ["docs"]
    undone = adding.api.ask("POST", f"{NEW}/undo", json={"revision": saved.json()["revision"]})
    assert undone.status_code == 200, undone.text
    assert adding.file.read_text() == before
    assert "docs" not in adding.api.project.known_sources
    assert adding.save(adding.lines()).status_code == 200, "and added again"


def test_of_two_who_add_a_source_of_one_name_the_later_is_refused(adding: Adding) -> None:
    assert adding.save(adding.lines()).status_code == 200
    before = adding.file.read_text()
    assert adding.save(adding.lines(f"http://{PUBLIC}/mine")).status_code == 409
    assert adding.file.read_text() == before


@pytest.mark.parametrize(
    "more",
    [
        "type: file",
        "class: evil.Spider",
        "settings: {X: 1}",
        "start_url_files: [/etc/passwd]",
        "public: true",
        "boundary: {networks: [10.0.0.0/8]}",
        "exclude: [{file: /etc/passwd}]",
        "authentication: {a: {user: u, password: p}}",
        "options: {x: 1}",
    ],
)
def test_a_new_source_has_only_what_a_browser_may_write(adding: Adding, more: str) -> None:
    before = adding.file.read_text()
    assert adding.save(adding.lines(more=more)).status_code == 400
    answer = adding.what_if(adding.lines(more=more)).json()
    assert answer["refused"]
    assert (answer["can_be_saved"], answer["difference"]) == (False, None)
    assert adding.file.read_text() == before


@pytest.mark.parametrize(
    "start",
    [
        "http://127.0.0.1/",
        "http://10.1.2.3/",
        "http://[::1]/",
        "http://localhost:8080/",
        "http://169.254.169.254/",
    ],
)
@pytest.mark.parametrize("networks", ["", "defaults: {boundary: {networks: [127.0.0.0/8, 10.0.0.0/8]}}\n"])
def test_a_new_source_reaches_no_private_network(adding: Adding, start: str, networks: str) -> None:
    adding.file.write_text(networks + adding.file.read_text())
    before = adding.file.read_text()
    assert adding.save(adding.lines(start)).status_code == 400
    assert adding.what_if(adding.lines(start)).json()["problems"]
    assert adding.file.read_text() == before


def test_a_new_source_gets_no_password_of_the_defaults(adding: Adding) -> None:
    head = "defaults: {authentication: {all: {realm: r, user: u, password: '${PW}'}}}\n"
    adding.file.write_text(head + adding.file.read_text())
    assert adding.save(adding.lines()).status_code == 400
    assert adding.what_if(adding.lines()).json()["problems"]


@pytest.mark.parametrize("name", ["..%2Fevil", ".schedules", "a b", "x" * 101, "docs%0A"])
def test_a_name_is_no_path(adding: Adding, name: str) -> None:
    before = adding.file.read_text()
    for lines in (adding.lines(), adding.lines(name=f"'{name}'")):
        assert adding.save(lines, f"/api/v1/sources/{name}/definition").status_code in {400, 404}
    folder = adding.api.project.state.path / "service"
    assert not [one for one in folder.rglob("*") if "evil" in one.name]
    assert adding.file.read_text() == before


def test_lines_of_another_name_or_of_the_project_are_refused(adding: Adding) -> None:
    before = adding.file.read_text()
    for lines in (
        adding.lines(name="other"),
        adding.lines() + "\n" + adding.lines(name="other"),
        adding.lines() + "\nindex: /tmp/elsewhere",
        "",
        "  docs:",
        "  docs: 3",
    ):
        assert adding.save(lines).status_code == 400, lines
    assert adding.file.read_text() == before


@pytest.mark.parametrize("role", [Role.READER, Role.EDITOR])
def test_only_administrators_add_sources(adding: Adding, role: Role) -> None:
    before = adding.file.read_text()
    assert adding.save(adding.lines(), role=role).status_code == 403
    assert adding.what_if(adding.lines(), role=role).status_code == 403
    assert adding.save(adding.lines(), role=None).status_code == 401
    assert adding.file.read_text() == before


def test_the_first_schedules_are_added_and_taken_back(adding: Adding) -> None:
    text = adding.file.read_text()
    path = "/api/v1/definitions/schedules"
    shown = adding.api.get("/definitions/schedules")
    assert (shown["lines"], shown["revision"]) == ("", "")
    lines = "schedules:\n  nightly: {sources: [site], every: 6 h}"
    answer = adding.what_if(lines, path).json()
    assert list(answer["launches"]) == ["nightly"]
    saved = adding.save(lines, path)
    assert saved.status_code == 200, saved.text
    assert adding.api.project.schedule_of("site") == "nightly"
    undone = adding.api.ask("POST", f"{path}/undo", json={"revision": saved.json()["revision"]})
    assert undone.status_code == 200, undone.text
    assert adding.file.read_text() == text
    forged = adding.save("schedules:\n  x: {sources: [site], every: 6 h, profile: evil}", path)
    assert forged.status_code == 400
    assert adding.file.read_text() == text
