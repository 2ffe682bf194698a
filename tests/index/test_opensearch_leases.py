"""Two crawls of one source on two machines: what the one that stood still sends late does not undo the other's work."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.bulk_proxy import BulkProxy, bulk_proxy, keep_late
from support.numbered import numbered_site, write_numbered
from support.opensearch import OwnNodes, send
from support.project import LOOPBACK, PATIENCE, PatientWorkspace, kill_group
from support.site import Site
from support.until import until

from ultracrawl.index.engine import Json

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(1200)]

LEASE = {"ULTRACRAWL_LEASE_SECONDS": "4"}
PAGES = 10
ALL = sorted(["/", *(f"/{number}" for number in range(PAGES))])


@pytest.fixture
def site() -> Site:
    return numbered_site(PAGES)


class Machine(PatientWorkspace):
    """A machine with a folder of its own; the state and the index are common to all."""

    def __init__(self, folder: Path, site: str, database: str, options: dict[str, Json]) -> None:
        super().__init__(folder)
        folder.mkdir()
        self.write(
            {
                "state": {
                    "engine": "postgresql",
                    "url": database,
                    "schema_name": str(options["name"]).replace("-", "_"),
                },
                "index": {"engine": "opensearch", "every": 0.2, "retry": 1, **options},
                "sources": {
                    "birds": {"start_urls": [site], "boundary": LOOPBACK, "politeness": {"delay": 0}}
                },
            }
        )

    @property
    def waiting(self) -> list[Path]:
        """The segments that wait in its document cache."""
        return list(self.directory.rglob("*.sealed"))

    def begin(self, *words: str) -> subprocess.Popen[str]:
        """Start a crawl."""
        return self.start("crawl", "--json", *words, hosted=False, **LEASE)

    def take_over(self, *words: str) -> None:
        """Crawl the source when the lease of the crawl that stands still is over."""
        until(lambda: not self.crawl(*words, code=None, hosted=False, **LEASE).code, patience=PATIENCE)


@pytest.fixture
def machines(
    url: str, database: str, options: dict[str, Json], tmp_path: Path
) -> Iterator[tuple[Machine, Machine, BulkProxy]]:
    """Two machines, and the proxy between the first one and the index."""
    with bulk_proxy(str(options["url"])) as (address, proxy):
        one = Machine(tmp_path / "one", url, database, {**options, "url": address})
        yield one, Machine(tmp_path / "other", url, database, options), proxy


def test_a_crawl_that_lost_its_source_sends_nothing_and_its_changes_wait(
    machines: tuple[Machine, Machine, BulkProxy], site: Site
) -> None:
    one, other, proxy = machines
    reached, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        reached.set()
        go_on.wait(PATIENCE)

    last = site.hold("/9")
    stopped = one.begin()
    try:
        until(site.page_paths, stopped, PATIENCE)
        proxy.before = hold  # the index process asks for the index before it writes
        until(reached.is_set, stopped, PATIENCE)
        stopped.send_signal(signal.SIGSTOP)
        last.set()
        other.take_over()
        other.crawl(hosted=False, **LEASE)  # what waits on the first machine is fetched again
        assert other.indexed() == ALL
        go_on.set()  # now it could write
        stopped.send_signal(signal.SIGCONT)
        stopped.communicate(timeout=PATIENCE)
    finally:
        go_on.set()
        kill_group(stopped)
    assert stopped.returncode
    assert (proxy.bulks, len(one.waiting)) == (0, 1)
    assert "/_aliases" not in " ".join(proxy.paths)
    assert one.crawl(hosted=False, **LEASE).run["problems"] == []
    assert not proxy.bulks, "the other machine has made again what waited"
    assert (one.waiting, other.indexed()) == ([], ALL)


def test_a_bulk_that_arrives_behind_the_other_crawl_changes_nothing(
    machines: tuple[Machine, Machine, BulkProxy], site: Site, url: str, options: dict[str, Json]
) -> None:
    one, other, proxy = machines
    stopped = overtake(one, other, proxy, site, url)
    try:
        assert set(proxy.deliver_late()) == {404}
        assert send("POST", f"{options['url']}/{options['name']}/_refresh")
        assert other.indexed() == LEFT
        assert other.search("egret") == ["/1"]
        stopped.send_signal(signal.SIGCONT)
        stopped.communicate(timeout=PATIENCE)
    finally:
        kill_group(stopped)
    assert other.indexed() == LEFT
    proxy.faults.clear()
    one.crawl(hosted=False, **LEASE)  # with what still waits there
    assert (one.waiting, other.indexed(), other.search("egret")) == ([], LEFT, ["/1"])


def test_a_bulk_that_arrives_behind_a_restart_of_the_servers_changes_nothing(
    url: str, database: str, site: Site, tmp_path: Path
) -> None:
    with OwnNodes(tmp_path / "nodes") as nodes, bulk_proxy(nodes.urls[0]) as (address, proxy):
        options: dict[str, Json] = {"url": nodes.urls[0], "name": "restarted", "shards": 1, "replicas": 0}
        one = Machine(tmp_path / "one", url, database, {**options, "url": address})
        other = Machine(tmp_path / "other", url, database, options)
        stopped = overtake(one, other, proxy, site, url)
        kill_group(stopped)
        assert send("POST", f"{nodes.urls[0]}/restarted/_flush")  # else its log has the deletion
        nodes.send_signal(signal.SIGKILL)
        nodes.start()
        assert set(proxy.deliver_late()) == {404}
        assert send("POST", f"{nodes.urls[0]}/restarted/_refresh")
        assert other.indexed() == LEFT
        assert other.search("egret") == ["/1"]
        proxy.faults.clear()
        assert one.crawl(hosted=False, **LEASE).run["problems"] == []  # with what still waits there
        assert (one.waiting, other.indexed(), other.search("egret")) == ([], LEFT, ["/1"])
        assert len(writers(nodes.urls[0], "restarted")) == 1
        assert other.command("remove", "birds", "--yes", hosted=False, **LEASE).code == 0
        assert (other.indexed(), writers(nodes.urls[0], "restarted")) == ([], [])


def writers(url: str, name: str) -> list[str]:
    """Return the aliases by which sources are written to an index."""
    found = send("GET", f"{url}/{name}-writes-*/_alias")
    assert isinstance(found, dict)
    return [alias for one in found.values() for alias in one["aliases"] if alias != name]


LEFT = [one for one in ALL if one != "/2"]


def overtake(one: Machine, other: Machine, proxy: BulkProxy, site: Site, url: str) -> subprocess.Popen[str]:
    """Stop a crawl whose bulk request is on its way; the other machine then changes a document and deletes one.

    Returns the stopped crawl.
    """

    def keep_removed(proxy: BulkProxy, body: bytes) -> tuple[int, bytes] | None:
        return keep_late(proxy, body) if f'"{url}/2"'.encode() in body else proxy.pass_on(body)

    assert other.crawl(hosted=False, **LEASE).run["problems"] == []
    assert other.indexed() == ALL
    write_numbered(site, PAGES, "crane")
    last = site.hold("/9")
    proxy.faults = [keep_removed] * 1000
    stopped = one.begin("--force")
    try:
        until(lambda: proxy.late, stopped, PATIENCE)
        stopped.send_signal(signal.SIGSTOP)
    except BaseException:
        kill_group(stopped)
        raise
    last.set()
    site.page("/1", title="Changed", text="egret")
    site.remove("/2")
    other.take_over("--force")
    assert other.crawl("--force", hosted=False, **LEASE).run["problems"] == []
    assert other.indexed() == LEFT
    return stopped
