"""Errors of databases that do not heal by themselves: refused log-ins, missing permissions, and wrong statements."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError

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
