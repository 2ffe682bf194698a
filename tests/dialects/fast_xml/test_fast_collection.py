"""FAST collections in real crawls: the XML file as it stands decides what is fetched, kept and deleted."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from support.fast import fast_options, fast_xml
from support.network import NetworkSite
from support.project import Ended, Workspace
from support.sentences import sentence
from support.site import Site

QUICK = {"delay": 0.0, "max_pending": 4, "use_sitemaps": False}


class Collection:
    """A collection's file in a workspace, and the commands that use it."""

    def __init__(self, workspace: Workspace, url: str) -> None:
        self.workspace = workspace
        self.url = url
        self.file = workspace.directory / "collection.xml"

    def write(self, inside: str = "", **options: Any) -> None:
        """Write the file; two underscores stand for the slash behind a section."""
        named = {name.replace("__", "/"): value for name, value in options.items()}
        start = {} if "start_uris" in named else {"start_uris": (f"{self.url}/",)}
        self.file.write_text(fast_xml({**QUICK, **start, **named}, inside=inside))

    def command(self, *words: str) -> Ended:
        return self.workspace.command(*words, "-c", "collection.xml")

    def crawl(self) -> dict[str, Any]:
        """Run a crawl and return its report."""
        ended = self.command("crawl", "--json")
        assert ended.code == 0, ended.err
        return ended.run

    def outcomes(self) -> dict[str, str]:
        rows = self.command("urls", "--json").lines
        return {"/" + row["access_url"].split("/", 3)[3]: row["outcome"] for row in rows}

    def found(self, word: str) -> list[str]:
        hits = self.command("search", "--json", "--as-typed", "--limit", "100", word).json["hits"]
        return sorted("/" + hit["url"].split("/", 3)[3] for hit in hits)


@pytest.fixture
def collection(workspace: Workspace, url: str) -> Collection:
    return Collection(workspace, url)


@pytest.fixture
def pages(site: Site) -> Site:
    site.page(
        "/", title="Home", text="needle", links=["/docs/a", "/docs/b", "/private/c", "/pic.png", "/old"]
    )
    site.page("/docs/a", title="A", text="needle", links=["/docs/a/deep"])
    site.page("/docs/a/deep", title="Deep", text="needle", links=["/docs/a/deep/er"])
    site.page("/docs/a/deep/er", title="Deeper", text="needle")
    site.page("/docs/b", title="B", text="needle", robots="noindex", links=["/docs/from-b"])
    site.page("/docs/from-b", title="From B", text="needle")
    site.page("/private/c", title="C", text="needle")
    site.file("/pic.png", b"\x89PNG", "image/png")
    site.redirect("/old", "/docs/new")
    site.page("/docs/new", title="New", text="needle")
    return site


@pytest.mark.parametrize(
    ("refresh", "requests"), [(True, [200, 304]), (False, [200, 200])], ids=["fast_23-yes", "fast_23-no"]
)
def test_conditional_requests(site: Site, collection: Collection, refresh: bool, requests: list[int]) -> None:
    site.page("/", title="Home", text="needle")
    collection.write(if_modified_since=refresh)
    collection.crawl()
    run = collection.crawl()
    assert site.statuses("/") == requests
    assert run["outcomes"] == {"NOT_MODIFIED" if refresh else "UNMODIFIED": 1}


def test_fast_24_user_agent_and_its_group_in_robots(pages: Site, collection: Collection) -> None:
    pages.robots("User-agent: examplebot\nDisallow: /private/\n\nUser-agent: *\nDisallow: /\n")
    collection.write(headers=("User-Agent: ExampleBot/1.0 (+http://a.example/)",))
    collection.crawl()
    assert pages.count("/docs/a") == 1
    assert pages.count("/private/c") == 0
    sent = {request.header("User-Agent") for request in pages.requests}
    assert sent == {"ExampleBot/1.0 (+http://a.example/)"}


def test_explain_lint_and_convert_work_on_the_file(pages: Site, collection: Collection) -> None:
    collection.write(exclude_uris__prefix=(f"{collection.url}/private/",), mufilter=500000000)
    explained = collection.command("explain", f"{collection.url}/private/c", "--json").json
    assert explained["accept"] is False
    linted = collection.workspace.command("lint", "collection.xml")
    assert (linted.code, linted.out.count("\n")) == (0, 1)
    assert collection.workspace.command("lint", "--strict", "collection.xml").code == 2
    assert sentence("fast.no_effect_on_one_node") in linted.out
    converted = collection.workspace.command("convert", "collection.xml", "-o", "ultracrawl.yaml")
    assert converted.code == 0, converted.err
    assert "N-CLUSTER" in converted.err
    again = collection.workspace.command("convert", "collection.xml", "-o", "ultracrawl.yaml")
    assert (again.code, "exists already" in again.err) == (2, True)
    assert collection.workspace.command("lint").out == ""
    assert collection.workspace.crawl("-c", "ultracrawl.yaml").run["outcomes"]
    assert collection.found("needle"), "both files name the same data"


def test_a_collection_that_cannot_be_read_is_one_line(workspace: Workspace) -> None:
    (workspace.directory / "collection.xml").write_text("<CrawlerConfig>\n" + fast_options({"delay": 1}))
    for verb in (("crawl",), ("explain", "http://a.example/"), ("status",)):
        ended = workspace.command(*verb, "-c", "collection.xml")
        assert ended.code == 2
        assert ended.err.startswith(sentence("fast.not_well_formed"))
        assert ended.err.count("\n") == 1


def test_fast_5_32_a_collection_and_its_part_share_a_site(pages: Site, collection: Collection) -> None:
    """What the collection finds for its sub-collection is crawled there, and the other way round."""
    rules = fast_options({"include_uris/prefix": (f"{collection.url}/docs/",), "crawlmode/mode": "DEPTH:1"})
    collection.write(f'<SubDomain name="docs">{rules}</SubDomain>')
    pages.page("/docs/new", title="New", text="needle", links=["/elsewhere"])
    pages.page("/elsewhere", title="Else", text="needle")
    runs = collection.command("crawl", "--json").json["runs"]
    assert [run["source"] for run in runs] == ["handbook", "handbook.docs"]
    assert collection.found("needle") == ["/", "/docs/a", "/docs/new", "/private/c"], (
        "one hop, a redirect is none"
    )
    collection.command("crawl", "--json")
    assert "/elsewhere" in collection.found("needle"), "the next cycle takes what the other one sent"


def test_fast_5_32_what_a_part_excludes_the_collection_crawls(pages: Site, collection: Collection) -> None:
    """The collection has rules about its hosts, the part about URIs: both find what is theirs."""
    rules = fast_options(
        {"include_uris/prefix": (f"{collection.url}/docs/",), "exclude_uris/suffix": ("/docs/a",)}
    )
    collection.write(f'<SubDomain name="docs">{rules}</SubDomain>', include_domains__exact=("127.0.0.1",))
    for _ in range(2):  # what the part finds for the collection is fetched by the next cycle
        collection.command("crawl", "--json")
    rows = collection.command("urls", "--json").lines
    owners = {urlsplit(row["access_url"]).path: row["source"] for row in rows}
    assert owners["/"] == owners["/docs/a"] == owners["/private/c"] == "handbook"
    assert owners["/docs/b"] == owners["/docs/new"] == owners["/docs/a/deep"] == "handbook.docs"
    assert pages.count("/docs/a") == 2, "once in each cycle"


def test_fast_5_send_links_to(pages: Site, collection: Collection) -> None:
    other = fast_options(
        {"start_uris": (f"{collection.url}/docs/b",), "delay": 0.0, "crawlmode/mode": "DEPTH:1"}
    )
    inside = f'</DomainSpecification><DomainSpecification name="other">{other}'
    collection.write(inside, send_links_to="other", exclude_uris__prefix=(f"{collection.url}/private/",))
    collection.command("crawl", "--json")
    hits = collection.command(
        "search", "--json", "--as-typed", "--limit", "100", "--source", "other", "needle"
    ).json["hits"]
    assert f"{collection.url}/private/c" in {hit["url"] for hit in hits}, (
        "what the sender does not crawl itself"
    )


@pytest.mark.parametrize("opened", [False, True], ids=["closed", "opened"])
def test_an_intranet_is_reached_if_the_file_beside_opens_it(
    pages: Site, collection: Collection, opened: bool
) -> None:
    """Another address of this machine stands for an inner host that a link leads to."""
    inner = NetworkSite()
    inner.page("/inner", title="Inner", text="needle")
    with inner.serve(host="127.0.0.77") as address:
        pages.page("/docs/b", title="B", links=[f"{address}/inner"])
        if opened:
            (collection.workspace.directory / "networks.txt").write_text("127.0.0.64/26\n")
        collection.write()
        collection.crawl()
        explained = collection.command("explain", f"{address}/inner", "--json").json
    assert inner.count("/inner") == opened
    assert ("/inner" in collection.found("needle")) is opened
    assert explained["accept"] is opened


def test_items_whose_deletion_was_held_back_leave_when_a_person_says_so(
    site: Site, collection: Collection
) -> None:
    leaves = [f"/{number}" for number in range(30)]
    site.page("/", title="Home", text="needle", links=leaves)
    for path in leaves:
        site.page(path, title=path, text="needle")
    collection.write()
    collection.crawl()
    for path in leaves:
        site.remove(path)
    assert collection.command("crawl").code == 1
    assert len(collection.found("needle")) == 31
    listed = collection.command("admin", "approve-deletions", "handbook", "--list", "--json")
    assert listed.code == 0, listed.err
    assert len(listed.json["documents"]) == 30
    assert len(collection.found("needle")) == 31
    assert collection.command("admin", "approve-deletions", "handbook").code == 0
    assert collection.found("needle") == ["/"]
