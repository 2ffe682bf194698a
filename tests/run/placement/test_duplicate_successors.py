"""Whatever makes the document of a content vanish, a copy is in its place at the end of the same run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.project import Workspace
from support.site import Site

STORY = "a heron stands in the shallow water and waits for a fish that does not come "
CHANNEL = "<rss version='2.0'><channel><title>Latest</title>{}</channel></rss>"


@dataclass(frozen=True)
class Reason:
    """Options of the source, what becomes of the site, and of the options, before the last run."""

    options: dict[str, Any] = field(default_factory=dict)
    happens: Callable[[Site], None] = lambda site: None
    changed: dict[str, Any] = field(default_factory=dict)
    runs: int = 1


def channel(*names: str) -> bytes:
    items = "".join(f"<item><title>entry {name}</title><link>{name}</link></item>" for name in names)
    return CHANNEL.format(items).encode()


def leave_feed(site: Site) -> None:
    site.file("/feed.xml", channel("/other"), "application/rss+xml")


def unlink(site: Site) -> None:
    site.page("/", title="Start", links=["/print/heron"], text="another beginning")


FEED = {
    "feeds": {"urls": ["{url}/feed.xml"], "delete_expired": True, "max_links": 1},
    "start_urls": ["{url}/start"],
}
ORPHANS = {"refresh": {"mode": "scratch"}, "orphans": {"after": 1, "delete": True}}
REASONS = {
    "gone": Reason(happens=lambda site: site.remove("/heron")),
    "an error rule": Reason(
        {"errors": {"http": {"5xx": "DELETE:1"}}}, lambda site: site.respond("/heron", status=500)
    ),
    "noindex": Reason(happens=lambda site: site.page("/heron", title="Heron", text=STORY, robots="noindex")),
    "robots.txt": Reason(
        {"robots": {"ttl": 0}}, lambda site: site.robots("User-agent: *\nDisallow: /heron\n")
    ),
    "a redirect": Reason(happens=lambda site: site.redirect("/heron", "/")),
    "other content": Reason(happens=lambda site: site.page("/heron", title="Egret", text="an egret")),
    "the boundary": Reason(changed={"boundary": {"uris": {"exclude": [{"exact": "{url}/heron"}]}}}),
    "a feed": Reason(FEED, leave_feed),
    "an orphan": Reason(ORPHANS, unlink, runs=3),
}


@pytest.mark.parametrize("reason", REASONS.values(), ids=REASONS)
def test_a_copy_takes_over_in_the_same_run(
    site: Site, url: str, workspace: Workspace, reason: Reason
) -> None:
    for path in ("/heron", "/print/heron"):
        site.page(path, title="Heron", text=STORY)
    site.page("/other", title="Other", text="something else")
    site.page("/", title="Start", links=["/heron", "/print/heron"], text="where everything begins")
    site.page("/start", title="Start", links=["/print/heron"], text="another start")
    site.file("/feed.xml", channel("/heron"), "application/rss+xml")
    define(workspace, url, reason.options)
    workspace.crawl()
    assert workspace.search("shallow") == ["/heron"]
    reason.happens(site)
    define(workspace, url, {**reason.options, **reason.changed})
    for _ in range(reason.runs):
        workspace.crawl()
        assert len(workspace.search("shallow")) == 1, "at no time is it missing, or there twice"
    assert workspace.search("shallow") == ["/print/heron"]


def define(workspace: Workspace, url: str, options: dict[str, Any]) -> None:
    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: filled(one) for name, one in value.items()}
        if isinstance(value, list):
            return [filled(one) for one in value]
        return value.format(url=url) if isinstance(value, str) else value

    workspace.define(f"{url}/", **filled(options))


def test_a_page_outside_the_boundary_is_forgotten_when_its_copy_is_in(
    site: Site, url: str, workspace: Workspace
) -> None:
    for path in ("/heron", "/print/heron"):
        site.page(path, title="Heron", text=STORY)
    site.page("/", title="Start", links=["/heron", "/print/heron"], text="where everything begins")
    workspace.define(f"{url}/")
    workspace.crawl()
    site.reset()
    workspace.define(f"{url}/", boundary={"uris": {"exclude": [{"exact": f"{url}/heron"}]}})
    run = workspace.crawl().run
    assert (run["indexed"], run["deleted"]) == (1, 1)
    assert site.count("/heron") == 0, "it is not asked for"
    assert "/heron" not in workspace.urls()
    assert workspace.indexed() == ["/", "/print/heron"]
    assert workspace.crawl().run["problems"] == []
    assert workspace.indexed() == ["/", "/print/heron"]
