"""A crawl that needs a library that is not installed says so in one line, before it asks for anything."""

from typing import Any

import pytest
from support.project import LOOPBACK, ROOT, Workspace
from support.site import Site

pytestmark = pytest.mark.processes  # each has libraries of its own

FOREIGN = {
    "DOWNLOAD_HANDLERS": dict.fromkeys(
        ("http", "https"), "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"
    )
}
"""A download handler that is not ours."""
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "tantivy": ("tantivy", {"index": {"engine": "tantivy"}}, {}, "the index engine tantivy needs"),
    "pages": ("pycurl", {}, {}, "source site: fetching pages needs"),
    "pages by HTTP/2": ("pycurl", {}, {"http": {"version": "2"}}, "source site: fetching pages needs"),
    "ftp": (
        "pycurl",
        {},
        {"boundary": {"schemes": ["http", "ftp"], **LOOPBACK}, "settings": FOREIGN},
        "crawling FTP servers needs",
    ),
    "proxy over TLS": (
        "pycurl",
        {},
        {"proxy": {"servers": {"main": {"url": "https://127.0.0.1:9"}}}, "settings": FOREIGN},
        "source site: speaking TLS with a proxy needs",
    ),
    "NTLM": (
        "spnego",
        {},
        {"authentication": {"a": {"url": "{url}", "user": "u", "password": "${HOME}", "scheme": "ntlm"}}},
        "authentication with NTLM needs",
    ),
}
INSTALLED_WITH = {
    "tantivy": 'install it with: pip install "ultracrawl[tantivy]"',
    "pycurl": "repair it with: pip install --force-reinstall pycurl",
    "spnego": 'install it with: pip install "ultracrawl[ntlm]"',
}


def without(workspace: Workspace, module: str) -> dict[str, str]:
    """Return the environment in which a module is not installed."""
    hiding = workspace.directory / "hiding"
    hiding.mkdir()
    (hiding / "sitecustomize.py").write_text(f"import sys\nsys.modules[{module!r}] = None\n")
    return {"PYTHONPATH": f"{hiding}:{ROOT}"}


@pytest.mark.parametrize(
    ("module", "head", "options", "problem"),
    [
        pytest.param(*case, id=name, marks=[] if name in ("tantivy", "pages") else pytest.mark.servers)
        for name, case in CASES.items()
    ],
)
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


def test_without_playwright_pages_are_read_as_sent(site: Site, url: str, workspace: Workspace) -> None:
    site.file("/", b"<title>Home</title><p>needle<script>1</script>", "text/html")
    workspace.define(f"{url}/", javascript={"use": True})
    run = workspace.command("crawl", "--json", **without(workspace, "playwright")).run
    (remark,) = run["remarks"]
    assert (run["outcomes"], "ultracrawl[javascript]" in remark) == ({"NEW": 1}, True)
    assert workspace.search("needle") == ["/"]


def test_a_foreign_handler_needs_no_libcurl(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="needle")
    workspace.define(f"{url}/", settings=FOREIGN)
    ended = workspace.command("crawl", **without(workspace, "pycurl"))
    assert (ended.code, ended.err) == (0, "")
    assert workspace.search("needle") == ["/"]


@pytest.mark.servers  # five commands, four of them really started
def test_without_libcurl_nothing_but_crawling_ends(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="needle")
    other = {**FOREIGN["DOWNLOAD_HANDLERS"]}
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "storage": {"keep": True}}
    workspace.write(
        {"sources": {"site": source, "other": {**source, "settings": {"DOWNLOAD_HANDLERS": other}}}}
    )
    workspace.crawl()
    hidden = without(workspace, "pycurl")
    asked = len(site.requests)
    ended = workspace.command("crawl", "site", **hidden)
    assert (ended.code, ended.out, len(site.requests)) == (2, "", asked)
    assert workspace.command("reindex", "site", **hidden).code == 0
    assert workspace.command("search", "needle", "--source", "site", **hidden).code == 0
    both = workspace.command("crawl", **hidden)
    assert (both.code, both.err.count("\n")) == (1, 1)
    assert both.err.startswith("site: not crawled: source site: fetching pages needs pycurl")
    assert "other: run 2" in both.out


def test_the_summary_names_the_extra_once_that_documents_need(
    site: Site, url: str, workspace: Workspace
) -> None:
    for name in ("a", "b"):
        site.file(f"/{name}.pdf", b"%PDF-1.4", "application/pdf")
    site.page("/", title="Home", text="words", links=["/a.pdf", "/b.pdf"])
    workspace.define(f"{url}/")
    run = workspace.crawl(**without(workspace, "pypdfium2")).run
    (remark,) = run["remarks"]
    assert "pip install 'ultracrawl[convert]'" in remark
    assert run["outcomes"] == {"FAILED": 2, "NEW": 1}
