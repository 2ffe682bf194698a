"""A crawl that needs a library that is not installed says so in one line, before it asks for anything."""

from typing import Any

import pytest
from support.project import LOOPBACK, ROOT, Workspace
from support.site import Site

CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "tantivy": ("tantivy", {"index": {"engine": "tantivy"}}, {}, "the index engine tantivy needs"),
    "ftp": (
        "pycurl",
        {},
        {"boundary": {"schemes": ["http", "ftp"], **LOOPBACK}},
        "crawling FTP servers needs",
    ),
    "proxy over TLS": (
        "pycurl",
        {},
        {"proxy": {"servers": {"main": {"url": "https://127.0.0.1:9"}}}},
        "source site: speaking TLS with a proxy needs",
    ),
    "NTLM": (
        "spnego",
        {},
        {"authentication": {"a": {"url": "{url}", "user": "u", "password": "${HOME}", "scheme": "ntlm"}}},
        "authentication with NTLM needs",
    ),
    "JavaScript": ("playwright", {}, {"javascript": {"use": True}}, "javascript needs"),
}
INSTALLED_WITH = {
    "tantivy": 'install it with: pip install "ultracrawl[tantivy]"',
    "pycurl": "repair it with: pip install --force-reinstall pycurl",
    "spnego": 'install it with: pip install "ultracrawl[ntlm]"',
    "playwright": 'install it with: pip install "ultracrawl[javascript]"',
}


def without(workspace: Workspace, module: str) -> dict[str, str]:
    """Return the environment in which a module is not installed."""
    hiding = workspace.directory / "hiding"
    hiding.mkdir()
    (hiding / "sitecustomize.py").write_text(f"import sys\nsys.modules[{module!r}] = None\n")
    return {"PYTHONPATH": f"{hiding}:{ROOT}"}


@pytest.mark.parametrize(("module", "head", "options", "problem"), CASES.values(), ids=list(CASES))
def test_what_is_missing_is_said_first(
    site: Site,
    url: str,
    workspace: Workspace,
    module: str,
    head: dict[str, Any],
    options: dict[str, Any],
    problem: str,
) -> None:
    site.page("/", title="Home")
    entries = options.get("authentication", {})
    options = {
        **options,
        **({"authentication": {"a": {**entries["a"], "url": f"{url}/"}}} if entries else {}),
    }
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, **options}
    workspace.write({**head, "sources": {"site": source}})
    ended = workspace.command("crawl", **without(workspace, module))
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("ultracrawl: ")
    assert problem in ended.err
    assert ended.err.endswith(f"{INSTALLED_WITH[module]}\n")
    assert ended.err.count("\n") == 1
    assert site.count("/") == site.count("/robots.txt") == 0


def test_another_version_of_http_than_can_be_spoken_is_told_by_the_report(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home")
    workspace.define(f"{url}/", http={"version": "2"})
    ended = workspace.command("crawl", **without(workspace, "pycurl"))
    assert ended.code == 0
    assert ended.out.count("  Note: http.version 2 needs libcurl; HTTP/1.1 is spoken\n") == 1


def test_a_crawl_without_libcurl_says_so_once(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=["/a", "/b"])
    site.page("/a", title="A")
    site.page("/b", title="B")
    workspace.define(f"{url}/")
    ended = workspace.command("crawl", **without(workspace, "pycurl"))
    assert (ended.code, ended.err) == (0, "")
    (note,) = [line for line in ended.out.splitlines() if "Note:" in line]
    assert note.startswith("  Note: pycurl does not load (")
    assert note.endswith("pip install --force-reinstall pycurl")
