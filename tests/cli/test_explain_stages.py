"""`ultracrawl explain`: the stages after the boundary."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.crawled import CrawledProjects
from support.in_process import InProcessWorkspace
from support.project import Workspace
from support.sentences import sentence
from support.site import Site


@pytest.fixture
def workspace(site: Site, url: str, tmp_path: Path, crawled_projects: CrawledProjects) -> Workspace:
    """A crawled site: a page, one that robots.txt forbids, one that is not indexed."""
    site.file("/robots.txt", b"User-agent: *\nDisallow: /private\n", "text/plain")
    site.page("/", title="Home", text="words", links=["/private", "/noindex"])
    site.page("/noindex", title="No", text="words", headers={"X-Robots-Tag": "noindex"})
    made = InProcessWorkspace(tmp_path)
    made.define(f"{url}/", boundary={"domains": {"include": ["*"]}})
    crawled_projects.crawl(made, site)
    site.reset()
    return made


def stages(workspace: Workspace, *words: str) -> dict[str, dict[str, Any]]:
    explained = workspace.command("explain", "--json", *words).json
    return {one["stage"]: one for one in explained["decisions"]}


def test_robots_txt_and_the_answer_as_they_were_last(site: Site, url: str, workspace: Workspace) -> None:
    found = stages(workspace, f"{url}/")
    assert (found["robots"]["accept"], "it was read 20" in found["robots"]["reason"]) == (True, True)
    assert (found["answer"]["rule"], found["address"]["accept"]) == ("NEW", True)
    forbidden = stages(workspace, f"{url}/private")
    assert (forbidden["robots"]["accept"], "answer" in forbidden) == (False, False)
    assert forbidden["robots"]["rule"] == "Disallow: /private"
    noindex = stages(workspace, f"{url}/noindex")["answer"]
    assert (noindex["rule"], "noindex" in noindex["reason"]) == ("NOT_INDEXED", True)
    shown = workspace.command("explain", f"{url}/noindex").out.splitlines()
    line = next(line for line in shown if line.split()[1:2] == ["answer"])
    assert line.split()[:3] == ["NO", "answer", "NOT_INDEXED"]
    assert site.requests == [], "nothing is fetched"


def test_what_is_not_known_yet_is_said(workspace: Workspace) -> None:
    found = stages(workspace, "http://elsewhere.example/")
    assert found["robots"]["reason"] == sentence("explain.robots_not_read_yet")
    assert "address" not in found, "no host is looked up unasked"


def test_addresses_are_judged(workspace: Workspace) -> None:
    assert stages(workspace, "http://10.0.0.1/")["address"]["accept"] is False
    found = stages(workspace, "--dns", "http://nothing.invalid/")["address"]
    assert (found["accept"], found["reason"]) == (False, "nothing.invalid has no address")


def test_robots_txt_that_is_not_obeyed(url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", robots={"obey": False})
    assert stages(workspace, f"{url}/private")["robots"]["rule"] == "robots.obey"


def test_how_a_page_that_was_removed_by_hand_comes_back(url: str, workspace: Workspace) -> None:
    assert workspace.command("approve", "site", "--remove", f"{url}/").code == 0
    told = re.search("`ultracrawl ([^`]+)`", workspace.command("explain", f"{url}/").out)
    assert told is not None
    assert workspace.command(*shlex.split(told[1]), "--json").json["restored"] == 1


def test_the_source_that_knows_a_url_is_shown_first(url: str, workspace: Workspace) -> None:
    file = workspace.directory / "ultracrawl.yaml"
    definition = yaml.safe_load(file.read_text())
    site = definition["sources"]["site"]
    definition["sources"] = {"before": site, "site": site, "after": site}
    file.write_text(yaml.safe_dump(definition, sort_keys=False))
    shown = [line.split(":")[0] for line in workspace.command("explain", f"{url}/").out.splitlines()]
    assert [name for name in shown if name in definition["sources"]] == ["site", "before", "after"]


def test_who_may_see_a_document_is_said_where_readers_are_named(
    site: Site, url: str, workspace: Workspace
) -> None:
    def readers() -> list[str]:
        lines = workspace.command("explain", f"{url}/").out.splitlines()
        return [line.split(": ", 1)[1].split(", unless")[0] for line in lines if "who may see it" in line]

    assert readers() == []
    for written, said in (
        ({"acl": ["group:sales", "user:mary"]}, "only group:sales, user:mary"),
        ({"acl": "required"}, "nobody"),
        ({"acl": "required", "acl_paths": {"/": []}}, "everybody"),
    ):
        workspace.define(f"{url}/", boundary={"domains": {"include": ["*"]}}, **written)
        assert readers() == [said]
