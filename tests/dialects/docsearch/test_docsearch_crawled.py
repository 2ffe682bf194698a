"""Files of DocSearch scrapers, crawled as they stand, several times, and beside another source."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from support.project import Workspace
from support.site import Site


def guide(name: str, *links: str, text: str = "") -> bytes:
    followed = "".join(f"<a href={link}>x</a>" for link in links)
    return (
        f"<title>{name}</title><nav><b class=active>Guide</b></nav>{followed}<main><h1 id=top-{name}>{name}</h1>"
        f"<p>About {name}.</p><h2 id=care>Care</h2><p>{text or name} needs oil.</p></main>"
    ).encode()


@pytest.fixture
def docs(site: Site) -> Site:
    site.file("/docs/", guide("start", "/docs/pumps", "/docs/old/x", "/blog/a", "/docs/empty"), "text/html")
    site.file("/docs/pumps", guide("pumps", "/docs/seals"), "text/html")
    site.file("/docs/seals", guide("seals"), "text/html")
    site.file("/docs/empty", b"<title>Nothing</title><p>No main part</p>", "text/html")
    site.file("/docs/old/x", guide("old"), "text/html")
    site.file("/blog/a", guide("blog"), "text/html")
    site.sitemap("/docs.xml", ["/docs/hidden", "/blog/b"])
    site.file("/docs/hidden", guide("hidden"), "text/html")
    site.file("/blog/b", guide("blogb"), "text/html")
    return site


def definition(url: str) -> dict[str, Any]:
    return {
        "index_name": "manual",
        "start_urls": [
            {"url": f"{url}/docs/pumps", "tags": ["pump"], "page_rank": 9},
            f"{url}/docs/",
        ],
        "stop_urls": ["/old/"],
        "sitemap_urls": [f"{url}/docs.xml"],
        "selectors": {
            "lvl0": {"selector": ".active", "global": True, "default_value": "Docs"},
            "lvl1": "main h1",
            "lvl2": "main h2",
            "text": "main p",
        },
        "nb_hits": 12,
    }


def write(workspace: Workspace, data: dict[str, Any]) -> None:
    (workspace.directory / "docsearch.json").write_text(json.dumps(data, indent=2))


def crawl(workspace: Workspace, site: Site, file: str = "docsearch.json") -> list[str]:
    site.reset()
    workspace.crawl("-c", file)
    return sorted(path for path in site.paths() if path != "/robots.txt")


def hits(workspace: Workspace, *words: str) -> list[dict[str, Any]]:
    found = workspace.command(
        "search", "--as-typed", "-c", "docsearch.json", "--json", "--sections", "2", *words
    )
    return list(found.json["hits"])


PAGES = ["/docs/", "/docs/empty", "/docs/hidden", "/docs/pumps", "/docs/seals"]


def test_a_scraper_s_file_is_crawled_incrementally(docs: Site, url: str, workspace: Workspace) -> None:
    write(workspace, definition(url))
    first = crawl(workspace, docs)
    assert [path for path in first if path != "/docs.xml"] == PAGES
    assert first.count("/docs.xml") == 1
    found = {hit["url"].removeprefix(url): hit for hit in hits(workspace, "oil")}
    assert {path.partition("#")[0] for path in found} == {
        "/docs/",
        "/docs/hidden",
        "/docs/pumps",
        "/docs/seals",
    }
    assert hits(workspace, "nothing") == []
    (best, *_) = hits(workspace, "oil")
    assert best["url"].startswith(f"{url}/docs/pumps"), "its rank is the highest"
    assert [hit["url"] for hit in hits(workspace, "oil", "tags:pump")] == [best["url"]]
    assert len(hits(workspace, "oil", "lvl0:Guide")) == 4

    for run in ("second", "third"):
        crawl(workspace, docs)
        assert docs.bodies == 0, f"the {run} run asks, and nothing has changed"
    docs.file("/docs/seals", guide("seals", text="Rubber"), "text/html")
    crawl(workspace, docs)
    assert docs.bodies == 1
    assert [hit["url"].partition("#")[0] for hit in hits(workspace, "rubber")] == [f"{url}/docs/seals"]
    crawl(workspace, docs)
    assert docs.bodies == 0


def test_hits_name_the_section_by_its_level(docs: Site, url: str, workspace: Workspace) -> None:
    page = (
        "<main><h1 id=a>Pumps</h1><p>Water.</p><div class=term id=b>Valve:</div><p>Brass and oil.</p></main>"
    )
    docs.file("/docs/pumps", page.encode(), "text/html")
    data = definition(url)
    data["selectors"]["lvl2"] = "main .term"
    write(workspace, data)
    crawl(workspace, docs)
    (hit,) = hits(workspace, "brass")
    assert (hit["section"]["title"], hit["section"]["anchor"]) == ("Valve", "b")


def test_the_converted_file_asks_for_the_same(docs: Site, url: str, workspace: Workspace) -> None:
    write(workspace, definition(url))
    first = crawl(workspace, docs)
    text = workspace.command("convert", "docsearch.json").out
    converted = yaml.safe_load(text)
    converted["state"] = {"path": "other/state"}
    converted["index"] = {**converted["index"], "path": "other/index"}
    converted["cache"] = {"path": "other/cache"}
    (workspace.directory / "ultracrawl.yaml").write_text(yaml.safe_dump(converted))
    assert crawl(workspace, docs, "ultracrawl.yaml") == first


def test_a_source_beside_it_is_not_concerned(docs: Site, url: str, workspace: Workspace) -> None:
    write(workspace, definition(url))
    workspace.define(
        f"{url}/blog/a", boundary={"uris": {"include": [f"{url}/blog/"]}}, sitemaps={"use": False}
    )
    workspace.crawl()
    crawl(workspace, docs)
    docs.reset()
    workspace.crawl()
    assert set(docs.paths()) - {"/robots.txt"} == {"/blog/a"}
    assert docs.bodies == 0
