"""Connections to the database of a source: read-only by default, and without secrets in error messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
import xxhash
from sqlalchemy import event
from sqlalchemy.engine import URL, Connection, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from ultracrawl.agents.table.section import DRIVER_EXTRAS, DRIVERS
from ultracrawl.errors import MissingExtraError, UserError, WorkError
from ultracrawl.model.status import StatusCode, status_text
from ultracrawl.system.hiding import without_secrets

if TYPE_CHECKING:
    from ultracrawl.agents.table.section import TableSection
    from ultracrawl.sources.secrets import SecretReader

_CONNECT_SECONDS = 30
_MYSQL = ("mysql", "mariadb")
_SESSION_STATEMENTS = {
    "sqlite": "PRAGMA query_only=ON",
    "postgresql": "SET datestyle TO 'ISO'; SET intervalstyle TO 'iso_8601'",
    **dict.fromkeys(_MYSQL, "SET SESSION TRANSACTION READ ONLY"),
}
"""The first statement of a session; for PostgreSQL each transaction is made read-only instead."""


def database_url(options: TableSection, secrets: SecretReader, base: Path) -> URL:
    """Return the URL of the database with its password and driver. Raises `UserError`, which never shows the URL."""
    try:
        url = make_url(secrets.read(options.connection, "connection"))
    except (ArgumentError, ValueError):
        raise UserError(
            "connection: this is not the URL of a database; write DATABASE://USER@HOST/NAME, or sqlite:///FILE"
        ) from None
    if options.password is not None:
        url = url.set(password=secrets.read(options.password, "password"))
    name = url.get_backend_name()
    if name in DRIVERS and "+" not in url.drivername:
        url = url.set(drivername=f"{name}+{DRIVERS[name]}")
    if name == "sqlite" and url.database and not url.database.startswith(("file:", ":")):
        url = url.set(database=str(base / url.database))
    return url


class Database:
    """The database of one source."""

    def __init__(self, url: URL) -> None:
        name = url.get_backend_name()
        arguments: dict[str, Any] = {}
        if name in DRIVERS and "connect_timeout" not in url.query:
            arguments["connect_timeout"] = _CONNECT_SECONDS
        self._url = url
        self.name = name
        """The database system, such as `postgresql`."""
        self.can_stream = name != "sqlite"
        """Whether others can write while a result is being read; SQLite blocks writers."""
        hidden = [
            value for name, value in url.query.items() if re.search("pass|pwd|odbc", name, re.IGNORECASE)
        ]
        self._secrets = [secret for secret in (url.password, *hidden) if isinstance(secret, str) and secret]
        address = repr((name, url.host, url.port, url.database))
        self.address_digest = xxhash.xxh3_64_hexdigest(address.encode())
        """Identifies the database."""
        try:
            self._engine = sa.create_engine(
                url, hide_parameters=True, pool_size=2, pool_pre_ping=True, connect_args=arguments
            )
        except (NoSuchModuleError, ImportError) as error:
            raise _driver_missing(url, error) from None
        except (SQLAlchemyError, TypeError):
            raise UserError(f"connection: this is not a valid URL for {name}") from None
        if name == "sqlite":
            event.listen(self._engine, "connect", _decode_leniently)
        if url.drivername == "postgresql+psycopg":
            event.listen(self._engine, "connect", _read_odd_values)
        if name in _SESSION_STATEMENTS:
            event.listen(self._engine, "connect", _execute_on_connect(_SESSION_STATEMENTS[name]))

    @contextmanager
    def read_only_connection(self) -> Iterator[Connection]:
        """Open a read-only connection.

        Database errors in the block become `WorkError`; those that do not heal by themselves, such as a wrong password
        or a missing table, become `UserError`.
        """
        with self._convert_errors(), self._engine.connect() as connection:
            yield connection.execution_options(postgresql_readonly=True)

    @contextmanager
    def writable_connection(self) -> Iterator[Connection]:
        """Open a connection for the change log, and commit at the end. Raises as `read_only_connection`."""
        engine = sa.create_engine(self._url, hide_parameters=True, poolclass=sa.NullPool)
        if self.name in _MYSQL:  # with REPEATABLE READ, updates wait for concurrent inserts of the triggers
            engine = engine.execution_options(isolation_level="READ COMMITTED")
        with self._convert_errors(), engine.begin() as connection:
            yield connection

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        """Convert errors of the driver into one-line errors without secrets."""
        self._check_file()
        try:
            yield
        except DBAPIError as error:
            line = self._line_of(error.orig or error)
            if advice := advice_for(error, self.name):
                raise UserError(f"{line}; {advice}") from None
            raise WorkError(line) from None
        except SQLAlchemyError as error:
            raise WorkError(self._line_of(error)) from None

    def _check_file(self) -> None:
        """Raise `WorkError` if an SQLite file does not exist, as connecting would create it."""
        path = self._url.database or ""
        is_file = self.name == "sqlite" and path and not path.startswith(("file:", ":"))
        if is_file and not Path(path).is_file():
            raise WorkError(f"the database file {path} does not exist")

    def _line_of(self, error: BaseException) -> str:
        texts = [argument for argument in error.args if isinstance(argument, str)] or [str(error)]
        line = " ".join(texts[-1].split())[:300]
        line = without_secrets(line, self._secrets)
        return f"{self.name}: {line or type(error).__name__}"

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()


def _decode_leniently(connection: Any, _record: object) -> None:
    """Replace invalid UTF-8 in texts, which SQLite does not validate on insert."""
    connection.text_factory = lambda data: data.decode("utf-8", "replace")


def _read_odd_values(connection: Any, _record: object) -> None:
    from ultracrawl.agents.table.postgresql import read_odd_values  # noqa: PLC0415 - it imports the driver

    read_odd_values(connection)


def _execute_on_connect(statement: str) -> Any:
    def set_up(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        cursor.execute(statement)
        cursor.close()
        connection.commit()

    return set_up


def _driver_missing(url: URL, error: Exception) -> UserError:
    name = url.get_backend_name()
    if isinstance(error, ImportError) and name in DRIVER_EXTRAS:
        return MissingExtraError(f"{status_text(StatusCode.NO_DRIVER)}: {name}", DRIVER_EXTRAS[name])
    if package := getattr(error, "name", None):
        return UserError(
            f"connection: the driver of `{name}` databases is not installed; install it with: pip install {package}"
        )
    return UserError(
        f"connection: there is no driver of `{name}` databases here; write `postgresql://`, `mysql://`, `sqlite:///`, "
        "or install the SQLAlchemy dialect of that name"
    )


_LOGIN = "correct the user, the password or the database of `connection`"
_PERMISSION = "grant the permission to the user of `connection`"
_STATEMENT = "correct the definition, or the database"

_OF_SQLSTATE = {
    "28": _LOGIN,  # invalid authorization specification
    "3D": _LOGIN,  # invalid catalog name
    "3F": _STATEMENT,  # invalid schema name
    "42": _STATEMENT,  # syntax error or access rule violation
    "25006": _PERMISSION,  # read-only transaction
    "42501": _PERMISSION,
}
"""By SQLSTATE or its class (PostgreSQL, appendix A)."""
_OF_MYSQL = {
    **dict.fromkeys((1044, 1045, 1049, 1130, 1698), _LOGIN),
    **dict.fromkeys((1142, 1143, 1227, 1290, 1370, 1792), _PERMISSION),
    **dict.fromkeys((1054, 1064, 1146), _STATEMENT),
}
"""By error number (MariaDB error codes)."""
_OF_SQLITE = {
    1: _STATEMENT,  # SQLITE_ERROR
    3: _PERMISSION,  # SQLITE_PERM
    8: _PERMISSION,  # SQLITE_READONLY
    23: _PERMISSION,  # SQLITE_AUTH
}
"""By primary result code (SQLite, result and error codes)."""


def advice_for(error: DBAPIError, database: str) -> str:
    """Return what to correct if an error does not heal by itself; empty for other errors."""
    original = error.orig
    if database == "sqlite":
        code = getattr(original, "sqlite_errorcode", None)
        return "" if code is None else _OF_SQLITE.get(code & 0xFF, "")
    if database in ("mysql", "mariadb"):
        number = original.args[0] if original is not None and original.args else None
        return _OF_MYSQL.get(number, "") if isinstance(number, int) else ""
    state = getattr(original, "sqlstate", None) or getattr(original, "pgcode", None)
    if isinstance(state, str):
        return _OF_SQLSTATE.get(state) or _OF_SQLSTATE.get(state[:2], "")
    return _LOGIN if _was_refused_by_password(original) else ""


def _was_refused_by_password(error: object) -> bool:
    """Whether PostgreSQL ended a connection after it had asked for a password; such errors have no SQLSTATE."""
    connection = getattr(error, "pgconn", None)
    return connection is not None and bool(connection.needs_password or connection.used_password)
