"""What servers do to crawlers: every case ends in a recorded outcome, and the crawl goes on."""

from __future__ import annotations

import gzip
import os
import subprocess
from pathlib import Path

import pytest
from support.free_port import free_port
from support.project import ANY_PORT, Workspace
from support.site import Site

MEGABYTE = 1 << 20


@pytest.fixture
def bad(site: Site, url: str, workspace: Workspace) -> Site:
    """A good start page that links to /bad and /good."""
    site.page("/", title="Home", links=["/bad", "/good"], text="words")
    site.page("/good", title="Good", text="needle")
    workspace.define(f"{url}/", limits={"max_size": "1 MB", "timeout": 2, "retries": 0})
    return site


def crawl(workspace: Workspace) -> dict[str, object]:
    run = workspace.crawl().run
    assert sum(run["outcomes"].values()) == run["scheduled"] == 3
    assert workspace.search("needle") == ["/good"], "the crawl has to go on"
    return workspace.urls()["/bad"]


def test_a_body_larger_than_announced_limit(bad: Site, workspace: Workspace) -> None:
    bad.file("/bad", b"<p>" + b"x" * (100 * MEGABYTE), "text/html")
    row = crawl(workspace)
    assert (row["outcome"], row["status_code"]) == ("NOT_INDEXED", 958)
    assert "too large" in str(row["reason"])


def test_an_endless_body(bad: Site, workspace: Workspace) -> None:
    bad.drip("/bad", b"x" * 65536, pause=0.0)
    assert crawl(workspace)["outcome"] == "NOT_INDEXED"


def test_a_gzip_bomb(bad: Site, workspace: Workspace) -> None:
    bad.gzip_bomb("/bad", unpacked=300 * MEGABYTE)
    row = crawl(workspace)
    assert (row["outcome"], row["status_code"]) == ("NOT_INDEXED", 958)


def test_gzip_that_is_none(bad: Site, workspace: Workspace) -> None:
    bad.file("/bad", b"not gzip at all", "text/html", headers={"Content-Encoding": "gzip"})
    assert crawl(workspace)["outcome"] in {"NETWORK_ERROR", "FAILED", "NEW", "NOT_INDEXED"}


def test_truncated_gzip(bad: Site, workspace: Workspace) -> None:
    packed = gzip.compress(b"<title>t</title>" + os.urandom(20000))[:5000]
    bad.file("/bad", packed, "text/html", headers={"Content-Encoding": "gzip"})
    assert crawl(workspace)["outcome"] in {"NETWORK_ERROR", "NEW", "NOT_INDEXED"}


@pytest.mark.processes
def test_a_truncated_body(bad: Site, workspace: Workspace) -> None:
    bad.raw("/bad", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<p>short")
    row = crawl(workspace)
    assert (row["outcome"], row["status_code"]) == ("NETWORK_ERROR", 1002)


def test_a_server_that_hangs_up(bad: Site, workspace: Workspace) -> None:
    bad.raw("/bad", b"")
    assert crawl(workspace)["outcome"] == "NETWORK_ERROR"


@pytest.mark.processes
def test_an_answer_that_is_no_http(bad: Site, workspace: Workspace) -> None:
    bad.raw("/bad", b"SSH-2.0-OpenSSH_9.2\r\n")
    assert crawl(workspace)["outcome"] == "NETWORK_ERROR"


def test_answers_that_are_no_http_cost_one_request_each_and_the_site_goes_on(
    site: Site, url: str, workspace: Workspace
) -> None:
    broken, good = [f"/bad{number}" for number in range(60)], [f"/good{number}" for number in range(5)]
    site.page("/", links=[*broken, *good], text="words")
    for path in broken:
        site.raw(path, b"ICY 200 OK\r\n")
    for path in good:
        site.page(path, text=f"needle {path}")
    workspace.define(f"{url}/", politeness={"delay": 0, "concurrency": 1, "backoff": {"limit": 5}})
    run = workspace.crawl().run
    assert (run["outcomes"]["NETWORK_ERROR"], run["outcomes"]["NEW"]) == (60, 6)
    assert sorted(workspace.search("needle")) == good
    assert all(len(site.statuses(path)) == 1 for path in broken)


def test_ultra_search_42_a_slow_page_is_902(bad: Site, workspace: Workspace) -> None:
    bad.slow("/bad", 8.0)
    row = crawl(workspace)
    assert (row["outcome"], row["status_code"]) == ("NETWORK_ERROR", 902)


def test_wrong_charsets_never_break_a_page(bad: Site, workspace: Workspace) -> None:
    bad.file("/bad", "<title>Grüße</title><p>naïve café".encode("latin-1"), "text/html; charset=utf-8")
    assert crawl(workspace)["outcome"] == "NEW"
    page = "<title>Grüße</title><p>ein naïves café".encode("latin-1")
    bad.file("/bad", page, "text/html; charset=no-such-thing")
    workspace.crawl()
    assert workspace.search("café") == ["/bad"]


def test_a_type_that_is_not_wanted(bad: Site, workspace: Workspace) -> None:
    bad.file("/bad", b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "image/png")
    row = crawl(workspace)
    assert (row["outcome"], row["status_code"]) == ("NOT_INDEXED", 1001)
    assert "30041" in str(row["reason"])


def test_broken_html_is_read_as_a_browser_would(bad: Site, workspace: Workspace) -> None:
    bad.file(
        "/bad", b"<title>t<p>unclosed <a href=/good>x<table><tr><b>bold</i></td>\0\xff tail", "text/html"
    )
    assert crawl(workspace)["outcome"] == "NEW"


def test_ultra_search_122_connection_refused_is_906(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=[f"http://127.0.0.1:{free_port()}/"], text="words")
    workspace.define(f"{url}/", robots={"obey": False}, boundary={"ports": ANY_PORT})
    workspace.crawl()
    outcomes = [(row["outcome"], row["status_code"]) for row in workspace.command("urls", "--json").lines]
    assert ("NETWORK_ERROR", 906) in outcomes


def test_a_host_that_does_not_exist(workspace: Workspace) -> None:
    workspace.define("http://no-such-host.invalid/", robots={"obey": False})
    ended = workspace.crawl(code=1)
    assert ended.run["outcomes"] == {"NETWORK_ERROR": 1}
    (row,) = workspace.command("urls", "--json").lines
    assert row["status_code"] == 905
    assert "cannot be resolved" in row["reason"]


def test_a_trap_of_endless_urls_is_bounded_by_depth(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=["/cal/1"])
    for number in range(1, 30):
        site.page(f"/cal/{number}", title=f"Month {number}", links=[f"/cal/{number + 1}"])
    workspace.define(f"{url}/", depth=5)
    run = workspace.crawl().run
    assert run["outcomes"] == {"NEW": 6}
    assert run["rejected_by"] == {"depth 5": 1}


@pytest.mark.skipif(
    os.geteuid() != 0 and os.environ.get("CI") != "true", reason="mounting a small disk needs root"
)
@pytest.mark.processes
def test_a_full_disk_while_indexing(site: Site, url: str, workspace: Workspace, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)], check=True)
    try:
        site.page("/", title="Home", links=[f"/{number}" for number in range(80)])
        for number in range(80):
            text = " ".join(f"w{number}x{word}" for word in range(1500))
            site.page(f"/{number}", title=f"Page {number}", text=text)
        workspace.define(f"{url}/")
        definition = workspace.directory / "ultracrawl.yaml"
        definition.write_text(definition.read_text() + f"index: {disk}/index\n")
        ended = workspace.crawl(code=1)
        assert any("No space left" in problem for problem in ended.run["problems"])
        assert "Traceback" not in ended.err
        assert len(ended.run["problems"]) == 1
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    definition.write_text(definition.read_text().replace(f"index: {disk}/index\n", ""))
    workspace.crawl()
    assert workspace.search("w79x1499") == ["/79"], "the documents waited in the cache"


@pytest.mark.skipif(
    os.geteuid() != 0 and os.environ.get("CI") != "true", reason="mounting a small disk needs root"
)
@pytest.mark.processes
def test_a_full_disk_under_the_state(site: Site, url: str, workspace: Workspace, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)], check=True)
    try:
        links = [f"/{number}/{'x' * 200}" for number in range(3000)]
        site.page("/", title="Home", links=links)
        workspace.define(f"{url}/", politeness={"delay": 0.2})
        definition = workspace.directory / "ultracrawl.yaml"
        definition.write_text(definition.read_text() + f"state: {disk}/state\n")
        ended = workspace.command("crawl", "--json")
        assert ended.code == 1
        assert "Traceback" not in ended.err
        assert "disk is full" in ended.err
    finally:
        subprocess.run(["umount", str(disk)], check=True)
