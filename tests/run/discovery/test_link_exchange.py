"""Links that one source hands to another (`send_links_to`, `takes_links`)."""

from __future__ import annotations

from typing import Any

import pytest
from support.context import made_context
from support.project import LOOPBACK, Workspace
from support.site import Site

from ultracrawl.run.discovery import link_forwarder as link_exchange
from ultracrawl.run.discovery.link_forwarder import Inbox, waiting_links
from ultracrawl.sources import compile_source, require
from ultracrawl.sources.dialects import read_definitions


def define(workspace: Workspace, url: str, mode: str = "known", **outside: Any) -> None:
    quick = {
        "politeness": {"delay": 0},
        "limits": {"retries": 0},
        "sitemaps": {"use": False},
        "refresh": {"mode": mode},
    }
    inside = {"domains": {"include": ["*"]}, "paths": {"*": {"include": ["/in/"]}}, **LOOPBACK}
    others = {"domains": {"include": ["*"]}, "paths": {"*": {"include": ["/out/"]}}, **LOOPBACK}
    workspace.write(
        {
            "sources": {
                "inner": {
                    "start_urls": [f"{url}/in/"],
                    "boundary": inside,
                    "send_links_to": "outer",
                    "redirects": "strict",
                    **quick,
                },
                "outer": {"takes_links": True, "boundary": others, **quick, **outside},
            }
        }
    )


@pytest.fixture
def pages(site: Site) -> Site:
    site.page("/in/", title="In", links=["/in/a", "/out/b", "/never/c", "/in/gone"], text="needle")
    site.page("/in/a", title="A", links=["/out/b", "/out/d"], text="needle")
    site.redirect("/in/gone", "/out/moved")
    for path in ("/out/b", "/out/d", "/out/moved", "/never/c"):
        site.page(path, title=path, text="needle")
    return site


def test_fast_5_every_link_is_a_candidate_of_the_other_source(
    pages: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url)
    inner, outer = workspace.crawl().json["runs"]
    assert inner["outcomes"] == {"NEW": 2, "REJECTED": 1}
    assert outer["outcomes"] == {"NEW": 3}, "each once, the target of the refused redirect as well"
    assert pages.count("/never/c") == 0, "the rules of the receiver decide"
    project = require(read_definitions(workspace.directory / "ultracrawl.yaml"))
    assert list(waiting_links(project, "outer").parent.glob("outer.t*")) == [], "what was taken is forgotten"
    again = workspace.crawl("outer").run
    assert again["outcomes"] == {"NOT_MODIFIED": 3}, "they stay known without being sent again"


@pytest.mark.parametrize(("validators", "unchanged"), [(True, "NOT_MODIFIED"), (False, "UNMODIFIED")])
@pytest.mark.parametrize("mode", ["known", "scratch"])
def test_links_of_unchanged_pages_are_sent_in_each_run(
    pages: Site, url: str, workspace: Workspace, mode: str, validators: bool, unchanged: str
) -> None:
    for path, links in {
        "/in/": ["/in/a", "/out/b"],
        "/in/a": ["/out/b", "/out/d"],
        "/out/b": [],
        "/out/d": [],
    }.items():
        kept = None if validators else False
        pages.page(path, title=path, links=links, text="needle", etag=kept, modified=kept)
    define(workspace, url, mode=mode)
    workspace.crawl()
    for _ in range(3):
        inner, outer = workspace.crawl().json["runs"]
        assert inner["outcomes"] == outer["outcomes"] == {unchanged: 2}
    pages.page("/in/a", title="A", links=["/out/b"], text="needle in a page with a link less")
    _, outer = workspace.crawl().json["runs"]
    assert outer["outcomes"] == {unchanged: 2 if mode == "known" else 1}


def test_fast_5_a_link_counts_as_one_hop(pages: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url, depth=0)
    _, outer = workspace.crawl().json["runs"]
    assert (outer["outcomes"], outer["rejected_by"]["depth 0"]) == ({}, 6)


def test_a_start_url_that_another_source_links_to_stays_one(
    pages: Site, url: str, workspace: Workspace
) -> None:
    pages.page("/out/b", title="B", text="needle", links=["/out/next"])
    pages.page("/out/next", title="Next", text="needle")
    define(workspace, url, depth=1, start_urls=[f"{url}/out/b"])
    workspace.crawl()
    assert pages.count("/out/next") == 1


def test_links_wait_until_the_receiver_runs_and_survive_a_crash(
    pages: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url)
    workspace.crawl("inner")
    project = require(read_definitions(workspace.directory / "ultracrawl.yaml"))
    waiting = waiting_links(project, "outer")
    sent = waiting.read_text().splitlines()
    assert sorted(line.removeprefix(url) for line in sent) == [
        "/in/a", "/in/gone", "/never/c", "/out/b", "/out/d", "/out/moved"]  # fmt: skip
    inbox = Inbox(project, "outer")
    assert [link for batch in inbox.batches() for link in batch] == sent
    waiting.write_text(f"{url}/out/late\n")  # more comes while the first ones are not kept yet
    both = [link for batch in Inbox(project, "outer").batches() for link in batch]
    assert both == [*sent, f"{url}/out/late"]
    inbox.forget_taken()
    assert list(Inbox(project, "outer").batches()) == []


def test_what_waits_is_bounded(
    pages: Site, url: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_exchange, "MAX_FILE_BYTES", 10)
    define(workspace, url)
    project = require(read_definitions(workspace.directory / "ultracrawl.yaml"))

    source = project.sources["inner"]
    context = made_context(source, project=project, rules=compile_source(source))
    outbox = link_exchange.LinkForwarder(context)
    outbox.send(["/out/1", "/out/2"], f"{url}/in/")
    outbox.before_flush()
    assert not waiting_links(project, "outer").exists()


WRONG = {
    "unknown": ({"send_links_to": ["none"]}, "the source `none` does not exist"),
    "not taking": ({"send_links_to": ["b"]}, "the source `b` does not take links"),
}


@pytest.mark.parametrize(("options", "problem"), WRONG.values(), ids=WRONG)
def test_receivers_are_checked(workspace: Workspace, options: dict[str, Any], problem: str) -> None:
    start = {"start_urls": ["http://a.example/"]}
    workspace.write({"sources": {"a": {**start, **options}, "b": start}})
    (finding,) = read_definitions(workspace.directory / "ultracrawl.yaml").findings
    assert (finding.problem, finding.line, finding.fatal) == (problem, 6, True)
