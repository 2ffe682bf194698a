"""A node is killed amid changed pages, and OpenSearch stands still for the next: what pages say stays whole."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from stores.conftest import a_schema
from support.fleet import signal_all
from support.machines import PAGES, Machines
from support.opensearch import own_index
from support.site import Site
from support.tcp_proxy import TcpProxy, tcp_proxy
from support.until import until

pytestmark = [pytest.mark.servers, pytest.mark.processes]
BIRDS = [
    "heron",
    "egret",
    "bittern",
    "spoonbill",
    "ibis",
    "stork",
    "crane",
    "rail",
    "coot",
    "grebe",
    "diver",
    "gull",
]
PATIENCE = 240.0


@pytest.fixture
def indexed(tmp_path: Path, database: str) -> Iterator[tuple[Machines, TcpProxy]]:
    """Machines with one index on OpenSearch, and what is between them."""
    with a_schema(database) as options, own_index() as index, ExitStack() as stack:
        proxy = stack.enter_context(tcp_proxy(str(index["url"])))
        machines = Machines(tmp_path, options, stack)
        machines.definition["index"] = {
            "engine": "opensearch",
            **index,
            "url": f"http://127.0.0.1:{proxy.port}",
        }
        yield machines, proxy


def put_pages(site: Site, season: str) -> None:
    """Have each page link to two others; the texts of links have the season."""
    home = {number: f"home of {BIRDS[number]} in {season}" for number in range(PAGES)}
    for number in range(-1, PAGES):
        others = {to % PAGES: f"{BIRDS[number]} in {season}" for to in (number + 1, number + 5)}
        links = home if number < 0 else others
        said = "".join(f'<a href="/{to}">{text}</a>' for to, text in links.items())
        text = " ".join(f"{bird} of {BIRDS[number]}" for bird in BIRDS)
        body = (
            f"<html lang=en><title>Page {number}</title><body><p>{text}</p><nav role=navigation>{said}</nav>"
        )
        site.file("/" if number < 0 else f"/{number}", body.encode(), "text/html; charset=utf-8")


def said_of_pages(season: str) -> dict[str, list[str]]:
    """Return the texts of the links to each page."""
    said = {
        to: (f"home of {BIRDS[to]}", BIRDS[(to - 1) % PAGES], BIRDS[(to - 5) % PAGES]) for to in range(PAGES)
    }
    return {
        "/": [],
        **{f"/{to}": sorted(f"{text} in {season}" for text in texts) for to, texts in said.items()},
    }


def anchors(machines: Machines) -> dict[str, list[str]]:
    rows = map(json.loads, machines.command("index", "dump").out.splitlines())
    return {"/" + row["url"].split("/", 3)[3]: sorted(row["anchors"]) for row in rows}


@pytest.mark.parametrize("killed_at", [1, 6, PAGES - 1])
def test_texts_of_links_are_those_of_the_pages_after_a_kill_and_a_standstill(
    indexed: tuple[Machines, TcpProxy], killed_at: int
) -> None:
    machines, proxy = indexed
    site = machines.source("one", refresh={"when_idle": True, "interval": "1 d"})
    put_pages(site, "spring")
    assert machines.command("crawl", "one").code == 0
    assert anchors(machines) == said_of_pages("spring")
    put_pages(site, "autumn")
    hold, asked = site.hold(f"/{killed_at}"), site.count(f"/{killed_at}")
    a = machines.start("a")
    until(lambda: site.count(f"/{killed_at}") > asked, a)
    signal_all(a, signal.SIGKILL)
    a.wait()
    proxy.stall()
    asked = site.count(f"/{killed_at}")
    b = machines.start("b")
    hold.set()
    until(lambda: site.count(f"/{killed_at}") > asked, b)
    proxy.flow()
    until(lambda: anchors(machines) == said_of_pages("autumn"), b, patience=PATIENCE)
    machines.end("b", b)
    for _ in range(2):
        assert machines.command("crawl", "one").code == 0
    assert set(machines.outcomes("one")) == {"NOT_MODIFIED"}
    assert anchors(machines) == said_of_pages("autumn")
    checked = machines.command("index", "check")
    assert checked.code == 0, checked.out
