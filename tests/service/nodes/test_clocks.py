"""Nodes whose clocks on the wall are five minutes apart: the clock of the database decides, and leases stay."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from stores.conftest import a_schema
from support.later import later
from support.pace import kept
from support.project import LOOPBACK, Workspace
from support.server import Request
from support.site import Site
from support.until import PATIENCE, until

pytestmark = [pytest.mark.servers, pytest.mark.processes]
APART = 300.0
"""Seconds; many leases."""
PAGES = 8


class TwoMachines:
    """Two folders with one state, and commands in them; the clock of `late` is `APART` seconds ahead."""

    def __init__(self, folder: Path, options: dict[str, str]) -> None:
        self._state = {"engine": "postgresql", "url": options["url"], "schema_name": options["schema"]}
        self.right, self.late = Workspace(folder / "right"), Workspace(folder / "late")
        for workspace in (self.right, self.late):
            workspace.directory.mkdir()
        self._late = later(folder, APART)

    def define(self, sources: dict[str, str], delay: float) -> None:
        """Have both crawl sources, given by start URL."""
        definition = {
            "state": self._state,
            "sources": {
                name: {
                    "start_urls": [url],
                    "boundary": LOOPBACK,
                    "politeness": {"delay": delay, "concurrency": 1},
                }
                for name, url in sources.items()
            },
        }
        for workspace in (self.right, self.late):
            workspace.write(definition)

    def start(self, workspace: Workspace, source: str) -> subprocess.Popen[str]:
        """Start a crawl; the clock of its machine counts."""
        env = self._late if workspace is self.late else {}
        return workspace.start("crawl", "--json", source, hosted=False, **env)


@pytest.fixture
def machines(tmp_path: Path, database: str) -> Iterator[TwoMachines]:
    with a_schema(database) as options:
        yield TwoMachines(tmp_path, options)


def a_site(*sources: str) -> Site:
    site = Site()
    for source in sources:
        paths = [f"/{source}/{number}" for number in range(PAGES)]
        site.page(f"/{source}", title="Home", links=paths, text=f"all of {source}")
        for path in paths:
            site.page(path, title=path, text=f"needle {path}")
    return site


def pages(site: Site) -> list[Request]:
    return [one for one in site.requests if one.path not in ("/robots.txt", "/sitemap.xml")]


def ended(process: subprocess.Popen[str]) -> str:
    _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, told
    return told


def is_slow_enough(site: Site, delay: float) -> bool:
    return kept(sorted(one.time for one in pages(site)), delay)


def test_a_run_that_goes_from_clock_to_clock_asks_in_the_same_order_and_not_faster(
    machines: TwoMachines,
) -> None:
    site = a_site("birds", "same")
    with site.serve() as url:
        machines.define({"birds": f"{url}/birds", "same": f"{url}/same"}, delay=0.3)
        ended(machines.start(machines.right, "same"))
        order = [one.path.replace("same", "birds") for one in pages(site)]
        site.reset()
        for number, workspace in ((3, machines.right), (6, machines.late)):
            crawl = machines.start(workspace, "birds")
            until(lambda number=number: len(pages(site)) >= number, crawl)  # type: ignore[misc]  # binds now
            crawl.terminate()
            crawl.communicate(timeout=PATIENCE)
        ended(machines.start(machines.right, "birds"))
    listed = machines.right.command("urls", "--source", "birds", "--json").lines
    fetched = sorted(datetime.fromisoformat(row["last_fetched"]).timestamp() for row in listed)
    assert fetched[-1] - fetched[0] > APART / 2, "one clock was ahead"
    assert [one.path for one in pages(site)] == order
    assert is_slow_enough(site, 0.3)


def test_two_crawls_whose_clocks_differ_share_a_host_without_losing_a_lease(machines: TwoMachines) -> None:
    site = a_site("birds", "fish")
    with site.serve() as url:
        machines.define({"birds": f"{url}/birds", "fish": f"{url}/fish"}, delay=1.0)
        crawls = [machines.start(machines.right, "birds"), machines.start(machines.late, "fish")]
        told = [ended(crawl) for crawl in crawls]
    by_source = defaultdict(list)
    for one in pages(site):
        by_source[one.path.split("/")[1]].append(one.path)
    assert {name: len(paths) for name, paths in by_source.items()} == dict.fromkeys(
        ("birds", "fish"), PAGES + 1
    )
    assert is_slow_enough(site, 1.0)
    assert told == ["", ""], "each kept its leases"
