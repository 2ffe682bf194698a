"""The definition of a source over the API: looked at, asked about, saved, taken back; and what is refused."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from service.api.conftest import Api
from service.api.test_audit import rows_of
from support.in_process import InProcessWorkspace

from ultracrawl.service.access.requester import Role
from ultracrawl.service.api.app import ApiOptions
from ultracrawl.sources.editing.excerpt import HIDDEN

PATH = "/api/v1/sources/site/definition"
HEAD = "# the birds\nindex: var/index   # one\n\nsources:\n"
END = "\n  # the second\n  other: {start_urls: [https://other.example/], takes_links: true}   # since 2019\n"


class Definition:
    """A definition file that a person wrote, and the API of its project."""

    def __init__(self, api: Api, url: str) -> None:
        self.api = api
        self.file = api.workspace.directory / "ultracrawl.yaml"
        self.own = (
            f"  site:   # birds\n    start_urls: ['{url}/']\n    boundary: {{networks: [127.0.0.0/8]}}\n"
            "    politeness: {delay: 0}   # fast\n    refresh: {interval: 1 h}\n"
            "    post_payload: {'http://x.example/': s3cret}"
        )
        self.file.write_text(HEAD + self.own + END)

    @property
    def text(self) -> str:
        return self.file.read_bytes().decode()

    def shown(self) -> dict[str, Any]:
        found: dict[str, Any] = self.api.get("/sources/site/definition")
        return found

    def what_if(self, old: str, new: str, role: Role = Role.ADMINISTRATOR) -> Any:
        lines = self.shown()["lines"]
        assert old in lines
        body = {"lines": lines.replace(old, new)}
        return self.api.ask("POST", f"{PATH}/what-if", json=body, role=role)

    def save(self, old: str, new: str, role: Role | None = Role.ADMINISTRATOR, revision: str = "") -> Any:
        shown = self.shown()
        body = {"lines": shown["lines"].replace(old, new), "revision": revision or shown["revision"]}
        return self.api.ask("PUT", PATH, json=body, role=role)


@pytest.fixture
def definition(api: Api, url: str) -> Definition:
    return Definition(api, url)


def test_the_lines_of_a_source_are_shown_without_secrets(definition: Definition) -> None:
    found = definition.shown()
    assert (found["file"], found["first_line"], found["read_only"]) == ("ultracrawl.yaml", 5, None)
    assert found["lines"] == definition.own.replace("s3cret", HIDDEN)
    assert "politeness.delay" in found["editable"]
    assert "boundary.networks" not in found["editable"]


def test_a_change_is_looked_at_before_it_is_saved(definition: Definition, url: str) -> None:
    before = definition.text
    answer = definition.what_if("delay: 0}   # fast", "delay: 0}\n    exclude: [/heron]").json()
    assert (answer["can_be_saved"], answer["changed"], answer["refused"]) == (True, ["exclude"], [])
    difference = answer["difference"]
    assert (difference["leaving"], difference["leaving_documents"], difference["returning"]) == (1, 1, 0)
    assert [one["url"] for one in difference["urls"]] == [f"{url}/heron"]
    assert difference["forecast"]["rescan"] is True
    assert definition.text == before
    assert definition.api.project.sources["site"].exclude == ()


def test_mistakes_are_reported_with_their_lines(definition: Definition) -> None:
    answer = definition.what_if("    refresh:", "    depht: 3\n    refresh:").json()
    assert not answer["can_be_saved"]
    (finding,) = [one for one in answer["findings"] if one["fatal"]]
    assert (finding["line"], finding["key"]) == (9, "sources.site.depht")
    assert answer["difference"] is None
    assert definition.save("    refresh:", "    depht: 3\n    refresh:").status_code == 400
    broken = definition.what_if("{interval: 1 h}", "{interval: 1 h").json()
    assert not broken["can_be_saved"]
    assert broken["findings"]


def test_what_is_saved_is_in_force_and_every_other_byte_stays(definition: Definition) -> None:
    definition.file.write_bytes(b"\xef\xbb\xbf" + definition.text.replace("\n", "\r\n").encode())
    definition.file.chmod(0o640)
    before, inode = definition.text, definition.file.stat().st_ino
    answer = definition.save("delay: 0}", "delay: 7}")
    assert answer.status_code == 200, answer.text
    assert answer.json() == {
        "source": "site", "version": 2, "revision": definition.shown()["revision"], "in_force": True
    }  # fmt: skip
    assert definition.text == before.replace("delay: 0}", "delay: 7}")
    assert definition.api.project.sources["site"].politeness.delay == 7
    found = definition.file.stat()
    assert (found.st_mode & 0o777, found.st_ino != inode) == (0o640, True)
    assert [one.name for one in definition.file.parent.glob("ultracrawl.yaml*")] == ["ultracrawl.yaml"]


def test_owner_and_symbolic_link_stay(definition: Definition, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "mine.yaml"
    target.parent.mkdir()
    definition.file.rename(target)
    definition.file.symlink_to(target)
    if os.geteuid() == 0:
        os.chown(target, 1234, 4321)
    owner = target.stat().st_uid, target.stat().st_gid
    assert definition.save("delay: 0}", "delay: 7}").status_code == 200
    assert definition.file.is_symlink()
    assert (target.stat().st_uid, target.stat().st_gid) == owner
    assert "delay: 7}" in target.read_text()


def test_a_save_that_fails_leaves_the_file(definition: Definition, monkeypatch: pytest.MonkeyPatch) -> None:
    before = definition.text

    def fail(*_args: object, **_options: object) -> None:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr("os.fsync", fail)
    assert definition.save("delay: 0}", "delay: 7}").status_code == 503
    assert definition.text == before
    assert [one.name for one in definition.file.parent.glob("ultracrawl.yaml*")] == ["ultracrawl.yaml"]


def test_versions_tell_who_saved_what_and_a_change_is_taken_back(definition: Definition) -> None:
    before = definition.text
    definition.save("delay: 0}", "delay: 7}")
    definition.save("delay: 7}", "delay: 8}")
    listed = definition.api.get("/sources/site/definition/versions")["versions"]
    assert [(one["number"], one["who"]) for one in listed] == [
        (3, "token:administrator"), (2, "token:administrator"), (1, None)
    ]  # fmt: skip
    second = definition.api.get("/sources/site/definition/versions/2")
    assert "delay: 7}" in second["lines"]
    assert "s3cret" not in second["lines"]
    undone = definition.api.ask("POST", f"{PATH}/undo", json={"revision": definition.shown()["revision"]})
    assert (undone.status_code, undone.json()["version"]) == (200, 4)
    assert definition.text == before.replace("delay: 0}", "delay: 7}")
    stale = definition.api.ask("POST", f"{PATH}/undo", json={"revision": second["revision"] + "x"})
    assert stale.status_code == 409
    folder = definition.api.project.state.path / "service" / "definitions"
    assert all(one.stat().st_mode & 0o77 == 0 for one in folder.iterdir())
    assert not any(b"s3cret" in one.read_bytes() for one in folder.iterdir())


def test_what_was_changed_outside_is_a_version_of_nobody(definition: Definition) -> None:
    definition.save("delay: 0}", "delay: 7}")
    definition.file.write_text(definition.text.replace("delay: 7}", "delay: 6}"))
    assert (
        definition.api.ask(
            "POST", f"{PATH}/undo", json={"revision": definition.shown()["revision"]}
        ).status_code
        == 409
    )
    assert definition.save("delay: 6}", "delay: 5}").status_code == 200
    listed = definition.api.get("/sources/site/definition/versions")["versions"]
    assert [one["who"] for one in listed] == ["token:administrator", None, "token:administrator", None]


def test_the_later_of_two_who_edit_the_same_is_refused(definition: Definition) -> None:
    seen = definition.shown()["revision"]
    assert definition.save("delay: 0}", "delay: 7}").status_code == 200
    later = definition.save("interval: 1 h", "interval: 2 h", revision=seen)
    assert later.status_code == 409
    assert "token:administrator" in later.json()["detail"]
    assert "interval: 1 h" in definition.text
    assert definition.save("interval: 1 h", "interval: 2 h").status_code == 200
    assert "delay: 7}" in definition.text


def test_of_many_who_save_at_once_one_wins_and_all_others_are_refused(definition: Definition) -> None:
    shown = definition.shown()
    bodies = [
        {"lines": shown["lines"].replace("delay: 0}", f"delay: {number}}}"), "revision": shown["revision"]}
        for number in range(1, 9)
    ]
    requests = [("PUT", PATH, {"json": body}) for body in bodies]
    answers = definition.api.ask_all(requests, role=Role.ADMINISTRATOR)
    assert sorted(one.status_code for one in answers) == [200] + [409] * 7
    winner = next(number for number, one in enumerate(answers, 1) if one.status_code == 200)
    assert f"delay: {winner}}}" in definition.text
    assert len(definition.api.get("/sources/site/definition/versions")["versions"]) == 2


def test_sources_of_one_file_are_saved_one_after_the_other(definition: Definition) -> None:
    changes = {
        "site": ("delay: 0}", "delay: 3}"),
        "other": ("takes_links: true", "takes_links: true, depth: 4"),
    }
    requests: list[tuple[str, str, dict[str, Any]]] = []
    for name, (old, new) in changes.items():
        shown = definition.api.get(f"/sources/{name}/definition")
        body = {"lines": shown["lines"].replace(old, new), "revision": shown["revision"]}
        requests.append(("PUT", f"/api/v1/sources/{name}/definition", {"json": body}))
    assert [one.status_code for one in definition.api.ask_all(requests, role=Role.ADMINISTRATOR)] == [
        200,
        200,
    ]
    assert "delay: 3}" in definition.text
    assert "depth: 4" in definition.text


FORGED = [
    "class: evil.Spider",
    "type: table",
    "settings: {X: y}",
    "boundary: {guard: names}",
    "networks: [10.0.0.0/8]",
    "proxy: {servers: ['http://evil.example:3128']}",
    "authentication: {a: {url: 'https://evil.example/', user: u, password: 'file:/etc/shadow'}}",
    "logins: {a: {page: 'https://evil.example/', fields: {a: '${HOME}'}}}",
    "start_url_files: [/etc/passwd]",
    "parameter_file: /etc/passwd",
    "filters: {file: /etc/passwd}",
    "completion: {command: /bin/sh}",
    "javascript: {use: true, browser: /bin/sh}",
    "features: {visit-log: {file: /tmp/x}}",
    "storage: {keep: true}",
    "only: [{file: /etc/passwd}]",
    "public: confirmed",
    "acl: [everybody]",
    "robots: {obey: false}",
    "cookies: {enabled: true, across_ports: true}",
    "user_agent: x",
    "<<: {class: evil.Spider}",
]


@pytest.mark.parametrize("line", FORGED)
def test_what_is_read_only_is_not_changed_whoever_asks(definition: Definition, line: str) -> None:
    before = definition.text
    new = f"    {line}\n    refresh:"
    if line.startswith("boundary"):
        answer = definition.save("boundary: {", "boundary: {guard: names, ")
        asked = definition.what_if("boundary: {", "boundary: {guard: names, ").json()
    elif line.startswith("networks"):
        answer = definition.save("[127.0.0.0/8]", "[10.0.0.0/8]")
        asked = definition.what_if("[127.0.0.0/8]", "[10.0.0.0/8]").json()
    else:
        answer = definition.save("    refresh:", new)
        asked = definition.what_if("    refresh:", new).json()
    assert answer.status_code == 400, answer.text
    assert asked["refused"]
    assert not asked["can_be_saved"]
    assert "root:" not in str(asked)
    assert definition.text == before
    assert definition.api.get("/sources/site/definition/versions")["versions"] == []


def test_how_documents_are_read_can_be_changed(definition: Definition) -> None:
    options = {
        "types": "[text/html, mail]",
        "follow_only_types": "[text/plain]",
        "detect_types": "true",
        "cut_off": "2 MB",
        "truncate": "false",
        "default_charset": "windows-1252",
        "default_language": "de",
        "description_fallback": "true",
        "crawling_mode": "examine",
        "cookies": "{enabled: true}",
    }
    lines = "".join(f"    {name}: {value}\n" for name, value in options.items())
    asked = definition.what_if("    refresh:", f"{lines}    refresh:").json()
    assert (asked["can_be_saved"], asked["refused"]) == (True, [])
    assert asked["changed"] == [*(name for name in options if name != "cookies"), "cookies.enabled"]
    answer = definition.save("    refresh:", f"{lines}    refresh:")
    assert answer.status_code == 200, answer.text
    source = definition.api.project.sources["site"]
    assert (source.default_charset, source.cookies.enabled) == ("windows-1252", True)
    assert "types" in definition.shown()["editable"]


@pytest.mark.parametrize(
    ("start", "is_refused"),
    [
        ("http://127.0.0.2:9200/", False),
        ("http://10.0.0.5/", True),
        ("http://169.254.169.254/latest/", True),
        ("http://[::1]:9200/", True),
        ("http://no-such-host.invalid/", True),
        ("http://0x0a000005/", True),
    ],
)
def test_a_start_url_does_not_open_other_networks(
    definition: Definition, start: str, is_refused: bool
) -> None:
    answer = definition.what_if("start_urls: [", f"start_urls: ['{start}', ").json()
    assert bool(answer["problems"]) is is_refused, answer
    saved = definition.save("start_urls: [", f"start_urls: ['{start}', ")
    assert saved.status_code == (400 if is_refused else 200)


def test_passwords_are_not_sent_to_sites_that_a_browser_adds(definition: Definition) -> None:
    login = "    authentication: {a: {realm: Staff, user: u, password: '${PW}'}}\n"
    definition.file.write_text(definition.text.replace("    refresh:", f"{login}    refresh:"))
    answer = definition.what_if("start_urls: [", "start_urls: ['http://127.0.0.2:81/', ").json()
    assert answer["problems"]
    assert definition.what_if("delay: 0}", "delay: 3}").json()["can_be_saved"]


def test_hosts_of_the_boundary_do_not_become_private_ones(definition: Definition) -> None:
    text = definition.text.replace("networks: [127.0.0.0/8]", "networks: [127.0.0.0/8], intranet_hosts: true")
    definition.file.write_text(text)
    answer = definition.what_if(
        "intranet_hosts: true", "intranet_hosts: true, domains: {include: [db.internal]}"
    ).json()
    assert answer["problems"]


@pytest.mark.parametrize("role", [Role.READER, Role.EDITOR, None])
def test_only_administrators_see_and_change_definitions(definition: Definition, role: Role | None) -> None:
    before, shown = definition.text, definition.shown()
    status = 401 if role is None else 403
    body = {"lines": shown["lines"].replace("delay: 0}", "delay: 9}"), "revision": shown["revision"]}
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", PATH, {}),
        ("GET", f"{PATH}/versions", {}),
        ("GET", f"{PATH}/versions/1", {}),
        ("POST", f"{PATH}/what-if", {"json": {"lines": body["lines"]}}),
        ("POST", f"{PATH}/undo", {"json": {"revision": body["revision"]}}),
        ("PUT", PATH, {"json": body}),
    ]
    for method, path, options in requests:
        answer = definition.api.ask(method, path, role=role, **options)
        assert answer.status_code == status, path
    assert definition.text == before


def test_the_audit_log_has_who_and_what(definition: Definition) -> None:
    begun = len(rows_of(definition.api.project))
    definition.what_if("delay: 0}", "delay: 7}")
    definition.save("delay: 0}", "delay: 7}")
    definition.save("    refresh:", "    class: evil.Spider\n    refresh:")
    definition.save("delay: 7}", "delay: 9}", Role.EDITOR)
    rows = rows_of(definition.api.project)[begun:]
    assert [(row["who"], row["action"], row["targets"], row["result"], row["status"]) for row in rows] == [
        ("token:administrator", "save-definition", ["site"], "done", 200),
        ("token:administrator", "save-definition", ["site"], "refused", 400),
        ("token:editor", "save-definition", ["site"], "refused", 403),
    ]
    assert (rows[0]["options"], rows[0]["version"]) == ("politeness.delay", 2)


def in_git(definition: Definition, _workspace: InProcessWorkspace) -> Api:
    subprocess.run(["git", "init", "-q", definition.file.parent], check=True)
    return definition.api


def without_rights(definition: Definition, _workspace: InProcessWorkspace) -> Api:
    definition.file.chmod(0o400)  # which does not hinder root
    return definition.api


def switched_off(definition: Definition, workspace: InProcessWorkspace) -> Api:
    for name in (one.value for one in Role):
        definition.api.store.revoke_token(name)
    return Api(workspace, ApiOptions(read_only_definitions=True))


@pytest.mark.parametrize("manage", [in_git, without_rights, switched_off])
def test_what_is_managed_elsewhere_is_looked_at_and_not_saved(
    definition: Definition,
    workspace: InProcessWorkspace,
    monkeypatch: pytest.MonkeyPatch,
    manage: Callable[[Definition, InProcessWorkspace], Api],
) -> None:
    if manage is without_rights:
        monkeypatch.setattr(os, "access", lambda _path, mode: not mode & os.W_OK)
    definition.api = manage(definition, workspace)
    before = definition.text
    assert definition.shown()["read_only"]
    assert definition.what_if("delay: 0}", "delay: 7}").json()["can_be_saved"]
    assert definition.save("delay: 0}", "delay: 7}").status_code == 409
    assert definition.text == before


def test_other_definitions_are_not_edited_here(definition: Definition) -> None:
    assert definition.api.ask("GET", "/api/v1/sources/none/definition").status_code == 404
    definition.file.write_text(
        definition.text.replace("  other: {", "  <<: {more: {start_urls: https://more.example/}}\n  other: {")
    )
    assert definition.api.ask("GET", "/api/v1/sources/more/definition").status_code == 404


def test_a_mistake_elsewhere_is_kept_and_hinders_no_one(definition: Definition) -> None:
    folder = definition.file.parent / "sources"
    folder.mkdir()
    (folder / "third.yaml").write_text("start_urls: https://third.example/\ndepth: 3\n")
    third = definition.api.get("/sources/third/definition")
    body = {"lines": third["lines"].replace("depth: 3", "depth: 4"), "revision": third["revision"]}
    assert definition.api.ask("PUT", "/api/v1/sources/third/definition", json=body).status_code == 200
    assert (folder / "third.yaml").read_text() == "start_urls: https://third.example/\ndepth: 4\n"


SCHEDULES = "/api/v1/definitions/schedules"
NIGHTLY = """
schedules:
  nightly: {sources: [other], cron: 0 3 * * *}   # of the night
  far: {sources: [site], cron: 0 4 * * *, profile: north}
profiles: {north: {scrapyd: 'http://north.example:6800', project: p}}
"""


def add_schedules(definition: Definition) -> None:
    definition.file.write_text(definition.text.replace("    refresh: {interval: 1 h}\n", "") + NIGHTLY)


def save_schedules(definition: Definition, old: str, new: str, role: Role = Role.ADMINISTRATOR) -> Any:
    shown = definition.api.get("/definitions/schedules")
    body = {"lines": shown["lines"].replace(old, new), "revision": shown["revision"]}
    return definition.api.ask("PUT", SCHEDULES, json=body, role=role)


def test_schedules_are_changed_looked_at_and_taken_back(definition: Definition) -> None:
    add_schedules(definition)
    before, shown = definition.text, definition.api.get("/definitions/schedules")
    assert shown["source"] is None
    assert "schedules.*.cron" in shown["editable"]
    assert "schedules.*.profile" not in shown["editable"]
    lines = shown["lines"].replace("0 3", "0 5")
    asked = definition.api.ask("POST", f"{SCHEDULES}/what-if", json={"lines": lines}).json()
    assert asked["can_be_saved"]
    assert asked["launches"]["nightly"][11:16] == "05:00"
    assert save_schedules(definition, "0 3", "0 5").status_code == 200
    assert definition.text == before.replace("0 3", "0 5")
    assert definition.api.project.schedules["nightly"].cron == ("0 5 * * *",)
    listed = definition.api.get("/definitions/schedules/versions")["versions"]
    assert [one["who"] for one in listed] == ["token:administrator", None]
    present = definition.api.get("/definitions/schedules")["revision"]
    assert definition.api.ask("POST", f"{SCHEDULES}/undo", json={"revision": present}).status_code == 200
    assert definition.text == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("profile: north", "profile: ''"),
        (", profile: north", ""),
        ("sources: [other], cron", "sources: [other], profile: north, cron"),
        ("sources: [site]", "sources: [site, other]"),
        ("sources: [site], ", ""),
        ("schedules:", "key_file: /etc/passwd\nschedules:"),
        ("0 3 * * *", "never"),
    ],
)
def test_schedules_move_no_source_to_another_machine(definition: Definition, old: str, new: str) -> None:
    add_schedules(definition)
    before = definition.text
    assert save_schedules(definition, old, new).status_code == 400
    assert definition.text == before


def test_schedules_are_for_administrators(definition: Definition) -> None:
    add_schedules(definition)
    assert definition.api.ask("GET", SCHEDULES, role=Role.EDITOR).status_code == 403
    assert save_schedules(definition, "0 3", "0 5", Role.EDITOR).status_code == 403


def test_the_openapi_document_has_the_routes(definition: Definition) -> None:
    paths = definition.api.get("/openapi.json")["paths"]
    assert {"get", "put"} <= paths["/api/v1/sources/{name}/definition"].keys()
    assert "post" in paths["/api/v1/sources/{name}/definition/what-if"]
