"""A run that ended by itself and left URLs queued: they were lost, and the next crawl begins anew with everything."""

from __future__ import annotations

import json
from dataclasses import replace

from support.project import Workspace
from support.site import Site

from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores import QueueEntry
from ultracrawl.stores.opening import open_state


def lose(workspace: Workspace, url: str) -> None:
    """Leave the state as a crawl left it that took a URL from the queue and never ended its visit."""
    state = open_state(require(read_definitions(workspace.directory / "ultracrawl.yaml")), "site")
    state.queue.requeue_url(QueueEntry(url_key(url), url, site_of(url), 1, state.queue.next_seq()))
    state.flush()
    (latest,) = state.runs(1)
    report = json.loads(latest.report)
    report.pop("left", None)
    state.end_run(replace(latest, finished=0.0, report=json.dumps(report)))
    state.close()


def test_a_url_that_was_lost_holds_up_no_refresh(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=["/a", "/b"], text="words")
    site.page("/a", title="A", text="heron")
    site.page("/b", title="B", text="words of b")
    workspace.define(f"{url}/")
    workspace.crawl()
    lose(workspace, f"{url}/b")
    site.change("/a", text="bittern")
    run = workspace.crawl().run
    assert (run["resumed"], run["outcomes"]) == (False, {"MODIFIED": 1, "NOT_MODIFIED": 2})
    assert workspace.search("bittern") == ["/a"]
    assert workspace.crawl().run["resumed"] is False


def test_a_run_that_somebody_closed_goes_on(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=[f"/{number}" for number in range(9)], text="words")
    for number in range(9):
        site.page(f"/{number}", title=str(number), text=f"words {number}")
    slow = {"delay": 0.01, "concurrency": 1}
    workspace.define(f"{url}/", politeness=slow, settings={"CLOSESPIDER_PAGECOUNT": 3})
    workspace.crawl(code=None)
    workspace.define(f"{url}/", politeness=slow)
    run = workspace.crawl().run
    assert run["resumed"] is True
    assert len(workspace.search("words")) == 10
