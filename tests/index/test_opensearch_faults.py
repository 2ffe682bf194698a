"""Crawls into the engine `opensearch` whose servers are busy, full, stopped, killed, or get batches late."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from support.bulk_proxy import BulkProxy, Fault, bulk_proxy, cut_answer, keep_late, refuse, refuse_a_part
from support.clock import monotonic_time
from support.numbered import numbered_site, write_numbered
from support.opensearch import OwnNodes, forget_deletions, send
from support.project import LOOPBACK, PATIENCE, Ended, PatientWorkspace, Workspace
from support.resource import Reply
from support.server import Request
from support.site import Site
from support.until import until

from ultracrawl.index import SearchQuery
from ultracrawl.index.engine import IndexDocument, Json
from ultracrawl.index.project_index import open_index
from ultracrawl.index.writing.destination_queue import FIRST_RETRY_SECONDS
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions

pytestmark = [pytest.mark.servers, pytest.mark.timeout(900)]

PAGES = 40


@pytest.fixture
def site() -> Site:
    return numbered_site(PAGES)


ALL = sorted(["/", *(f"/{number}" for number in range(PAGES))])


def workspace_of(folder: Path, site_url: str, options: dict[str, Json]) -> Workspace:
    workspace = PatientWorkspace(folder)
    source = {"start_urls": [site_url], "boundary": LOOPBACK, "politeness": {"delay": 0}}
    workspace.write({"index": {"engine": "opensearch", **options}, "sources": {"birds": source}})
    return workspace


@pytest.fixture
def proxied(url: str, options: dict[str, Json], tmp_path: Path) -> Iterator[tuple[Workspace, BulkProxy]]:
    """A workspace whose index is behind a proxy."""
    with bulk_proxy(str(options["url"])) as (address, proxy):
        yield workspace_of(tmp_path, url, {**options, "url": address}), proxy


@pytest.mark.parametrize(
    "faults",
    [
        [refuse_a_part(429), refuse_a_part(503)],
        [refuse(503), refuse_a_part(429), refuse(429)],
    ],
    ids=["in part", "as a whole"],
)
def test_what_a_busy_server_refuses_comes_in_the_same_run(
    proxied: tuple[Workspace, BulkProxy], faults: list[Fault]
) -> None:
    workspace, proxy = proxied
    proxy.faults = faults
    run = workspace.crawl().run
    assert (run["indexed"], run["problems"]) == (PAGES + 1, [])
    assert proxy.faults == []
    assert workspace.indexed() == ALL
    assert workspace.command("index", "check").code == 0


def test_an_answer_that_is_cut_off_loses_and_doubles_nothing(proxied: tuple[Workspace, BulkProxy]) -> None:
    workspace, proxy = proxied
    proxy.faults = [cut_answer]
    assert len(workspace.crawl(code=1).run["problems"]) == 1
    sent = proxy.bulks
    assert workspace.crawl().run["problems"] == []
    assert proxy.bulks > sent, "it was sent again"
    assert workspace.indexed() == ALL
    assert workspace.search("heron number 7")[0] == "/7"


@pytest.mark.parametrize("is_restarted", [False, True], ids=["", "restarted"])
def test_a_batch_that_arrives_behind_a_later_run_changes_nothing(
    proxied: tuple[Workspace, BulkProxy], site: Site, options: dict[str, Json], is_restarted: bool
) -> None:
    workspace, proxy = proxied
    proxy.faults = [keep_late]
    workspace.crawl(code=1)
    assert (workspace.indexed(), len(proxy.late)) == ([], 1)
    site.page("/1", title="Changed", text="egret")
    site.remove("/2")
    workspace.crawl("--force")  # it sends that batch again, and a later one
    later = [one for one in ALL if one != "/2"]
    assert workspace.indexed() == later
    if is_restarted:  # servers forget deletions
        forget_deletions(options)
    statuses = proxy.deliver_late()
    assert set(statuses) == ({409, 201} if is_restarted else {409})
    assert send("POST", f"{options['url']}/{options['name']}/_refresh")
    assert workspace.search("egret") == ["/1"]
    assert ("/2" in workspace.indexed()) is is_restarted
    workspace.crawl()
    assert workspace.indexed() == later


def test_what_comes_back_during_a_run_is_gone_when_it_ends(
    proxied: tuple[Workspace, BulkProxy], site: Site, options: dict[str, Json]
) -> None:
    workspace, proxy = proxied
    proxy.faults = [keep_late]
    workspace.crawl(code=1)
    site.page("/1", title="Changed", text="egret")
    site.remove("/2")
    statuses: list[int] = []

    def overtaken(proxy: BulkProxy, body: bytes) -> tuple[int, bytes]:
        answer = proxy.pass_on(body)
        if b'{"delete"' in body and proxy.late:
            forget_deletions(options)
            statuses.extend(proxy.deliver_late())
        return answer

    proxy.faults = [overtaken] * 100
    assert workspace.crawl("--force").run["problems"] == []
    assert sorted(set(statuses)) == [201, 409]
    assert workspace.indexed() == [one for one in ALL if one != "/2"]
    assert workspace.search("egret") == ["/1"]
    assert any("point_in_time" in path for path in proxy.paths)
    proxy.paths.clear()
    workspace.crawl("--force")
    assert not any("point_in_time" in path for path in proxy.paths), "the numbers agree"


def test_a_full_disk_stops_no_crawl_and_goes_on_by_itself(
    url: str, site: Site, options: dict[str, Json], tmp_path: Path
) -> None:
    workspace = workspace_of(tmp_path, url, options)
    workspace.crawl()
    site.page("/new", title="New", text="white egret")
    site.page("/", title="Start", text="birds", links=["/new", *(f"/{number}" for number in range(PAGES))])
    site.remove("/2")
    block = f"{options['url']}/{options['name']}/_settings"
    assert send("PUT", block, {"index.blocks.read_only_allow_delete": True})
    run = workspace.crawl("--force", code=1).run
    assert run["outcomes"]["NEW"] == 1
    (problem,) = run["problems"]
    assert "read-only" in str(problem)
    assert "disk" in str(problem)
    assert workspace.indexed() == ALL
    assert send("PUT", block, {"index.blocks.read_only_allow_delete": None})
    assert workspace.crawl().run["problems"] == []
    assert workspace.indexed() == sorted(["/new", *(one for one in ALL if one != "/2")])


def test_a_crawl_goes_on_while_the_disk_is_full_and_fills_the_index_when_it_is_not(
    proxied: tuple[Workspace, BulkProxy], site: Site, options: dict[str, Json]
) -> None:
    workspace, proxy = proxied
    workspace.crawl()
    assert workspace.indexed() == ALL
    tried = list[float]()

    def noted(proxy: BulkProxy, body: bytes) -> tuple[int, bytes]:
        tried.append(monotonic_time())
        return proxy.pass_on(body)

    proxy.faults = [noted] * 1000
    write_numbered(site, PAGES, "egret")
    last = site.hold("/39")
    definition = workspace.directory / "ultracrawl.yaml"
    definition.write_text(definition.read_text().replace("index:\n", "index:\n  every: 0.2\n"))
    block = f"{options['url']}/{options['name']}/_settings"
    assert send("PUT", block, {"index.blocks.read_only_allow_delete": True})
    site.reset()
    process = workspace.start("crawl", "--force", "--json")
    read = {f"/{number}" for number in range(PAGES - 1)}
    with closing(open_index(require(read_definitions(definition)))) as index:
        until(lambda: tried and read <= site.page_paths(), process)
        assert index.search(SearchQuery("egret")).total == 0
        assert send("PUT", block, {"index.blocks.read_only_allow_delete": None})
        until(lambda: index.search(SearchQuery("egret")).total == PAGES - 1, process, PATIENCE)
    last.set()
    out, err = process.communicate(timeout=PATIENCE)
    (problem,) = Ended(process.returncode, out, err).run["problems"]
    assert "disk" in str(problem)
    assert workspace.indexed() == ALL
    first, second, *_ = tried
    assert second - first >= FIRST_RETRY_SECONDS


@pytest.fixture
def own_nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnNodes]:
    with OwnNodes(tmp_path_factory.mktemp("nodes")) as nodes:
        yield nodes


def test_a_server_that_is_stopped_and_killed_in_a_batch_loses_nothing(
    own_nodes: OwnNodes, url: str, site: Site, tmp_path: Path
) -> None:
    def stopped(proxy: BulkProxy, body: bytes) -> tuple[int, bytes]:
        own_nodes.send_signal(signal.SIGSTOP)
        threading.Timer(10, own_nodes.send_signal, [signal.SIGCONT]).start()
        return proxy.pass_on(body)

    def killed(proxy: BulkProxy, body: bytes) -> None:
        refuse_a_part(503)(proxy, body)
        own_nodes.send_signal(signal.SIGKILL)

    with bulk_proxy(own_nodes.urls[0]) as (address, proxy):
        workspace = workspace_of(tmp_path, url, {"url": address, "replicas": 0})
        proxy.faults = [stopped]
        assert workspace.crawl().run["problems"] == []
        assert workspace.indexed() == ALL
        write_numbered(site, PAGES, "egret")
        site.remove("/2")
        proxy.faults = [killed]
        assert workspace.crawl("--force", code=1).run["problems"]
        own_nodes.start()
        assert workspace.crawl().run["problems"] == []
        assert workspace.indexed() == [one for one in ALL if one != "/2"]
        assert len(workspace.search("egret", "--limit", "100")) == PAGES - 1
        assert workspace.search("heron") == []


def test_one_of_three_servers_is_shut_down_while_a_crawl_writes(
    url: str, site: Site, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with OwnNodes(tmp_path_factory.mktemp("nodes"), 3) as nodes, ExitStack() as stack:
        ending = threading.Thread(target=nodes.end_node, args=[0])

        def fault(proxy: BulkProxy, body: bytes) -> tuple[int, bytes]:
            ending.start()
            return proxy.pass_on(body)

        proxies = [stack.enter_context(bulk_proxy(node)) for node in nodes.urls]
        options: dict[str, Json] = {"url": [address for address, _ in proxies], "shards": 3, "replicas": 1}
        workspace = workspace_of(tmp_path, url, options)
        workspace.crawl()
        health = f"{nodes.urls[1]}/_cluster/health/ultracrawl"
        assert send("GET", f"{health}?wait_for_status=green&timeout=200s")
        site.page("/new", title="New", text="white egret")
        site.page(
            "/", title="Start", text="birds", links=["/new", *(f"/{number}" for number in range(PAGES))]
        )
        faults: list[Fault] = [fault]
        for _, proxy in proxies:
            proxy.faults = faults
        assert workspace.crawl("--force").run["problems"] == []
        ending.join(60)
        assert faults == []
        for _ in range(4):  # each of them is asked
            assert workspace.search("egret") == ["/new"]
        assert workspace.indexed() == sorted([*ALL, "/new"])


def test_an_index_that_is_rebuilt_while_a_crawl_writes_is_equal_to_that_of_another_engine(
    url: str, site: Site, options: dict[str, Json], tmp_path: Path
) -> None:
    paths = {name: tmp_path / name for name in ("opensearch", "whoosh")}
    for path in paths.values():
        path.mkdir()
    source = {"start_urls": [url], "boundary": LOOPBACK, "politeness": {"delay": 0}}
    ours, other = (PatientWorkspace(path) for path in paths.values())
    ours.write({"index": {"engine": "opensearch", "every": 0.2, **options}, "sources": {"birds": source}})
    other.write({"sources": {"birds": source}})
    for workspace in (ours, other):
        workspace.crawl()
    for number in range(0, PAGES, 10):
        site.page(f"/{number}", title=f"Changed {number}", text=f"{number} egrets", links=[f"/more/{number}"])
        site.page(f"/more/{number}", title=f"More {number}", text=f"{number} white egrets")
        site.remove(f"/{number + 1}")
    rebuilt: list[int] = []

    def rebuild(request: Request) -> Reply:
        if not rebuilt:
            rebuilt.append(ours.command("index", "rebuild").code)
        return Reply(200, (("Content-Type", "text/plain"),), b"the page that rebuilds")

    site.dynamic("/5", rebuild)
    crawled = ours.crawl("--force")
    assert (rebuilt, crawled.run["problems"]) == ([0], [])
    other.crawl("--force")
    assert ours.command("index", "check").code == 0
    assert documents_of(ours) == documents_of(other)


def documents_of(workspace: Workspace) -> dict[str, IndexDocument]:
    index = open_index(require(read_definitions(workspace.directory / "ultracrawl.yaml")))
    try:
        return {one.url: one for one in index.documents()}
    finally:
        index.close()
