"""Pages of equal text whose readers differ: an item, a pipeline or a class says who sees them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.project import LOOPBACK, Workspace
from support.site import Site

TEXT = "a heron stands in the shallow water and waits for a fish that does not come "
READERS = """
import json
from pathlib import Path
from itemadapter import ItemAdapter

class Readers:
    def process_item(self, item):
        told = json.loads((Path(__file__).parent / "readers.json").read_text())
        fields = ItemAdapter(item)
        fields["acl"] = told.get(fields["access_url"].rpartition("/")[2], [])
        return item
"""
NAMES = ["bb", "a", "dddd", "ccc"]


@pytest.fixture(autouse=True)
def pipeline(workspace: Workspace) -> None:
    (workspace.directory / "readers_of_pages.py").write_text(READERS)


def define(workspace: Workspace, url: str, at: int, engine: str = "whoosh", **options: Any) -> None:
    source = {
        "start_urls": [f"{url}/"],
        "boundary": LOOPBACK,
        "politeness": {"delay": 0},
        "deletion": {"percent": 100},
        "settings": {"ITEM_PIPELINES": {"readers_of_pages.Readers": at}},
    }
    workspace.write({"index": {"engine": engine}, "sources": {"s": {**source, **options}}})


def pages(site: Site, names: list[str] = NAMES) -> None:
    site.page("/", title="Start", links=[f"/{name}" for name in names], text="where everything begins")
    for name in names:
        site.page(f"/{name}", title="Heron", text=TEXT, head=f'<link rel="next" href="/from-{name}">')
        site.page(f"/from-{name}", title=name, text=f"reached from {name}")


def tell(workspace: Workspace, **readers: list[str]) -> None:
    (workspace.directory / "readers.json").write_text(json.dumps(readers))


def found(workspace: Workspace, *who: str) -> list[str]:
    words = [word for name in who for word in ("--principal", name)]
    return sorted(workspace.search("shallow", *words))


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@pytest.mark.parametrize("at", [50, 150])
@pytest.mark.parametrize("private", NAMES)
@pytest.mark.parametrize("duplicates", [{}, {"near": True}])
def test_the_public_finds_a_page_beside_a_private_twin(
    site: Site, url: str, workspace: Workspace, engine: str, at: int, private: str, duplicates: dict[str, Any]
) -> None:
    pages(site)
    tell(workspace, **{private: ["staff"]})
    define(workspace, url, at, engine, duplicates=duplicates)
    workspace.crawl()
    public = f"/{min(name for name in NAMES if name != private)}"
    assert (found(workspace), found(workspace, "staff")) == ([public], sorted([public, f"/{private}"]))
    outcomes = workspace.outcomes()
    assert sorted(outcomes[f"/{name}"] for name in NAMES) == ["DUPLICATE", "DUPLICATE", "NEW", "NEW"]
    for _ in range(2):
        workspace.crawl()
        assert (found(workspace), found(workspace, "staff")) == ([public], sorted([public, f"/{private}"]))


@pytest.mark.parametrize("at", [50, 150])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"a": ["staff"]}),
        ({"a": ["staff"]}, {}),
        ({"a": ["staff"], "bb": ["staff"]}, {"bb": ["boss"]}),
        ({"a": ["staff"], "bb": ["staff"]}, {"ccc": ["staff"], "dddd": ["staff"]}),
        ({"a": ["staff"], "ccc": ["boss"]}, {"a": ["boss"], "ccc": ["staff"]}),
    ],
)
def test_readers_that_change_lead_to_what_a_fresh_crawl_finds(
    site: Site,
    url: str,
    workspace: Workspace,
    at: int,
    before: dict[str, list[str]],
    after: dict[str, list[str]],
) -> None:
    pages(site)
    define(workspace, url, at)
    tell(workspace, **before)
    workspace.crawl()
    tell(workspace, **after)
    workspace.crawl("--force")
    first = {tuple(after.get(name, ())): f"/{name}" for name in sorted(NAMES, reverse=True)}
    fresh = [
        sorted(url for readers, url in first.items() if not readers or set(readers) & set(who))
        for who in ((), ("staff",), ("boss",))
    ]
    kept = [found(workspace, *who) for who in ((), ("staff",), ("boss",))]
    assert list(map(len, kept)) == list(map(len, fresh))
    workspace.crawl()  # of documents that became equal, the next run settles which one represents the others
    assert [found(workspace, *who) for who in ((), ("staff",), ("boss",))] == fresh


def test_a_successor_has_the_readers_of_the_document_that_left(
    site: Site, url: str, workspace: Workspace
) -> None:
    pages(site)
    tell(workspace, a=["staff"], ccc=["staff"])
    define(workspace, url, 50)
    workspace.crawl()
    assert (found(workspace), found(workspace, "staff")) == (["/bb"], ["/a", "/bb"])
    site.remove("/a")
    workspace.crawl()
    assert (found(workspace), found(workspace, "staff")) == (["/bb"], ["/bb", "/ccc"])
    site.remove("/bb")
    workspace.crawl()
    assert (found(workspace), found(workspace, "staff")) == (["/dddd"], ["/ccc", "/dddd"])


def test_links_of_a_page_that_a_pipeline_made_another_document_are_followed(
    site: Site, url: str, workspace: Workspace
) -> None:
    pages(site, ["a", "bb", "ccc"])
    tell(workspace, bb=["staff"])
    define(workspace, url, 50, duplicates={"follow_links": False})
    workspace.crawl()
    assert [site.count(f"/from-{name}") for name in ("a", "bb", "ccc")] == [1, 1, 0]


def test_documents_of_related_urls_have_the_same_readers(site: Site, url: str, workspace: Workspace) -> None:
    pages(site)
    tell(workspace, a=["staff"], ccc=["staff"])
    define(workspace, url, 50, relations={"tell": ["duplicates"]})
    workspace.crawl()
    hits = workspace.command("search", "shallow", "--principal", "staff", "--json").json["hits"]
    told = {hit["url"].removeprefix(url): hit["attributes"]["Duplicates"] for hit in hits}
    assert told == {"/a": [f"{url}/ccc"], "/bb": [f"{url}/dddd"]}


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_of_a_url_of_two_sources_the_copy_that_can_be_read_is_found(
    site: Site, url: str, workspace: Workspace, engine: str
) -> None:
    pages(site, ["a"])
    tell(workspace)
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0}}
    private = {**source, "acl": ["staff"]}
    workspace.write({"index": {"engine": engine}, "sources": {"a": private, "b": source, "c": private}})
    workspace.crawl()
    for who, total in (((), 1), (("--principal", "staff"), 1), (("--principal", "other"), 1)):
        answer = workspace.command("search", "heron", "--facet", "Host", *who, "--json").json
        assert (answer["total"], [hit["url"] for hit in answer["hits"]]) == (total, [f"{url}/a"])
        (facet,) = answer["facets"].values()
        assert [one["count"] for one in facet] == [3 if "staff" in who else 1]
        assert [hit["source"] for hit in answer["hits"]] == ["b"] or "staff" in who
        assert workspace.search("heron", "--like", f"{url}/a", *who) is not None


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@pytest.mark.parametrize("at", [50, 150])
def test_words_of_a_private_page_find_no_other_document(
    site: Site, url: str, workspace: Workspace, engine: str, at: int
) -> None:
    """Neither the texts of its links nor its URL, in the first run as in later ones, until it is public."""
    site.page("/", title="Start", text="where everything begins", links=["/secret-plan", "/open"])
    site.page("/open", title="Open", text="for everybody")
    body = '<a href="/open">dismissal of Smith</a>'
    site.page("/secret-plan", title="Plan", text="hidden", head=body)
    options = {"relations": {"referrers": 10}}
    tell(workspace, **{"secret-plan": ["staff"]})
    define(workspace, url, at, engine, **options)

    def shown(*who: str) -> tuple[list[str], list[str]]:
        words = [word for name in who for word in ("--principal", name)]
        answer = workspace.command("search", "everybody", "--json", *words).json
        (hit,) = answer["hits"]
        named = [name.removeprefix(url) for name in hit["attributes"].get("Referrers", [])]
        return sorted(workspace.search("dismissal", *words)), named

    for arguments in ((), (), ("--force",)):
        workspace.crawl(*arguments)
        assert shown() == ([], ["/"])
        assert shown("staff")[1] == ["/"]
    tell(workspace)
    workspace.crawl("--force")
    assert shown() == (["/open", "/secret-plan"], ["/", "/secret-plan"])
    tell(workspace, **{"secret-plan": ["staff"]})
    workspace.crawl("--force")
    assert shown() == ([], ["/"])
