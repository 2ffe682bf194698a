"""The kind `table` itself: what the frame asks, without a driver."""

from __future__ import annotations

from ultracrawl.agents.port import Fetcher, KindSetup, ListedKind, Lister
from ultracrawl.agents.table.section import TableSection
from ultracrawl.errors import MissingExtraError


class TableKind(ListedKind[TableSection]):
    """Rows of a table, a view or a query, a document each."""

    section = TableSection
    schemes = frozenset({"table"})
    hit_code = 902

    def make_lister(self, setup: KindSetup[TableSection]) -> Lister:
        """Return what lists the rows."""
        require_extra()
        from ultracrawl.agents.table.lister import TableLister  # noqa: PLC0415 - brings SQLAlchemy

        return TableLister(setup)

    def make_fetcher(self, setup: KindSetup[TableSection]) -> Fetcher:
        """Return what reads rows."""
        require_extra()
        from ultracrawl.agents.table.fetcher import TableFetcher  # noqa: PLC0415 - brings SQLAlchemy

        return TableFetcher(setup)


def require_extra() -> None:
    """See that SQLAlchemy is there. Raises `MissingExtraError`."""
    try:
        import sqlalchemy  # noqa: F401, PLC0415 - only to see whether it is there
    except ModuleNotFoundError:
        raise MissingExtraError("a source of the type `table`", "table") from None


KIND = TableKind()
