"""`ultracrawl suggest`: says what a crawl has shown, and writes it into the definition once."""

from __future__ import annotations

from typing import Any

import pytest
from support.crawled import CrawledProjects
from support.fast import fast_xml
from support.project import Workspace
from support.site import Site
from support.verbs import mistyped

from ultracrawl.cli.mistakes import Mistake

DEFINITION = """\
# what is crawled
sources:
  site:   # of the house
    start_urls: [URL/]
    politeness: {delay: 0}
    boundary:
      networks: [127.0.0.0/8]  # here
    # no more
  later: {start_urls: [URL/b], boundary: {networks: [127.0.0.0/8]}}
"""
WRITTEN = DEFINITION.replace(
    "    # no more\n", "    urls: {normalise: [tracking]}\n    exclude: [/old/]\n    # no more\n"
)


@pytest.fixture
def crawled(site: Site, url: str, workspace: Workspace, crawled_projects: CrawledProjects) -> Site:
    """A site with links of campaigns and to pages that are gone, crawled once."""
    campaigns = [f"/{name}?utm_source=x" for name in "ab"]
    site.page(
        "/", title="Home", links=["/a", "/b", *campaigns, *(f"/old/{n}" for n in range(10)), "/s"], text="all"
    )
    for name in "ab":
        for path in (f"/{name}", f"/{name}?utm_source=x"):
            site.page(path, title=name, text=f"needle {name}")
    site.respond("/s", status=401)
    (workspace.directory / "ultracrawl.yaml").write_text(DEFINITION.replace("URL", url))
    crawled_projects.crawl(workspace, site)
    site.reset()
    return site


def definition(workspace: Workspace) -> str:
    return (workspace.directory / "ultracrawl.yaml").read_text()


def test_what_a_crawl_has_shown_is_suggested(crawled: Site, workspace: Workspace) -> None:
    before = definition(workspace)
    ended = workspace.command("suggest", "site", "--json")
    found: dict[str, Any] = {one["kind"]: one for one in ended.lines}
    assert ended.code == 0
    assert found["step"]["value"] == "tracking"
    assert found["step"]["counts"]["merged"] == 2
    assert found["pattern"]["value"] == "/old/"
    assert found["pattern"]["counts"]["gone"] == 10
    assert found["cause"]["counts"] == {"urls": 1}
    assert found["cause"]["option"] is None
    text = workspace.command("suggest", "site").out
    for line in ("urls: {normalise: [tracking]}", "exclude: [/old/]", found["cause"]["advice"]):
        assert f"  {line}\n" in text
    assert (crawled.requests, definition(workspace)) == ([], before), "nothing is asked for or written"


def test_what_is_suggested_is_written_once(crawled: Site, url: str, workspace: Workspace) -> None:
    ended = workspace.command("suggest", "site", "--apply")
    assert definition(workspace) == WRITTEN.replace("URL", url)
    assert [line for line in ended.out.splitlines() if line.startswith("+ ")] == [
        "+     urls: {normalise: [tracking]}",
        "+     exclude: [/old/]",
    ]
    again = workspace.command("suggest", "site", "--apply", "--json")
    assert (again.code, [one["kind"] for one in again.lines]) == (0, ["cause"])
    assert definition(workspace) == WRITTEN.replace("URL", url)
    (planned,) = workspace.command("plan", "site", "--json").json["sources"]
    assert (planned["dropped"], planned["deleted"]) == (12, 0)


def test_a_list_of_defaults_is_written_out(crawled: Site, url: str, workspace: Workspace) -> None:
    file = workspace.directory / "ultracrawl.yaml"
    file.write_text(
        f"defaults: {{exclude: [/x/], urls: {{remove_params: v}}}}\n{DEFINITION}".replace("URL", url)
    )
    assert workspace.command("suggest", "site", "--apply").code == 0
    assert "    exclude: [/x/, /old/]\n" in definition(workspace)
    assert "    urls: {normalise: [tracking]}\n" in definition(workspace)


def test_lines_that_others_share_are_left_alone(crawled: Site, url: str, workspace: Workspace) -> None:
    file = workspace.directory / "ultracrawl.yaml"
    shared = DEFINITION.replace("politeness: {delay: 0}", "urls: &one {max_uri_recursion: 4}")
    shared = shared.replace("/b]", "/b], urls: *one").replace("URL", url)
    file.write_text(shared)
    ended = workspace.command("suggest", "site", "--apply")
    assert (ended.code, ended.err.count("\n"), definition(workspace)) == (2, 1, shared)


def test_a_source_that_was_never_crawled_has_nothing_to_suggest_by(url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/")
    found = mistyped(workspace.directory, "suggest", "site")
    assert (found.mistake, found.values) == (Mistake.NEVER_CRAWLED, {"name": "site"})


def test_nothing_to_suggest_is_a_success(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="words")
    workspace.define(f"{url}/")
    workspace.crawl()
    ended = workspace.command("suggest", "site")
    assert (ended.code, ended.out.count("\n")) == (0, 1)
    assert workspace.command("suggest", "site", "--json").lines == []
    before = definition(workspace)
    assert workspace.command("suggest", "site", "--apply").code == 0
    assert definition(workspace) == before


def test_files_of_other_crawlers_are_not_written(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=["/a", "/a?utm_source=x"], text="words")
    site.page("/a", title="A", text="same")
    site.page("/a?utm_source=x", title="A", text="same")
    file = workspace.directory / "collection.xml"
    file.write_text(fast_xml({"start_uris": [f"{url}/"], "delay": 0}))
    before = file.read_bytes()
    workspace.command("crawl", "-c", "collection.xml")
    (name,) = {one["source"] for one in workspace.command("urls", "-c", "collection.xml", "--json").lines}
    ended = workspace.command("suggest", name, "-c", "collection.xml", "--apply", "--json")
    assert (ended.code, ended.out, ended.err.count("\n"), file.read_bytes()) == (2, "", 1, before)
