"""A standby that lost the last flushes takes over: who wrote them notices, and what a crawl does next mends it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from support import crash
from support.postgresql import restartable_postgresql, standby_of
from support.project import Workspace
from support.site import Site
from support.state_writer import LEASE, StateWriter
from support.tcp_proxy import TcpProxy, tcp_proxy
from support.until import PATIENCE, until

from ultracrawl.stores.postgresql.engine import PostgresEngine

pytestmark = [pytest.mark.servers, pytest.mark.processes]
SCHEMA = "s"
PAGES = 60


def ask(url: str, query: str, *values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as db:
        return db.execute(query.encode(), values).fetchall()


@dataclass
class Pair:
    """A server and its standby, each behind a proxy: what a client has, and what the standby follows."""

    first: str
    second: str
    client: TcpProxy
    receiver: TcpProxy

    @property
    def options(self) -> dict[str, str]:
        return {"url": self.client.url, "schema": SCHEMA}

    def fetched(self, at: str) -> int:
        """Return how many URLs were fetched by what a server knows."""
        ((number,),) = ask(at, f"SELECT count(last_fetched) FROM {SCHEMA}.url")
        return int(number)

    def stall_receiver(self) -> None:
        """Have the standby get nothing more; it has everything until now."""
        ((written,),) = ask(self.first, "SELECT pg_current_wal_flush_lsn()::text")
        behind = "SELECT pg_last_wal_replay_lsn() < %s::pg_lsn"
        until(lambda: ask(self.second, behind, written) == [(False,)])
        self.receiver.stall()

    def fail_over(self) -> None:
        """Make the standby the server of all clients."""
        assert ask(self.second, "SELECT pg_promote()") == [(True,)]
        self.client.turn(self.second)
        self.client.drop()


@contextmanager
def a_pair() -> Iterator[Pair]:
    with ExitStack() as stack:
        first = stack.enter_context(restartable_postgresql()).url
        client, receiver = (stack.enter_context(tcp_proxy(first)) for _ in range(2))
        yield Pair(first, stack.enter_context(standby_of(receiver.url)).url, client, receiver)


def test_a_writer_notices_a_standby_that_lost_its_last_flush() -> None:
    with a_pair() as pair, StateWriter(pair.options, "s") as writer:
        assert writer.answer() == "ok"
        assert writer.flush(1) == "ok"
        pair.stall_receiver()
        assert writer.flush(2) == "ok"
        pair.fail_over()
        assert "ok" not in [writer.flush(number) for number in (3, 4)]
        writer.order(0)
        assert writer.answer() == "closed"
        with closing(PostgresEngine(pair.options).open_store(Path(), "s", read_only=True)) as store:
            assert [record.url for record in store.records.all_records()] == ["http://h/1"]


def test_no_crawl_gets_the_number_of_one_whose_registration_was_lost() -> None:
    with a_pair() as pair:
        engine = PostgresEngine(pair.options)
        with closing(engine.open_sites(Path())) as sites:
            sites.register_crawl("before", LEASE)
            pair.stall_receiver()
            # More than PostgreSQL takes from a sequence before it writes that to its log.
            lost = [sites.register_crawl(f"lost{number}", LEASE) for number in range(40)]
        pair.fail_over()
        with closing(engine.open_sites(Path())) as sites:
            later = [sites.register_crawl(f"later{number}", LEASE) for number in range(40)]
            assert {*lost}.isdisjoint(later)
            assert not any(sites.renew_leases(crawl, LEASE) for crawl in lost)


def test_a_crawl_whose_last_flushes_were_lost_is_followed_by_one_that_ends_like_a_fresh_one(
    tmp_path: Path,
) -> None:
    site = Site()
    crash.build(site, PAGES)
    calm, shaken = Workspace(tmp_path / "calm"), Workspace(tmp_path / "shaken")
    with a_pair() as pair, site.serve() as url:
        for workspace in (calm, shaken):
            workspace.directory.mkdir()
            crash.define(workspace, f"{url}/p0", "whoosh", politeness={"delay": 0.01, "concurrency": 4})
        file = shaken.directory / "ultracrawl.yaml"
        state = {"engine": "postgresql", "url": pair.client.url, "schema_name": SCHEMA}
        file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), "state": state}))
        calm.crawl()
        before, after = site.hold("/p5"), site.hold("/p17")
        site.reset()
        crawl = shaken.start("crawl", "--json", ULTRACRAWL_LEASE_SECONDS=str(LEASE))
        until(lambda: site.count("/p5"), crawl)
        until(lambda: pair.fetched(pair.first), crawl)
        pair.stall_receiver()
        before.set()
        until(lambda: site.count("/p17"), crawl)
        until(lambda: pair.fetched(pair.first) > pair.fetched(pair.second), crawl)
        pair.fail_over()
        after.set()
        _, told = crawl.communicate(timeout=PATIENCE)
        assert crawl.returncode == 1, told
        assert pair.fetched(pair.second) < len(site.page_paths())
        shaken.crawl()
        assert crash.compare(calm, shaken, PAGES) == []
