"""The kind `table`: the object that its entry point names. Imports neither SQLAlchemy nor a driver."""

from __future__ import annotations

from importlib.util import find_spec

from ultracrawl.agents import table
from ultracrawl.agents.port import Fetcher, KindSetup, ListedKind, Lister
from ultracrawl.agents.table.section import DRIVER_EXTRAS, DRIVERS, TableSection
from ultracrawl.errors import MissingExtraError


class TableKind(ListedKind[TableSection]):
    """Each row of a table, view or query is a document."""

    section = TableSection
    schemes = frozenset({"table"})
    hit_code = 902

    def check_definition(self, setup: KindSetup[TableSection]) -> None:
        """Check that SQLAlchemy and the driver of a named database are installed. Raises `MissingExtraError`."""
        require_extra()
        system = setup.options.connection.get_secret_value().partition("://")[0]
        if system in DRIVERS and find_spec(DRIVERS[system]) is None:
            raise MissingExtraError(f"a table of {system}", DRIVER_EXTRAS[system])

    def make_lister(self, setup: KindSetup[TableSection]) -> Lister:
        """Return the lister of a source. Raises `MissingExtraError`."""
        require_extra()
        return table.TableLister(setup)

    def make_fetcher(self, setup: KindSetup[TableSection]) -> Fetcher:
        """Return the fetcher of a source. Raises `MissingExtraError`."""
        require_extra()
        return table.TableFetcher(setup)


def require_extra() -> None:
    """Raise `MissingExtraError` if SQLAlchemy is not installed."""
    if find_spec("sqlalchemy") is None:
        raise MissingExtraError("a source of the type `table`", "table")


KIND = TableKind()
