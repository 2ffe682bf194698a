"""The store of nodes: rows whose leases end by the clock of the database, and the plans that each node holds."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

import psycopg

from ultracrawl.errors import UserError
from ultracrawl.stores.port.node_store import KeptNode, NodeFacts, NodeWork
from ultracrawl.stores.port.schedule_store import own_key
from ultracrawl.stores.postgresql.access.database import Database
from ultracrawl.stores.postgresql.access.fencing import is_over, this_process
from ultracrawl.stores.postgresql.access.schema import VERSION
from ultracrawl.stores.postgresql.shared.tables import PostgresTables
from ultracrawl.stores.shared.schedule_store import SELECT_SCHEDULES, SqlScheduleStore, kept_schedule
from ultracrawl.stores.shared.tables import Statements

_ADD_NODE = b"INSERT INTO node (name) VALUES (%s) ON CONFLICT DO NOTHING"
_HOLDER = b"SELECT token, host, machine, process, until - moment() FROM node WHERE name = %s FOR UPDATE"
_BE_NODE = b"""
    UPDATE node SET token = %s, machine = %s, process = %s, draining = false, version = %s, host = %s, program = %s,
        until = moment() + %s, told = %s
    WHERE name = %s"""
_RENEW = b"""
    UPDATE node SET host = %s, program = %s, until = moment() + %s, told = coalesce(%s, told)
    WHERE token = %s RETURNING 1"""
_NODES = b"""
    SELECT name, host, program, CASE WHEN %s THEN told ELSE '{}' END,
        version, draining, token IS NULL, until - moment(),
        (SELECT array_agg(plan ORDER BY plan) FROM taken WHERE taken.token = node.token),
        (SELECT array_agg(source ORDER BY source) FROM taken, unnest(taken.sources) source
            WHERE taken.token = node.token)
    FROM node ORDER BY name"""
_ORDERED = b"SELECT DISTINCT name, of_source FROM command"
_CRAWLED = b"""
    SELECT name, machine, process FROM source JOIN part USING (source) WHERE token IS NOT NULL AND until > moment()"""
_MAY_TAKE = b"SELECT 1 FROM node WHERE token = %s AND until > moment() AND NOT draining"
_ADD_TAKEN = (
    b"INSERT INTO taken (plan, token, sources) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING RETURNING 1"
)
_LOCK_TAKEN = b"SELECT token FROM taken WHERE plan = %s FOR UPDATE"
_IS_ALIVE = b"SELECT 1 FROM node WHERE token = %s AND until > moment()"
_TAKE_OVER = b"UPDATE taken SET token = %s, sources = %s WHERE plan = %s"
_HOLDS = "SELECT 1 FROM taken WHERE plan = %s AND token = %s FOR SHARE"
_RELEASE = b"""
    INSERT INTO released (source, digest, release) SELECT source, digest, %s FROM unnest(%s::text[], %s::text[])
    AS new (source, digest) ON CONFLICT (source) DO UPDATE SET digest = excluded.digest, release = excluded.release"""
_FORGET_RELEASES = (
    b"DELETE FROM release WHERE NOT EXISTS (SELECT FROM released WHERE released.release = number)"
)
_RELEASED = b"SELECT source, digest FROM released"
_RELEASED_FILES = b"SELECT files FROM released JOIN release ON release = number WHERE source = %s"
_TOLD = ("digests", "files", "capabilities", "reason", "place")
"""What a row keeps of `NodeFacts` as JSON."""
_GIVE_BACK = b"DELETE FROM taken WHERE token = %s AND plan = ANY(%s)"


class PostgresNodeStore(SqlScheduleStore):
    """The nodes of a project; see `NodeStore`."""

    def __init__(self, database: Database, token: str = "") -> None:
        super().__init__(PostgresTables(database))
        self._database = database
        self._token = UUID(token) if token else None
        self._told = ""
        """What this node has told of itself, besides host and program."""

    def register_node(self, name: str, facts: NodeFacts, seconds: float) -> None:
        """Be the node of this name, unless another process is that lives."""

        def register(db: psycopg.Connection) -> None:
            db.execute(_ADD_NODE, [name])
            ((token, host, machine, process, left),) = db.execute(_HOLDER, [name]).fetchall()
            if token is not None and token != self._token and left > 0 and not is_over(machine, process):
                raise UserError(
                    f"the node {name!r} runs on {host} (process {process.partition('/')[0]}); "
                    f"give this one another name, or end that one: its lease lasts {left:.0f} s more"
                )
            db.execute(
                _BE_NODE,
                [self._token, *this_process(), VERSION, facts.host, facts.program, seconds, told, name],
            )

        told = _told(facts)
        self._database.transact(register)
        self._told = told

    def renew_node(self, facts: NodeFacts, seconds: float) -> bool:
        """Be it for so many seconds from now on."""
        told = _told(facts)
        changed = None if told == self._told else told
        is_own = bool(self._database.read(_RENEW, facts.host, facts.program, seconds, changed, self._token))
        self._told = told
        return is_own

    def end_node(self) -> None:
        """Give everything back, and stay known as a node that has ended."""

        def end_own(db: psycopg.Connection) -> None:
            db.execute(b"DELETE FROM taken WHERE token = %s", [self._token])
            db.execute(b"UPDATE node SET token = NULL, until = 0 WHERE token = %s", [self._token])

        self._database.transact(end_own)

    def nodes(self) -> list[KeptNode]:
        """Return all nodes, by name."""
        return self._nodes(whole=True)

    def _nodes(self, *, whole: bool) -> list[KeptNode]:
        return [
            KeptNode(
                name,
                _facts(host, program, json.loads(told)),
                version,
                draining,
                ended,
                left,
                tuple(plans or ()),
                tuple(sources or ()),
            )
            for name, host, program, told, version, draining, ended, left, plans, sources in (
                self._database.read(_NODES, whole)
            )
        ]

    def node_work(self) -> NodeWork:
        """Return what there is to do; processes of this machine that have ended crawl nothing."""
        kept = (kept_schedule(row) for row in self._tables.read(SELECT_SCHEDULES))
        ordered = {own_key(name) if of_source else name for name, of_source in self._database.read(_ORDERED)}
        crawled = frozenset(
            name for name, machine, process in self._database.read(_CRAWLED) if not is_over(machine, process)
        )
        nodes, schedules = self._nodes(whole=False), {row.name: row for row in kept}
        return NodeWork(nodes, schedules, ordered, crawled, self.released())

    def release(self, digests: Mapping[str, str], files: Mapping[str, str]) -> None:
        """Let nodes crawl these sources with these digests only."""

        def write(db: psycopg.Connection) -> None:
            add = b"INSERT INTO release (files) VALUES (%s) RETURNING number"
            ((number,),) = db.execute(add, [json.dumps(dict(files))]).fetchall()
            sources = sorted(digests)
            db.execute(_RELEASE, [number, sources, [digests[source] for source in sources]])
            db.execute(_FORGET_RELEASES)

        self._database.transact(write)

    def released(self) -> dict[str, str]:
        """Return the released digest of each source."""
        return dict(self._database.read(_RELEASED))

    def released_files(self, source: str) -> dict[str, str]:
        """Return the digests of the files from which the release of a source was made."""
        found = self._database.read(_RELEASED_FILES, source)
        return json.loads(found[0][0]) if found else {}

    def take_plan(self, key: str, sources: Sequence[str]) -> bool:
        """Hold a plan that no living node holds; its row is locked while its holder is looked at."""

        def take_free(db: psycopg.Connection) -> bool:
            if db.execute(_MAY_TAKE, [self._token]).fetchone() is None:
                return False
            if db.execute(_ADD_TAKEN, [key, self._token, list(sources)]).fetchone() is not None:
                return True
            ((holder,),) = db.execute(_LOCK_TAKEN, [key]).fetchall() or [(None,)]
            is_held = db.execute(_IS_ALIVE, [holder]).fetchone() is not None
            if holder is None or (is_held and holder != self._token):
                return False
            db.execute(_TAKE_OVER, [self._token, list(sources), key])
            return True

        return self._database.transact(take_free)

    def give_back(self, keys: Collection[str]) -> None:
        """Hold these plans no more."""
        self._database.read(_GIVE_BACK, self._token, list(keys))

    def drain_node(self, name: str) -> bool:
        """Have a node take nothing new."""
        return bool(self._database.read(b"UPDATE node SET draining = true WHERE name = %s RETURNING 1", name))

    def remove_node(self, name: str) -> bool:
        """Forget a node whose lease is over, or that has ended."""

        def remove(db: psycopg.Connection) -> bool:
            rows = db.execute(_HOLDER, [name]).fetchall()
            for token, host, machine, process, left in rows:
                if token is not None and left > 0 and not is_over(machine, process):
                    raise UserError(
                        f"the node {name!r} lives on {host}; "
                        f"run `ultracrawl node drain {name}` first, and remove it when it has ended"
                    )
                db.execute(b"DELETE FROM taken WHERE token = %s", [token])
                db.execute(b"DELETE FROM node WHERE name = %s", [name])
            return bool(rows)

        return self._database.transact(remove)

    def _may_put(self, db: Statements, name: str) -> bool:
        """Return whether this node holds a schedule: another's is left as it is."""
        return bool(db.rows(_HOLDS, name, self._token))


def _told(facts: NodeFacts) -> str:
    """Return what a node tells of itself besides host and program, as its row keeps it."""
    told = {name: getattr(facts, name) for name in _TOLD}
    return json.dumps({name: value for name, value in told.items() if value}, sort_keys=True)


def _facts(host: str, program: str, stored: Mapping[str, Any]) -> NodeFacts:
    """Return the facts of a row; what a newer program tells besides them is left out."""
    return NodeFacts(host, program, **{name: stored[name] for name in _TOLD if name in stored})
