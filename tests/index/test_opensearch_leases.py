"""Two crawls of one source on two machines: what the one that stood still sends late does not undo the other's work."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.bulk_proxy import BulkProxy, bulk_proxy
from support.opensearch import own_index
from support.postgresql import postgresql_server
from support.project import LOOPBACK, Workspace, kill_group
from support.site import Site
from support.until import until

from ultracrawl.index.engine import Json

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(600)]

LEASE = {"ULTRACRAWL_LEASE_SECONDS": "4"}
PAGES = 10
PATIENCE = 300.0
ALL = sorted(["/", *(f"/{number}" for number in range(PAGES))])


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with postgresql_server() as url:
        yield url


@pytest.fixture
def site() -> Site:
    made = Site()
    made.page("/", title="Start", text="birds", links=[f"/{number}" for number in range(PAGES)])
    for number in range(PAGES):
        made.page(f"/{number}", title=f"Page {number}", text=f"heron number {number}")
    return made


@pytest.fixture
def options() -> Iterator[dict[str, Json]]:
    with own_index() as given:
        yield given


class Machine(Workspace):
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
        until(lambda: not self.crawl(*words, code=None, hosted=False, timeout=PATIENCE, **LEASE).code)


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
        until(site.page_paths, stopped)
        proxy.before = hold  # the index process asks for the index before it writes
        until(reached.is_set, stopped)
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
    assert one.crawl(hosted=False, **LEASE).run["problems"] == []
    assert proxy.bulks
    assert (one.waiting, other.indexed()) == ([], ALL)
