"""`ultracrawl stats`: numbers of runs as text, JSON and a drawing."""

from __future__ import annotations

from lxml import etree
from support.project import Workspace
from support.site import Site


def test_runs_are_shown_and_drawn(workspace: Workspace, site: Site, url: str) -> None:
    site.page("/", title="Home", text="words here")
    workspace.define(f"{url}/")
    assert workspace.command("stats", "site", "--json").lines == [{"source": "site", "runs": []}]
    workspace.crawl()
    workspace.crawl()
    (found,) = workspace.command("stats", "site", "--json", "--plot", "site.svg").lines
    assert [(run["run"], run["end"]) for run in found["runs"]] == [(2, "done"), (1, "done")]
    assert found["runs"][1]["new"] > 0
    assert [run["documents"] for run in found["runs"]] == [1, 1]
    assert all(run["answer_seconds"] > 0 for run in found["runs"])
    assert etree.parse(workspace.directory / "site.svg").getroot().tag.endswith("svg")
    assert len(workspace.command("stats", "site", "--limit", "1").out.splitlines()) == 2
    assert workspace.command("stats", "nothing").code == 2
    (compared,) = workspace.command("stats", "site", "--compare", "1", "2", "--json").lines
    assert compared["outcomes"]["NEW"] == {"first": 1, "second": 0, "difference": -1}
    assert "NEW" in workspace.command("stats", "site", "--compare", "1", "2").out
    assert workspace.command("stats", "site", "--compare", "1", "7").code == 2
    assert workspace.command("stats", "site", "--plot", "no/folder.svg").code == 1
