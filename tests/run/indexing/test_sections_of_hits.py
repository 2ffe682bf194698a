"""Hits of a crawled manual name the part that answers, and lead there."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.project import LOOPBACK, Workspace
from support.site import Site

MANUAL = Path("/usr/share/doc/python3.11/html/library")
PAGES = ("heapq", "json", "os.path", "functions")

pytestmark = pytest.mark.skipif(not MANUAL.is_dir(), reason="needs the manual of Python 3.11")


@pytest.fixture
def crawled(site: Site, url: str, workspace: Workspace, request: pytest.FixtureRequest) -> Workspace:
    links = "".join(f"<li><a href=library/{name}.html>{name}</a>" for name in PAGES)
    pushing = "<a href=library/heapq.html#heapq.heappushpop>the quickest replacement</a>"
    site.file("/", f"<title>Manual</title><ul>{links}</ul>{pushing}".encode(), "text/html")
    for name in PAGES:
        site.file(f"/library/{name}.html", (MANUAL / f"{name}.html").read_bytes(), "text/html; charset=utf-8")
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0}}
    workspace.write({"index": {"path": "index", "engine": request.param}, "sources": {"manual": source}})
    workspace.crawl()
    return workspace


@pytest.mark.parametrize("crawled", ["whoosh", "tantivy"], indirect=True)
def test_questions_about_a_manual_lead_to_its_parts(crawled: Workspace) -> None:
    for query, name, anchor, begins in (
        ("heappush", "heapq", "heapq.heappush", "Push the value item onto the heap"),
        ("os.path.join", "os.path", "os.path.join", "**Join** one or more **path** segments"),
        (
            "priority queue implementation notes",
            "heapq",
            "priority-queue-implementation-notes",
            "A **priority** **queue**",
        ),
        ("quickest replacement", "heapq", "heapq.heappushpop", "Push item on the heap"),
        ('"text stream" sep', "functions", "print", "Print objects to the **text** **stream** file"),
    ):
        hit = crawled.command("search", "--json", "--as-typed", query).json["hits"][0]
        assert hit["url"].endswith(f"/library/{name}.html"), query
        assert hit["section"] is not None, query
        assert hit["section"]["url"] == f"{hit['url']}#{anchor}"
        assert hit["section"]["anchor"] == anchor
        assert hit["snippet"].startswith(begins)
    whole = crawled.command("search", "--json", "--as-typed", "heapq").json["hits"][0]
    assert (whole["section"], whole["url"].rpartition("/")[2]) == (None, "heapq.html")
    printed = crawled.command("search", "heappush").out.splitlines()
    assert printed[1].strip() == "heapq.heappush(heap, item)"
    assert printed[2].strip().endswith("/library/heapq.html#heapq.heappush")
