"""What `lint` finds beside the options of a file: classes, names of settings, extras, the browser, start URLs."""

from __future__ import annotations

from typing import Any

import pytest
from support.project import ROOT, Workspace

START = "https://docs.example.com/"


def lint(workspace: Workspace, code: int, *words: str) -> list[tuple[int, str, bool]]:
    """Return line, key and weight of each finding."""
    ended = workspace.command("lint", "--json", *words)
    assert ended.code == code, ended.out
    return [(one["line"], one["key"], one["fatal"]) for one in ended.lines]


def define(workspace: Workspace, *sources: str, head: str = "") -> None:
    """Write sources, each in its own lines; the options of the first one begin in line 3."""
    blocks = [f"  s{number}:\n    start_urls: [{START}]\n{text}" for number, text in enumerate(sources)]
    (workspace.directory / "ultracrawl.yaml").write_text("sources:\n" + "".join(blocks) + head)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("nosuch.Klass", 2),
        ("collections.OrderedDict", 2),
        ("ultracrawl.spiders.Nothing", 2),
        ("ultracrawl.spiders.SourceSpider", 0),
    ],
)
def test_a_class_is_loaded(workspace: Workspace, name: str, code: int) -> None:
    define(workspace, f"    depth: 3\n    class: {name}\n")
    assert lint(workspace, code) == ([(5, "sources.s0.class", True)] if code else [])


@pytest.mark.parametrize(
    ("setting", "written"),
    [
        pytest.param("DOWNLOAD_DELY", "politeness: {delay: 2}", id="its option"),
        pytest.param("CONCURENT_REQUESTS", "`CONCURRENT_REQUESTS`", id="its name"),
        pytest.param("USER_AGENT", "user_agent: 2", id="without effect"),
    ],
)
def test_a_setting_that_does_nothing_is_a_hint(workspace: Workspace, setting: str, written: str) -> None:
    define(workspace, f"    settings:\n      LOG_LEVEL: INFO\n      {setting}: 2\n")
    assert lint(workspace, 0) == [(6, f"sources.s0.settings.{setting}", False)]
    (finding,) = workspace.command("lint", "--json").lines
    assert written in finding["instead"]
    assert lint(workspace, 2, "--strict")


def test_settings_of_other_packages_are_none_of_ours(workspace: Workspace) -> None:
    define(workspace, "    settings: {SPIDERMON_ENABLED: true, DELTAFETCH_RESET: 1, ULTRACRAWL_DATA: var}\n")
    assert lint(workspace, 0) == []


def without(workspace: Workspace, module: str) -> dict[str, str]:
    """Return the environment in which a module is not installed."""
    hiding = workspace.directory / "hiding"
    hiding.mkdir()
    (hiding / "sitecustomize.py").write_text(f"import sys\nsys.modules[{module!r}] = None\n")
    return {"PYTHONPATH": f"{hiding}:{ROOT}"}


@pytest.mark.parametrize(
    ("written", "module", "place", "extra"),
    [
        ("javascript: {use: true}", "playwright", (4, False), "javascript"),
        ("detect_language: true", "py3langid", (4, True), "language"),
        ("focused: {languages: [de]}", "py3langid", (4, True), "language"),
        ("content: {main: article}", "trafilatura", (4, True), "article"),
        ("types: [text/html, application/pdf]", "pypdfium2", (4, False), "convert"),
        ("index: {engine: tantivy}", "tantivy", (0, True), "tantivy"),
        ("notices: {to: {ops: {url: '${OPS}'}}}", "apprise", (0, True), "notices"),
    ],
)
@pytest.mark.processes
def test_an_extra_that_is_missing_is_named(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    written: str,
    module: str,
    place: tuple[int, bool],
    extra: str,
) -> None:
    line, fatal = place
    monkeypatch.setenv("OPS", "json://localhost")
    define(workspace, f"    {written}\n" if line else "", head="" if line else f"{written}\n")
    assert lint(workspace, 0) == [], "here it is installed"
    found = workspace.command("lint", "--json", **without(workspace, module))
    assert found.code == (2 if fatal else 0)
    (finding,) = found.lines
    assert (finding["line"], finding["fatal"]) == place
    assert f"ultracrawl[{extra}]" in finding["instead"]


def test_the_browser_is_looked_for(workspace: Workspace) -> None:
    define(workspace, "    javascript: {use: true, browser: no-such-browser}\n")
    assert lint(workspace, 2) == [(4, "sources.s0.javascript", True)]


@pytest.mark.parametrize(
    ("options", "code", "keys"),
    [
        pytest.param("    only: [/docs/]\n", 0, [("start_urls", False)], id="outside"),
        pytest.param("    only: [/docs/, /]\n", 0, [], id="inside"),
        pytest.param("    exclude: ['/old/*']\n", 0, [("exclude", False)], id="a star"),
    ],
)
def test_start_urls_and_paths_that_do_not_fit_are_hints(
    workspace: Workspace, options: str, code: int, keys: list[tuple[str, bool]]
) -> None:
    define(workspace, options)
    assert [(key.removeprefix("sources.s0."), fatal) for _, key, fatal in lint(workspace, code)] == keys


def test_all_findings_are_reported_in_the_order_of_the_file(workspace: Workspace) -> None:
    define(
        workspace,
        "    settings: {DOWNLOAD_DELY: 2}\n    class: nosuch.Klass\n    depht: 3\n",
        "    class: nosuch.Klass\n",
    )
    assert [line for line, _, _ in lint(workspace, 2)] == [4, 5, 6, 9]


@pytest.mark.parametrize("words", [["-c", "other.yaml"], ["other.yaml"], ["--config", "other.yaml"]])
def test_a_file_may_be_named_by_an_option(workspace: Workspace, words: list[Any]) -> None:
    define(workspace, "    class: nosuch.Klass\n")
    other = workspace.directory / "other.yaml"
    other.write_text(f"sources: {{s: {{start_urls: ['{START}'], depht: 1}}}}\n")
    ended = workspace.command("lint", "--json", *words)
    assert (ended.code, [one["file"] for one in ended.lines]) == (2, ["other.yaml"])
    assert workspace.command("lint", "-c", "missing.yaml").code == 2
    assert workspace.command("lint", "-c").code == 2


WAYS_IN = {
    "proxy": {"proxy": {"networks": "10.1.0.7", "header": "X-User"}},
    "oidc": {"oidc": {"issuer": "https://login.example.com", "client_id": "u"}},
}


@pytest.mark.parametrize("way", WAYS_IN)
@pytest.mark.parametrize(
    ("prefix", "permissions", "hinted"),
    [(None, True, True), ("user:", True, False), ("web:", True, False), (None, False, False)],
)
def test_users_from_outside_find_files_by_their_names(
    workspace: Workspace, way: str, prefix: str | None, permissions: bool, hinted: bool
) -> None:
    (workspace.directory / "docs").mkdir()
    section = {**WAYS_IN[way], **({} if prefix is None else {"user_prefix": prefix})}
    shown = {"file:///": "https://files.example.com/"}
    source = {"type": "file", "paths": ["docs"], "permissions": permissions, "display_url": shown}
    workspace.write({"sign_in": section, "sources": {"s": source}})
    found = [key for _, key, fatal in lint(workspace, 0) if not fatal]
    assert found.count("sign_in.user_prefix") == hinted
    workspace.write({"sources": {"s": source}})
    assert lint(workspace, 0) == []


@pytest.mark.parametrize(
    ("paths", "shown", "hinted"),
    [
        (["docs"], {}, True),
        (["docs"], {"file:///": "https://files.example.com/"}, False),
        (["webdav://dav.example.com/docs/"], {}, False),
    ],
)
def test_hits_that_open_in_no_browser_are_a_hint(
    workspace: Workspace, paths: list[str], shown: dict[str, str], hinted: bool
) -> None:
    (workspace.directory / "docs").mkdir()
    workspace.write({"sources": {"s": {"type": "file", "paths": paths, "display_url": shown}}})
    found = [(key, fatal) for _, key, fatal in lint(workspace, 0)]
    assert found.count(("sources.s.display_url", False)) == hinted


def test_a_variable_that_is_not_set_here_is_a_hint(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = f"    authentication:\n      staff:\n        url: {START}\n        user: ada\n        password: ${{OURS}}\n"
    portal = "{type: http, url: 'https://p.example.com/', headers: {X-Key: '${THEIRS}'}}"
    head = f"destinations:\n  portal: {portal}\n"
    define(workspace, own, head=head)
    monkeypatch.delenv("OURS", raising=False)
    named = {(8, "sources.s0.authentication.staff.password", False)}
    found = set(lint(workspace, 0))
    assert named < found
    monkeypatch.setenv("OURS", "x")
    monkeypatch.setenv("THEIRS", "x")
    assert len(found - set(lint(workspace, 0))) == 2


def test_hints_about_the_machine_are_none_for_strict(workspace: Workspace) -> None:
    entry = "{url: https://h.example/, user: ann, password: '${NOT_SET}'}"
    secret = f"    acl: everybody\n    authentication: {{s: {entry}}}\n"
    define(workspace, secret)
    assert [fatal for _, _, fatal in lint(workspace, 0, "--strict")] == [False]
    define(workspace, secret + "    settings: {USER_AGENT: x}\n")
    assert lint(workspace, 2, "--strict")
