"""Where a state in PostgreSQL is, and connections to it: TLS, time limits, text that PostgreSQL can store."""

from __future__ import annotations

import os
from ipaddress import ip_address

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.string import StrBinaryDumper, StrDumper

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import StateError, UserError
from ultracrawl.stores.port.texts import storable_bytes
from ultracrawl.stores.postgresql.access.arrays import ArrayDumper

LOCK_SECONDS = 10
"""Seconds that a statement waits for a row of another process."""
IDLE_SECONDS = 10
"""Seconds after which the server ends a transaction whose client stands still: it holds rows that others need."""
_OLDEST_SERVER = 140_000
_VERIFYING = frozenset({"require", "verify-ca", "verify-full"})
_DEFAULTS: dict[str, str | int] = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "application_name": "ultracrawl",
    "client_encoding": "UTF8",
}


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """A schema of a database; the URL has no password."""

    url: str
    schema: str = "ultracrawl"
    password: str = field(default="", repr=False)

    @property
    def shown(self) -> str:
        """Its name in messages."""
        parts = _parts_of(self.url)
        return f"the database {parts.get('dbname') or parts.get('user') or ''!r} on {_hosts_of(parts)}"

    def check(self) -> None:
        """Raise `UserError` if nothing can be connected to, or only without encryption."""
        self._conninfo()

    def _conninfo(self) -> str:
        parts = _parts_of(self.url)
        if parts.get("password"):
            raise UserError("state.url: it contains a password; write it into `password`, as `${NAME}`")
        options: dict[str, str | int] = {
            name: value for name, value in _DEFAULTS.items() if name not in parts
        }
        if not _is_local(parts):
            mode = parts.get("sslmode") or os.environ.get("PGSSLMODE") or "require"
            if mode not in _VERIFYING:
                raise UserError(
                    f"state.url: `sslmode={mode}` does not encrypt the connection to {_hosts_of(parts)}; "
                    "write `sslmode=verify-full`, or `require`"
                )
            options["sslmode"] = mode
        if self.password:
            options["password"] = self.password
        return make_conninfo(self.url, **options)

    def connect(self, *, read_only: bool = False) -> psycopg.Connection:
        """Return a new connection in which each statement is a transaction.

        Raises `UserError`, `StateError` for a server that is too old, `psycopg.OperationalError`.
        """
        db = psycopg.connect(self._conninfo(), autocommit=True)
        try:
            if db.info.server_version < _OLDEST_SERVER:
                raise StateError(
                    f"{self.shown} is on PostgreSQL {db.info.server_version // 10_000}; 14 is needed"
                )
            for kind, dumper in ((str, _TextBinaryDumper), (str, _TextDumper), (list, ArrayDumper)):
                db.adapters.register_dumper(kind, dumper)
            db.execute(
                sql.SQL(
                    "SET search_path TO {}; SET lock_timeout = {}; SET idle_in_transaction_session_timeout = {};"
                    "SET default_transaction_read_only = {}; SET timezone = 'UTC'; SET jit = off"
                ).format(
                    sql.Identifier(self.schema),
                    sql.Literal(f"{LOCK_SECONDS}s"),
                    sql.Literal(f"{IDLE_SECONDS}s"),
                    sql.Literal(read_only),
                )
            )
        except BaseException:
            db.close()
            raise
        return db


class _TextDumper(StrDumper):
    """Replaces what PostgreSQL stores in no text."""

    def dump(self, obj: str) -> bytes:
        return storable_bytes(obj)


class _TextBinaryDumper(StrBinaryDumper):
    """The same for texts in arrays, which are sent in binary form."""

    def dump(self, obj: str) -> bytes:
        return storable_bytes(obj)


def _parts_of(url: str) -> dict[str, str]:
    try:
        return {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None}
    except psycopg.ProgrammingError:  # its text may show a password
        raise UserError(
            "state.url: this is not the URL of a database; write it as `postgresql://user@host/database`"
        ) from None


def _hosts_of(parts: dict[str, str]) -> str:
    return parts.get("hostaddr") or parts.get("host") or os.environ.get("PGHOST", "") or "this machine"


def _is_local(parts: dict[str, str]) -> bool:
    """Return whether a connection cannot leave the machine."""
    hosts = (
        parts.get("hostaddr") or parts.get("host") or os.environ.get("PGHOSTADDR") or os.environ.get("PGHOST")
    )
    return all(map(_is_local_host, hosts.split(","))) if hosts else True


def _is_local_host(host: str) -> bool:
    if not host or host.startswith(("/", "@")) or host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
