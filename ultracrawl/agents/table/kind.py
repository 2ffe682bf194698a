"""The kind `table`: the object that its entry point names. Imports neither SQLAlchemy nor a driver."""

from __future__ import annotations

from ultracrawl.agents.port import Fetcher, KindSetup, ListedKind, Lister
from ultracrawl.agents.table.section import TableSection
from ultracrawl.errors import MissingExtraError


class TableKind(ListedKind[TableSection]):
    """Each row of a table, view or query is a document."""

    section = TableSection
    schemes = frozenset({"table"})
    hit_code = 902

    def make_lister(self, setup: KindSetup[TableSection]) -> Lister:
        """Return the lister of a source. Raises `MissingExtraError`."""
        require_extra()
        from ultracrawl.agents.table.lister import TableLister  # noqa: PLC0415 - imports SQLAlchemy

        return TableLister(setup)

    def make_fetcher(self, setup: KindSetup[TableSection]) -> Fetcher:
        """Return the fetcher of a source. Raises `MissingExtraError`."""
        require_extra()
        from ultracrawl.agents.table.fetcher import TableFetcher  # noqa: PLC0415 - imports SQLAlchemy

        return TableFetcher(setup)


def require_extra() -> None:
    """Raise `MissingExtraError` if SQLAlchemy is not installed."""
    try:
        import sqlalchemy  # noqa: F401, PLC0415 - only checks that it is installed
    except ModuleNotFoundError:
        raise MissingExtraError("a source of the type `table`", "table") from None


KIND = TableKind()
