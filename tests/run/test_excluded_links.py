"""The log of links that were excluded: off, on, bounded, and safe with hostile links."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.project import Workspace
from support.site import Site

from ultracrawl.errors import WorkError
from ultracrawl.run.logs.candidate_logs import MAX_URL_LENGTH, ExcludedLinksLog, read_excluded


def logged(workspace: Workspace, *words: str) -> list[dict[str, Any]]:
    ended = workspace.command("screened", "--json", *words)
    assert ended.code == 0, ended.err
    return ended.lines


def defined(workspace: Workspace, url: str, **options: Any) -> None:
    boundary = {"paths": {"127.0.0.1": {"exclude": ["/private"]}}}
    workspace.define(f"{url}/", boundary=boundary, **options)


@pytest.fixture
def pages(site: Site) -> Site:
    links = [
        "/a",
        "/private/x",
        "http://elsewhere.invalid/",
        "http://[",
        "/long?" + "x" * 3000,
        "mailto:me@h",
    ]
    site.page("/", title="Home", links=links)
    site.page("/a", title="A", links=["/private/x", "/private/y"])
    return site


def test_nothing_is_written_unless_it_is_switched_on(pages: Site, url: str, workspace: Workspace) -> None:
    defined(workspace, url)
    workspace.crawl()
    assert not list((workspace.directory / "var" / "log").glob("*.screened.*"))
    ended = workspace.command("screened")
    assert ended.out == ""
    assert "log: {screened: true}" in ended.err


def test_fast_96_each_link_with_rule_page_and_time(pages: Site, url: str, workspace: Workspace) -> None:
    defined(workspace, url, log={"screened": True})
    workspace.crawl()
    lines = logged(workspace)
    found = {(line["url"].removeprefix(url)[:20], line["parent"].removeprefix(url)) for line in lines}
    assert found == {
        ("/private/x", "/"),
        ("/private/y", "/a"),
        ("http://elsewhere.inv", "/"),
        ("http://[", "/"),
        ("/long?xxxxxxxxxxxxxx", "/"),
    }, "each once, by the page where it was met first"
    rules = {line["url"].removeprefix(url)[:9]: line["rule"] for line in lines}
    assert "/private" in rules["/private/"]
    assert rules["/long?xxx"] == "URL too long"
    assert all(line["source"] == "site" and line["time"].endswith("Z") for line in lines)
    assert (workspace.directory / "var/log/site.screened.jsonl").exists()
    assert {line["rule"] for line in logged(workspace, "site", "--rule", "too long")} == {"URL too long"}


def test_redirects_out_of_the_boundary_are_in_it(site: Site, url: str, workspace: Workspace) -> None:
    site.redirect("/", "http://elsewhere.invalid/")
    defined(workspace, url, log={"screened": True})
    workspace.crawl(code=None)
    (line,) = logged(workspace)
    assert (line["url"], line["parent"]) == ("http://elsewhere.invalid/", f"{url}/")


def test_ultra_search_74_85_messages_in_log_and_reason(pages: Site, url: str, workspace: Workspace) -> None:
    pages.redirect("/a", "http://elsewhere.invalid/")
    defined(workspace, url)
    log = workspace.crawl("--verbose", code=None).err
    for message in (
        "30027 URL outside",
        "30030 malformed URL",
        "30040 redirection outside",
        "30054 excessively",
    ):
        assert message in log
    assert workspace.urls()["/a"]["reason"].startswith("30040 ")


def test_hostile_links_stay_on_their_line(site: Site, url: str, workspace: Workspace) -> None:
    evil = "http://elsewhere.invalid/\x1b[31mred\x07\u202e"
    site.page("/", title="Home", links=[evil, "http://\ud7ff[\n"])
    defined(workspace, url, log={"screened": True})
    workspace.crawl()
    text = (workspace.directory / "var/log/site.screened.jsonl").read_bytes()
    assert not set(text) & (set(range(32)) - {10})
    assert len(logged(workspace)) == text.count(b"\n") == 2
    shown = workspace.command("screened").out
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_its_folder_is_an_option(pages: Site, url: str, workspace: Workspace) -> None:
    defined(workspace, url, log={"screened": True})
    definition = (workspace.directory / "ultracrawl.yaml").read_text()
    (workspace.directory / "ultracrawl.yaml").write_text(definition + "logs: elsewhere\n")
    workspace.crawl()
    assert (workspace.directory / "elsewhere/site.screened.jsonl").exists()
    assert logged(workspace)


def test_a_log_that_cannot_be_written_does_not_end_the_crawl(
    pages: Site, url: str, workspace: Workspace
) -> None:
    (workspace.directory / "var/log/site.screened.jsonl").mkdir(parents=True)
    defined(workspace, url, log={"screened": True})
    ended = workspace.crawl(code=1)
    assert ended.run["outcomes"] == {"NEW": 2}
    (problem,) = ended.run["problems"]
    assert "cannot be written" in problem


# ---- the log itself


def test_it_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "log" / "s.screened.jsonl"
    log = ExcludedLinksLog(path, 10_000, lambda: 0.0)
    for number in range(1000):
        log.add(f"http://h.example/{number}", "path /x", "http://h.example/")
        log.flush()
    assert sum(file.stat().st_size for file in path.parent.iterdir()) <= 20_000
    assert len(list(path.parent.iterdir())) == 2
    urls = [line["url"] for line in read_excluded(path)]
    last = [f"http://h.example/{number}" for number in range(1000 - len(urls), 1000)]
    assert urls == last


def test_endless_urls_are_cut_and_torn_lines_left_out(tmp_path: Path) -> None:
    path = tmp_path / "s.screened.jsonl"
    log = ExcludedLinksLog(path, 1_000_000, lambda: 0.0)
    log.add("http://h.example/" + "x" * 1_000_000, "URL too long", "p" * 1_000_000)
    log.flush()
    with path.open("a") as file:
        file.write('{"time": "19')
    (line,) = read_excluded(path)
    assert len(line["url"]) == len(line["parent"]) == MAX_URL_LENGTH
    assert line["time"] == "1970-01-01T00:00:00Z"
    assert json.loads(path.read_text().splitlines()[0]) == line


def test_an_error_is_said_once_and_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    log = ExcludedLinksLog(tmp_path / "file" / "s.jsonl", 100, lambda: 0.0)
    log.flush()
    log.add("u", "r", "p")
    with pytest.raises(WorkError, match="cannot be written"):
        log.flush()
    log.flush()
