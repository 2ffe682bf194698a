"""Sources that are tables of a database, for tests: what their lister and fetcher say."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ultracrawl.agents.port import Batch, Entry, Failure, KindSetup, Listed, Wanted
from ultracrawl.agents.table.fetcher import TableFetcher
from ultracrawl.agents.table.kind import KIND
from ultracrawl.agents.table.lister import TableLister
from ultracrawl.sources.kinds import source_model
from ultracrawl.sources.secrets import SecretReader


@dataclass
class Base:
    """A database with tables, and sources that read it."""

    url: str
    folder: Path
    options: dict[str, Any] = field(default_factory=dict)

    def run(self, *statements: str, **values: object) -> None:
        """Change the database, with the rights of its owner."""
        url = sa.make_url(self.url)
        if url.get_backend_name() == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        engine = sa.create_engine(url, poolclass=sa.NullPool)
        with engine.begin() as connection:
            for one in statements:
                connection.execute(sa.text(one), values)

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """Return what a statement finds."""
        url = sa.make_url(self.url)
        if url.get_backend_name() == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        with sa.create_engine(url, poolclass=sa.NullPool).connect() as connection:
            return [tuple(row) for row in connection.execute(sa.text(statement))]

    def setup(self, **options: Any) -> KindSetup[Any]:
        """Return what a lister and a fetcher are made from."""
        written = {"connection": self.url, **self.options, **options}
        source = source_model(KIND).model_validate({"name": "tickets", **written})
        return KindSetup(source, source, self.folder, SecretReader({}))  # type: ignore[arg-type]

    def listed(self, since: str = "", cursor: str = "", **options: Any) -> list[Listed]:
        """Return all that a new lister yields."""
        lister = TableLister(self.setup(**options))
        try:
            return list(lister.list_entries(since, cursor))
        finally:
            lister.close()

    def entries(self, **options: Any) -> dict[str, Entry]:
        """Return the entries of a whole listing by the last part of their access URL."""
        return by_key(self.listed(**options))

    def fetched(self, *urls: str, **options: Any) -> list[Entry | Failure]:
        """Return what a new fetcher gets."""
        fetcher = TableFetcher(self.setup(**options))
        try:
            return list(fetcher.fetch([Wanted(url) for url in urls]))  # type: ignore[arg-type]
        finally:
            fetcher.close()


def left_out(listed: list[Listed]) -> dict[str, int]:
    """Return the numbers of rows that a listing leaves out, by where the first of each kind is found."""
    return {one.first: one.number for batch in listed if isinstance(batch, Batch) for one in batch.left_out}


def by_key(listed: list[Listed]) -> dict[str, Entry]:
    """Return entries by what stands behind the question mark of their access URLs."""
    batches = [one for one in listed if isinstance(one, Batch)]
    entries = list(itertools.chain.from_iterable(one.entries for one in batches))
    found = {one.access_url.partition("?")[2]: one for one in entries}
    assert len(found) == len(entries)
    return found
