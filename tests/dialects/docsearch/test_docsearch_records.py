"""Files of scrapers as people publish them: what a search engine gets is what a DocSearch scraper would send.

Each file of `shapes` has a configuration, a small site, and the records: type, URL, titles by level, text, and weight.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.project import LOOPBACK, Workspace
from support.search_engines import ENGINES, Engine, Meilisearch, OpenSearch, Typesense
from support.server import answering
from support.site import Site

FOLDER = Path(__file__).parent / "shapes"
SHAPES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
KINDS = ("meilisearch", "typesense", "opensearch")
Row = list[Any]


def shape(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((FOLDER / f"{name}.yaml").read_text()))


@pytest.fixture
def kind() -> str:
    return "meilisearch"


@pytest.fixture
def engine(kind: str) -> Engine:
    return ENGINES[kind]()


@pytest.fixture
def server(engine: Engine) -> Iterator[str]:
    with answering(engine.answer) as address:
        yield address


def publish(site: Site, pages: dict[str, str], sitemap: list[str] | None = None) -> None:
    for path, text in pages.items():
        site.file(path, text.encode(), "text/html; charset=utf-8")
    if sitemap:
        site.sitemap("/sitemap.xml", sitemap)


def define(workspace: Workspace, url: str, config: dict[str, Any], kind: str, server: str) -> None:
    """Convert a file as the documentation says, and name the search engine as the destination."""
    text = json.dumps(config, indent=1).replace("{site}", url)
    (workspace.directory / "docsearch.json").write_text(text)
    converted = yaml.safe_load(workspace.command("convert", "docsearch.json").out)
    converted["destinations"] = {
        "box": {
            "type": kind,
            "url": server,
            "collection": "docs",
            "key": "k",
            "records": "docsearch",
            "networks": LOOPBACK["networks"],
        }
    }
    (source,) = converted["sources"].values()
    source["feeding"] = {"destinations": {"box": {"destination": "box", "primary": True}}}
    workspace.write(converted)


def in_order(engine: Engine) -> list[dict[str, Any]]:
    """Return the records by page and position."""
    if isinstance(engine, OpenSearch):
        engine.records, engine.unseen = engine.records | engine.unseen, {}
    return sorted(
        engine.records.values(), key=lambda one: (one["url_without_anchor"], one["weight"]["position"])
    )


def rows(engine: Engine, url: str) -> list[Row]:
    """Return each record as a row, after a look at what follows from the row."""
    found: list[Row] = []
    for one in in_order(engine):
        titles, kind, weight = one["hierarchy"], one["type"], one["weight"]
        assert list(titles) == [f"lvl{level}" for level in range(7)]
        assert one["objectID"] == one["id"]
        assert one["url"] == one["url_without_anchor"] + (f"#{one['anchor']}" if one["anchor"] else "")
        assert (one["content"] is None) is (kind != "content")
        assert weight["level"] == (0 if kind == "content" else 100 - 10 * int(kind[3:]))
        shown = {level: title for level, title in one["hierarchy_radio"].items() if title is not None}
        deepest = [level for level, title in titles.items() if title is not None][-1:]
        assert shown == ({} if kind == "content" else {level: titles[level] for level in deepest})
        levels = list(titles.values())
        while levels and levels[-1] is None:
            levels.pop()
        place = one["url"].removeprefix(url)
        found.append([kind, place, levels, one["content"], weight["position"], weight["page_rank"]])
    return found


def further(engine: Engine, url: str) -> dict[str, dict[str, Any]]:
    """Return, by page, what records have beside the fields that all have; it is the same in all of a page."""
    usual = {
        "id", "objectID", "document", "source", "url", "url_without_anchor", "anchor", "title", "acl", "public",
        "depth", "attributes", "content", "type", "hierarchy", "hierarchy_radio", "weight", "item_priority",
        "level", "position", "page_rank",
    }  # fmt: skip
    found: dict[str, dict[str, Any]] = {}
    for one in in_order(engine):
        own = {
            name: value
            for name, value in one.items()
            if name not in usual and not name.startswith("hierarchy_") and value != []
        }
        page = one["url_without_anchor"].removeprefix(url)
        assert found.setdefault(page, own) == own
    return {page: own for page, own in found.items() if own}


@pytest.mark.parametrize(
    ("name", "kind"), [(name, KINDS[number % len(KINDS)]) for number, name in enumerate(SHAPES)]
)
def test_records_are_those_of_a_scraper(
    name: str, kind: str, engine: Engine, server: str, site: Site, url: str, workspace: Workspace
) -> None:
    described = shape(name)
    publish(site, described["pages"], described.get("sitemap"))
    define(workspace, url, described["config"], kind, server)
    workspace.crawl()
    assert {"records": rows(engine, url), "further": further(engine, url)} == {
        "records": described.get("records"),
        "further": described.get("further", {}),
    }


# ---- what a box asks for


def filterable(engine: Engine) -> set[str]:
    """Return the fields that a filter may name as a whole value."""
    if isinstance(engine, Meilisearch):
        return set(engine.filterable)
    if isinstance(engine, Typesense):
        return {one["name"] for one in engine.fields if one.get("facet")}
    assert isinstance(engine, OpenSearch)
    return {name for name, one in engine.mapping["properties"].items() if one["type"] == "keyword"}


@pytest.mark.parametrize("kind", KINDS)
def test_contextual_search_finds_pages_by_language_and_tag(
    engine: Engine, server: str, site: Site, url: str, workspace: Workspace, kind: str
) -> None:
    """Docusaurus asks for `language:en`, and for one of several `docusaurus_tag`."""
    described = shape("docusaurus_v2")
    publish(site, described["pages"])
    define(workspace, url, described["config"], kind, server)
    workspace.crawl()
    assert filterable(engine) >= {"language", "docusaurus_tag", "version", "tags", "type"}
    tags = {"default", "docs-default-current"}

    def found(language: str) -> set[str]:
        of_language = (one for one in in_order(engine) if one.get("language") == language)
        return {one["url"].removeprefix(url) for one in of_language if one.get("docusaurus_tag") in tags}

    assert found("en") == {"/docs/", "/docs/#ropes", "/docs/#knots"}
    assert found("de") == set(), "its page has no tag"


def test_records_of_headings_that_went_leave_the_engine(
    engine: Engine, server: str, site: Site, url: str, workspace: Workspace
) -> None:
    def page(*headings: str) -> str:
        return "".join(f"<h2 id={name}>{name}</h2><p>About {name}</p>" for name in headings)

    config = {
        "index_name": "docs",
        "start_urls": ["{site}/"],
        "selectors": {"lvl0": "h1", "lvl1": "h2", "text": "p"},
    }
    start = "<a href=/b>b</a><h1 id=head>Top</h1>"
    publish(site, {"/": start + page("one", "two", "three"), "/b": page("b")})
    define(workspace, url, config, "meilisearch", server)
    for headings in (["one", "two", "three"], ["two"], ["two"], ["two", "new", "last"], []):
        site.file("/", (start + page(*headings)).encode(), "text/html")
        workspace.crawl()
        assert [row[1] for row in rows(engine, url)] == [
            "/#head",
            *(f"/#{name}" for name in headings for _ in range(2)),
            "/b#b",
            "/b#b",
        ]
    site.gone("/b")
    workspace.crawl()
    assert [row[1] for row in rows(engine, url)] == ["/#head"]


def test_the_title_of_a_page_plays_no_part(
    engine: Engine, server: str, site: Site, url: str, workspace: Workspace
) -> None:
    body = "<h1 id=a>Alpha</h1><h3 id=b>Beta</h3><p>text</p>"
    config = {
        "index_name": "docs",
        "start_urls": ["{site}/"],
        "selectors": {"lvl0": "h1", "lvl1": "h2", "lvl2": "h3", "text": "p"},
    }
    define(workspace, url, config, "meilisearch", server)
    for title in ("Alpha", "Beta", "Another", ""):
        site.file("/", f"<title>{title}</title>{body}".encode(), "text/html")
        workspace.crawl("--force")
        assert [row[2] for row in rows(engine, url)] == [
            ["Alpha"],
            ["Alpha", None, "Beta"],
            ["Alpha", None, "Beta"],
        ]
