"""Nine sources on many loopback hosts, three nodes that crawl them, and what happens to nodes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest
from stores.conftest import a_schema

from support.machines import LEASE, Machines
from support.postgresql import postgresql_server
from support.project import ANY_PORT, LOOPBACK, Workspace
from support.resource import Reply
from support.same_index import index_differences
from support.server import Request
from support.site import Site
from support.tcp_proxy import TcpProxy, tcp_proxy
from support.until import until

PATIENCE = 180.0
FETCHED = ("NEW", "MODIFIED", "REINDEXED", "UNMODIFIED", "NOT_MODIFIED")
HTML = (("Content-Type", "text/html; charset=utf-8"),)
_WAITING = """
    SELECT key FROM submitted UNION ALL SELECT source FROM part WHERE token IS NOT NULL AND until > moment() LIMIT 1"""


class Sources:
    """Sources whose pages lie on `own` hosts of each and on one of the `shared` ones; all are served here."""

    def __init__(self, stack: ExitStack, number: int, pages: int, own: int, shared: int) -> None:
        self.names = [f"s{source}" for source in range(number)]
        self.pages = pages
        self.site = Site()
        self.site.dynamic("/*", self._answer)
        hosts = [
            stack.enter_context(self.site.serve(f"127.0.0.{2 + host}"))
            for host in range(own * number + shared)
        ]
        common = hosts[own * number :]
        self._hosts = [
            [*hosts[own * source : own * (source + 1)], common[source % shared]] for source in range(number)
        ]

    def url(self, source: int, page: int) -> str:
        hosts = self._hosts[source]
        return f"{hosts[page % len(hosts)]}/s{source}/{page}"

    def definition(self, delay: float) -> dict[str, Any]:
        """Return the definitions of all sources."""
        return {
            name: {
                "start_urls": [self.url(source, 0)],
                "boundary": {**LOOPBACK, "ports": ANY_PORT, "domains": {"include": ["*"]}},
                "politeness": {"delay": delay, "concurrency": 8, "backoff": {"longest": 0}},
                "sitemaps": {"discover": False},
                "refresh": {"interval": "1 h"},
            }
            for source, name in enumerate(self.names)
        }

    def _answer(self, request: Request) -> Reply:
        _, source, *page = request.path.split("/")
        if not (source in self.names and page):
            return Reply(404)
        number, of = int(page[0]), int(source[1:])
        across = number * 7 % self.pages
        links = {
            **{
                child: f"Child {child}"
                for child in range(3 * number + 1, 3 * number + 4)
                if child < self.pages
            },
            0: f"Home as {number % 40} say",
            across: f"Across {across}",
        }
        said = "".join(f'<a href="{self.url(of, to)}">{text}</a>' for to, text in links.items())
        text = f"unique{source}x{number} shared words " * 20
        body = f"<html lang=en><title>{source} {number}</title><body><p>{text}</p><nav role=navigation>{said}</nav>"
        return Reply(200, HTML, body.encode())

    def asked(self) -> dict[str, list[float]]:
        """Return when each page was asked for, by its URL without scheme."""
        times = defaultdict[str, list[float]](list)
        for one in self.site.requests:
            if one.path.count("/") == 2:
                times[f"{one.header('Host')}{one.path}"].append(one.time)
        return times

    def too_fast(self, delay: float) -> list[str]:
        """Return where six pages of a host were asked for in less than three delays: each with its seconds.

        One may be noted a delay too late on a busy machine, and one may have been on its way when its node was woken.
        """
        by_host = defaultdict[str, list[tuple[float, str]]](list)
        for url, times in self.asked().items():
            host, _, page = url.partition("/")
            by_host[host] += [(time, page) for time in times]
        found = []
        for host, pages in by_host.items():
            pages.sort()
            for six in zip(*[pages[n:] for n in range(6)], strict=False):
                first, last = six[0][0], six[-1][0]
                if last - first < 2.9 * delay:
                    told = (f"{page} at {time - first:.2f} s" for time, page in six)
                    found.append(f"{host}, {first:.2f}: {', '.join(told)}")
        return found


class Fleet(Machines):
    """Nodes whose databases are each behind a proxy of its own, and who write to one index."""

    def __init__(self, folder: Path, options: dict[str, str], stack: ExitStack) -> None:
        super().__init__(folder, options, stack)
        self._url, self._schema = options["url"], options["schema"]
        self._proxies: dict[str, TcpProxy] = {}
        # Where the server is says the environment, so that all nodes have one definition.
        self.definition["state"]["url"] = "postgresql://postgres@/postgres"
        self.definition["index"] = {"path": str(folder / "index")}
        self.definition["cache"] = {"size": "20 KB"}

    def run(self, node: str) -> subprocess.Popen[str]:
        """Start a node whose way to the server is a proxy."""
        proxy = self._proxies[node] = self._stack.enter_context(tcp_proxy(self._url))
        return self.start(node, PGHOST="127.0.0.1", PGPORT=str(proxy.port))

    def proxy(self, node: str) -> TcpProxy:
        return self._proxies[node]

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self._url, autocommit=True) as db:
            db.execute(f"SET search_path TO {self._schema}".encode())
            return db.execute(query.encode()).fetchall()

    def holders(self) -> dict[str, str]:
        """Return the living node of each source that is held."""
        return {source: node.name for node in self.nodes().values() if node.alive for source in node.sources}

    def indexed(self) -> set[str]:
        """Return the URLs, without scheme, whose documents are in the index by the state, and that are not queued.

        A node that is cut off delivers documents whose visits it could not store: their pages are read again.
        """
        rows = self.ask(
            "SELECT url FROM url WHERE indexed AND NOT EXISTS (SELECT FROM queue q WHERE q.key = url.key)"
        )
        return {url.partition("//")[2] for (url,) in rows}

    def is_all_delivered(self) -> bool:
        """Return whether no document waits for the index on any node, and nobody writes to a source."""
        return self.ask(_WAITING) == []

    def finished(self) -> set[str]:
        rows = self.ask("SELECT name FROM source JOIN run USING (source) WHERE finished > 0")
        return {name for (name,) in rows}


def processes_of(node: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return the processes of a node, those that it started first."""
    root = psutil.Process(node.pid)
    return [*reversed(root.children(recursive=True)), root]


def signal_all(node: subprocess.Popen[str], number: signal.Signals) -> None:
    """Send a signal to all processes of a node at once, as the loss of a machine would."""
    for one in processes_of(node):
        try:
            os.kill(one.pid, number)
        except ProcessLookupError:
            continue


@dataclass
class Blow:
    """What happened to a node: when, and what the index had of its sources then."""

    at: float
    indexed: set[str]
    sources: set[str]


class Blows:
    """Kills nodes, stops them for three leases, and cuts them off, as the crawls go on; none is hit twice."""

    def __init__(self, fleet: Fleet, sources: Sources) -> None:
        self._fleet, self._sources = fleet, sources
        self.nodes = {name: fleet.run(name) for name in "abc"}
        self.blows: list[Blow] = []
        self._whole = dict(self.nodes)
        """The nodes that nothing has happened to."""

    def await_share(self, share: float) -> None:
        """Wait until so much of all pages was asked for."""
        wanted = share * len(self._sources.names) * self._sources.pages
        until(lambda: len(self._sources.asked()) >= wanted, patience=PATIENCE)

    def _next_victim(self) -> str:
        """Return the whole node with the most sources; note what there is before it is hit."""
        held = Counter[str]()

        def is_held() -> bool:
            held.clear()
            held.update(node for node in self._fleet.holders().values() if node in self._whole)
            return bool(held)

        until(is_held, patience=PATIENCE)
        ((victim, _),) = held.most_common(1)
        del self._whole[victim]
        own = {source for source, node in self._fleet.holders().items() if node == victim}
        self.blows.append(Blow(time.monotonic(), self._fleet.indexed(), own))
        return victim

    def _await_lease(self, node: str, times: int) -> None:
        over = f"SELECT moment() - until > {times - 1} * {LEASE} FROM node WHERE name = '{node}'"
        until(lambda: self._fleet.ask(over) == [(True,)])

    def kill(self) -> None:
        """Kill a node."""
        node = self.nodes.pop(self._next_victim())
        signal_all(node, signal.SIGKILL)
        node.wait()

    def stop(self) -> None:
        """Stop a node for three leases, and wake it."""
        name = self._next_victim()
        signal_all(self.nodes[name], signal.SIGSTOP)
        self._await_lease(name, 3)
        signal_all(self.nodes[name], signal.SIGCONT)

    def cut_off(self) -> None:
        """Have a node not reach the server until its lease is over, and then only by new connections, twice."""
        name = self._next_victim()
        proxy = self._fleet.proxy(name)
        proxy.stall()
        self._await_lease(name, 1)
        proxy.drop()
        proxy.flow()
        until(lambda: self._fleet.nodes()[name].alive, self.nodes[name])
        proxy.half_close()

    def take_back(self) -> None:
        """Start the nodes that were killed again; from now on all may be hit."""
        for name in set("abc") - self.nodes.keys():
            self.nodes[name] = self._fleet.run(name)
        self._whole = dict(self.nodes)

    def _fetched_again(self) -> list[str]:
        """Return what was fetched twice though nothing happened to its node, or though the index had it before that."""
        asked = self._sources.asked()
        again = [url for blow in self.blows for url in blow.indexed if asked[url][-1] > blow.at]
        hit = {source for blow in self.blows for source in blow.sources}
        return again + [url for url, times in asked.items() if url.split("/")[1] not in hit and times[1:]]

    def check_end(self, folder: Path, delay: float, patience: float) -> None:
        """Wait until all is crawled, and compare everything with what one node would have done."""
        fleet, sources = self._fleet, self._sources
        until(lambda: fleet.finished() == set(sources.names), patience=patience)
        until(lambda: not fleet.holders())
        # What a node that was woken has in its cache is left to it: it tries every three leases.
        until(fleet.is_all_delivered, patience=PATIENCE)
        for name, process in self.nodes.items():
            fleet.end(name, process)
        listed = fleet.command("urls", "--json").lines
        found = Counter((row["source"], row["outcome"] in FETCHED) for row in listed)
        again, fast = self._fetched_again(), sources.too_fast(delay)
        assert sources.too_fast(3 * delay), "it would be seen"
        alone = Workspace(folder / "alone")
        alone.directory.mkdir()
        alone.write({"sources": sources.definition(0.0)})
        alone.crawl("--jobs", "2", timeout=patience)
        assert found == dict.fromkeys(((name, True) for name in sources.names), sources.pages)
        assert again == [], "only what was not in the index is fetched twice"
        assert fast == []
        assert index_differences(alone, fleet.workspace("desk")) == []


@contextmanager
def a_fleet(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    """Run a server for nodes, which the environment names."""
    with postgresql_server() as url, a_schema(url) as options, ExitStack() as stack:
        parts = urlsplit(url)
        monkeypatch.setenv("PGHOST", str(parts.hostname))
        monkeypatch.setenv("PGPORT", str(parts.port))
        yield Fleet(folder, options, stack)
