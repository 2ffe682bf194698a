"""The log of candidates of a real crawl, and what `explain --as-of-run` makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.named import named
from support.project import LOOPBACK, Workspace
from support.sentences import sentence
from support.site import Site

LOG = "var/log/site.candidates.jsonl"


@pytest.fixture
def pages(site: Site) -> Site:
    """A site with something for each stage."""
    site.page(
        "/", title="Home", links=["/a", "/private/x", "/cal?m=1", "/cal?m=2", "/cal?m=3", "/moved", "/out"]
    )
    site.page("/a", title="A", links=["/b", "/private/x"])
    site.page("/b", title="B", links=["/c"])
    for month in (1, 2, 3):
        site.page(f"/cal?m={month}", title=f"Month {month}")
    site.redirect("/moved", "/a")
    site.redirect("/out", "http://elsewhere.invalid/")
    return site


def define(workspace: Workspace, url: str, **options: Any) -> None:
    boundary = {**LOOPBACK, "paths": {"127.0.0.1": {"exclude": ["/private/"]}}}
    options = {"log": {"candidates": True}, "limits": {"query_variations": 2}, "depth": 2, **options}
    workspace.define(f"{url}/", boundary=boundary, **options)


def explained(workspace: Workspace, url: str, run: int = 1) -> dict[str, Any]:
    (one,) = workspace.command("explain", url, "--as-of-run", str(run), "--json").lines
    assert isinstance(one, dict)
    return one


def on_record(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / LOG).read_text().splitlines()]


def test_every_line_of_a_run_is_explained_as_it_was_decided(
    pages: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url)
    workspace.crawl()
    head, *lines = on_record(workspace.directory)
    assert head["run"] == 1
    verdicts = {line["url"].removeprefix(url): (line["accept"], line["stage"]) for line in lines}
    assert verdicts == {
        "/": (True, ""),
        "/a": (True, ""),
        "/private/x": (False, "path"),
        "/cal?m=1": (True, ""),
        "/cal?m=2": (True, ""),
        "/cal?m=3": (False, "limit"),
        "/moved": (True, ""),
        "/out": (True, ""),
        "/b": (True, ""),
        "/c": (False, "depth"),
        "http://elsewhere.invalid/": (False, "domain"),
    }
    for line in lines:
        past = explained(workspace, line["url"])
        told = past["judged"][-1]
        assert (past["accept"], told["rule"] or "", told["stage"] or "") == (
            line["accept"],
            line["rule"],
            line["stage"],
        )
        assert told["same_now"], line


def test_the_kind_of_the_link_is_named(pages: Site, url: str, workspace: Workspace) -> None:
    pages.file(
        "/kinds",
        b"<link rel=alternate href=/other><meta http-equiv=refresh content='90;url=/late'><img src=/p.png>"
        b"<img src=/a.png><a href=/a.png>a picture</a>",
        "text/html",
    )
    pages.page("/a", title="A", links=["/kinds"])
    define(workspace, url, links={"img": True})
    workspace.crawl()
    paths = ("/", "/a", "/other", "/late", "/p.png", "/a.png")
    kinds = [explained(workspace, f"{url}{path}")["judged"][0]["kind"] for path in paths]
    assert kinds == [None, "a", "alternate", "a", "img", "img"]
    assert explained(workspace, "http://elsewhere.invalid/")["judged"][0]["kind"] == "redirect"


def test_the_answer_names_the_counter_of_then_and_the_rule_of_now(
    pages: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url)
    workspace.crawl()
    address = f"{url}/cal?m=3"
    told = workspace.command("explain", address, "--as-of-run", "1").out
    assert f"site: {address} was excluded in run 1" in told
    assert "2" in named(told)
    assert named(workspace.command("explain", address).out).count("2") >= 2
    define(workspace, url, limits={"query_variations": 5})
    (found,) = explained(workspace, address)["judged"]
    assert (found["rule"], found["rule_now"], found["same_now"]) == ("limits.query_variations 2", None, False)
    assert found["counters"]["path_queries"] == 2
    assert workspace.command("explain", address, "--as-of-run", "1").out != told


def test_what_is_not_on_record_is_one_line(pages: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url, log={})
    workspace.crawl()
    assert not (workspace.directory / LOG).exists(), "what is off leaves nothing"

    def problem(address: str, run: int) -> str:
        ended = workspace.command("explain", address, "--as-of-run", str(run))
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        return ended.err

    assert "`log: {candidates: true}`" in problem(f"{url}/a", 1)
    assert named(problem(f"{url}/a", 2))[-2:] == ["2", "1"]
    define(workspace, url)
    workspace.crawl()
    assert "`log: {candidates: true}`" in problem(f"{url}/a", 1)
    assert sentence("explain.run_did_not_judge") in problem(f"{url}/nowhere", 2)
    assert sentence("explain.part_of_log") not in problem(f"{url}/nowhere", 2)


def test_a_log_whose_beginning_is_lost_says_so(pages: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url)
    workspace.crawl()
    log = workspace.directory / LOG
    log.write_text("".join(log.read_text().splitlines(keepends=True)[3:]))
    ended = workspace.command("explain", f"{url}/", "--as-of-run", "1")
    assert (ended.code, sentence("explain.part_of_log_lost") in ended.err) == (2, True)


def test_runs_of_several_sources_are_not_mixed_up(pages: Site, url: str, workspace: Workspace) -> None:
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "log": {"candidates": True}}
    workspace.write({"sources": {"site": source, "other": source}})
    ended = workspace.command("explain", f"{url}/", "--as-of-run", "1")
    assert (ended.code, "--source" in ended.err) == (2, True)


def test_a_full_source_says_which_limit_closed_it(pages: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url)
    workspace.crawl()
    pages.page("/a", title="A", links=["/new"])
    define(workspace, url, limits={"documents": 1})
    workspace.crawl()
    (found,) = explained(workspace, f"{url}/new", 2)["judged"]
    assert (found["stage"], found["rule"], found["same_now"]) == ("new", "refresh_only", True)
    passed = f"limits.documents 1 is reached: {found['counters']['limits.documents']:g}"
    assert f"counted then: {passed}" in workspace.command("explain", f"{url}/new", "--as-of-run", "2").out
    assert f"counted now: {passed}" in workspace.command("explain", f"{url}/new").out
