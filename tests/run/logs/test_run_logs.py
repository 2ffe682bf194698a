"""Logs of runs as a crawl leaves them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.in_process import InProcessWorkspace
from support.project import LOOPBACK, Workspace
from support.sentences import sentence
from support.site import Site


def logs(workspace: Workspace) -> list[Path]:
    return sorted((workspace.directory / "var/log").glob("site.run-*.log"))


@pytest.fixture
def crooked(site: Site, url: str) -> str:
    site.page(
        "/", title="Home", links=["/a", "/missing", "/broken", "/private", "/image.bin", "http://other/"]
    )
    site.page("/a", title="Alpha", text="aardvark")
    site.respond("/broken", status=500)
    site.file("/image.bin", b"\x00\x01\x02", "application/octet-stream")
    site.robots("User-agent: *\nDisallow: /private\n")
    return f"{url}/"


def test_a_run_leaves_a_log_that_ends_with_its_results__ultra_search_125_126_127(
    crooked: str, workspace: Workspace
) -> None:
    workspace.define(crooked)
    run = workspace.crawl().run
    (log,) = logs(workspace)
    body, _, block = log.read_text().partition("\nCrawling results\n")
    assert "run 1 of site starts" in body
    assert f"GONE 404 not found: {crooked}missing" in body
    assert f"HTTP_ERROR 500 internal server error: {crooked}broken" in body
    assert "30031 excluded by robots.txt" in body
    assert "30041 excluded by type" in body
    assert "run 1 of site ends: finished" in body
    assert run["statistics"] == {
        "to_fetch": 0,
        "fetched": 2,
        "failures": 2,
        "rejected": 3,
        "discovered": 7,
        "indexed": 2,
        "not_indexable": 0,
        "conversion_failures": 0,
    }
    assert [int(line.split()[0]) for line in block.splitlines()[:8]] == [0, 2, 2, 3, 7, 2, 0, 0]
    assert workspace.urls()["/missing"]["status_text"] == "not found"


def test_a_refused_connection_is_906_with_message_30025__ultra_search_122(
    site: Site, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="welcome")
    site.robots("")
    with site.serve() as url:
        workspace.define(f"{url}/", robots={"obey": False})
    workspace.crawl(code=1)
    row = workspace.urls()["/"]
    assert (row["status_code"], row["status_text"]) == (906, "connection refused")
    assert row["reason"].startswith("30025")
    assert "NETWORK_ERROR 906 connection refused" in logs(workspace)[0].read_text()


@pytest.mark.parametrize(("runs", "left"), [(0, 0), (2, 2)])
def test_log_runs_says_how_many_are_kept(
    site: Site, url: str, workspace: Workspace, runs: int, left: int
) -> None:
    site.page("/", title="Home", text="welcome")
    workspace.define(f"{url}/", log={"runs": runs})
    for _ in range(3):
        workspace.crawl()
    assert len(logs(workspace)) == left


def test_without_a_folder_for_logs_no_crawl_begins__ultra_search_37(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="welcome")
    workspace.define(f"{url}/")
    (workspace.directory / "var").mkdir()
    (workspace.directory / "var/log").write_text("no folder")
    ended = workspace.command("crawl")
    folder = str(workspace.directory / "var/log")
    told = [line for line in (ended.out + ended.err).splitlines() if folder in line and "audit" not in line]
    assert (ended.code, len(told), site.requests) == (1, 1, [])
    (status,) = workspace.command("status", "--json").json["sources"]
    assert folder in status["failure"]["problem"]
    workspace.define(f"{url}/", log={"runs": 0})
    assert workspace.crawl().run["outcomes"] == {"NEW": 1}
    (workspace.directory / "var/log").unlink()
    workspace.define(f"{url}/")
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": 1}


def test_crawls_of_several_machines_share_a_folder_of_logs__ultra_search_129(
    crooked: str, site: Site, tmp_path: Path
) -> None:
    shared, source = tmp_path / "share", {"start_urls": [crooked], "boundary": LOOPBACK, "log": {"runs": 2}}
    for machine in ("north", "south"):
        workspace = InProcessWorkspace(tmp_path / machine)
        workspace.directory.mkdir()
        workspace.write({"logs": str(shared), "sources": {machine: source}})
        for _ in range(3):
            workspace.crawl(code=None)
        assert not (workspace.directory / "var/log").exists()
    written = sorted(file.name.partition(".")[0] for file in shared.glob("*.run-*.log"))
    assert written == ["north", "north", "south", "south"]
    assert all("Crawling results" in file.read_text() for file in shared.glob("*.run-*.log"))


def test_the_messages_of_links_and_types_are_in_the_log__ultra_search_74_14_2(
    site: Site, url: str, workspace: Workspace
) -> None:
    links = ["http://elsewhere.invalid/", "http://[", "/long?" + "x" * 3000, "/binary"]
    site.page("/", title="Home", links=links)
    site.file("/binary", b"GIF89a\x00\x01", "text/html")
    workspace.define(f"{url}/")
    workspace.crawl()
    text = logs(workspace)[0].read_text()
    for line in (
        "30027 URL outside the boundary: http://elsewhere.invalid/ (",
        "30030 malformed URL: http://[ (",
        "30054 excessively long URL: /long?xxx",
        sentence("logs.30126_binary_document_reported_as"),
    ):
        assert line in text
