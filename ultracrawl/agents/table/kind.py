"""The kind `table` itself: what the frame asks, without a driver."""

from __future__ import annotations

from ultracrawl.agents.port import Fetcher, KindSetup, ListedKind, Lister
from ultracrawl.agents.table.section import TableSection


class TableKind(ListedKind[TableSection]):
    """Rows of a table, a view or a query, a document each."""

    section = TableSection
    schemes = frozenset({"table"})
    hit_code = 902

    def make_lister(self, setup: KindSetup[TableSection]) -> Lister:
        """Return what lists the rows."""
        from ultracrawl.agents.table.lister import TableLister  # noqa: PLC0415 - brings SQLAlchemy

        return TableLister(setup)

    def make_fetcher(self, setup: KindSetup[TableSection]) -> Fetcher:
        """Return what reads rows."""
        from ultracrawl.agents.table.fetcher import TableFetcher  # noqa: PLC0415 - brings SQLAlchemy

        return TableFetcher(setup)


TABLE = TableKind()
