"""The states in `state.tar.xz`: how they were written, and what their rows are compared by.

    python -m upgrade.kept_state        (in `tests`; needs PostgreSQL)

writes the archive again by the program as it stands. That is done when a step of the schema is finished, not when a
test fails: the archive is what an installed program has left behind. For each engine it has

* `ENGINE/kinds`: a store with rows of every kind,
* `ENGINE/killed`: a project whose second run was killed while nothing had changed,
* `ENGINE/saved.tgz`: its backup after the first run,
* `ENGINE/rows.json`: the rows of `kinds`, those of the project after the first run, and after a whole second one.

What is in a database is there as a backup writes it (`tables`), beside the `schema.sql` that made its tables.
"""

from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import yaml
from pydantic_core import to_jsonable_python
from stores.conftest import a_schema
from stores.test_store_copies import rows_of_each_kind
from support.postgresql import postgresql_server
from support.project import Workspace, kill_group
from support.site import Site
from support.until import until

from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.copying.place import StorePlace, place_of
from ultracrawl.stores.port.transfer import OF_PROJECT, OF_SOURCE, name_of
from ultracrawl.stores.postgresql.access.schema import LEAST, SCHEMA, VERSION
from ultracrawl.stores.rows import Row

ARCHIVE = Path(__file__).with_name("state.tar.xz")
HOST, PORT = "127.0.0.7", 8765
SOURCE = "site"
HELD = "/4"
"""The page at which the second run was killed."""
Rows = Mapping[str, Mapping[str, list[Any]]]
"""Rows by source (empty for what is shared) and kind, as JSON."""


def fill(site: Site) -> None:
    """Give a site its pages: links with texts, a redirect, a page that is gone, a copy, and one nearly so."""
    names = [f"/{number}" for number in range(8)]
    site.page("/", title="Start", links=[*names, "/moved", "/gone", "/copy", "/near"], text="where it begins")
    for name in names:
        others = [other for other in names if other != name][:3]
        site.page(name, title=f"Page {name}", links=["/", *others], text=f"the text of page {name[1:]}")
    words = " ".join(f"word{number}" for number in range(200))
    site.page("/copy", title="Page /1", links=["/", "/0", "/2", "/3"], text="the text of page 1")
    site.page("/long", title="Long", links=["/"], text=words)
    site.page("/near", title="Long", links=["/long"], text=f"{words} more")
    site.redirect("/moved", "/5")
    site.gone("/gone")
    site.robots("User-agent: *\nDisallow: /private\n")
    site.sitemap("/sitemap.xml", ["/6", "/listed"])
    site.page("/listed", title="Listed", links=["/"], text="found in a sitemap")


def define(workspace: Workspace, state: Mapping[str, str]) -> None:
    """Write the definition of the project."""
    workspace.define(
        f"http://{HOST}:{PORT}/",
        politeness={"delay": 0, "concurrency": 1},
        duplicates={"near": True},
    )
    file = workspace.directory / "ultracrawl.yaml"
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), "state": {**state}}))


def place_in(workspace: Workspace) -> StorePlace:
    """Return the place of the stores of a project."""
    return place_of(require(read_definitions(workspace.directory / "ultracrawl.yaml")))


def all_rows(place: StorePlace) -> Rows:
    """Return all rows of a place, those of a kind in one order."""
    with place.transfer.exporting(place.folder) as rows:
        return {
            source: {
                name_of(kind): sorted(map(_as_json, rows.rows(kind, source)), key=json.dumps)
                for kind in (OF_SOURCE if source else OF_PROJECT)
            }
            for source in ("", *rows.sources)
        }


def as_earlier(rows: Rows, earlier: Rows) -> Rows:
    """Return rows with what those of an earlier program have of them: columns are added at the end."""
    return {
        source: {
            kind: sorted((_cut(row, like[0]) for row in rows[source][kind]), key=json.dumps)
            if like
            else rows[source][kind]
            for kind, like in kinds.items()
        }
        for source, kinds in earlier.items()
    }


def _cut(value: Any, like: Any) -> Any:
    match value, like:
        case {**fields}, {**known}:
            return {name: fields[name] for name in known}
        case list(), list():
            return [_cut(one, earlier) for one, earlier in zip(value, like, strict=False)]
    return value


def _as_json(row: Row) -> Any:
    return to_jsonable_python(tuple(row), bytes_mode="base64")


def unpacked(engine: str, folder: Path) -> tuple[Path, dict[str, Rows]]:
    """Unpack what an engine left, and return its folder and the rows by `kinds`, `first` and `second`."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, [one for one in archive if one.name.startswith(engine)], filter="data")
    return folder / engine, json.loads((folder / engine / "rows.json").read_text())


def write_tables(url: str, schema: str, left: Path) -> None:
    """Make the tables of the earlier program in a new schema, and fill them with what is in the folder `tables`."""
    tables = left / "tables"
    contents = json.loads((tables / "contents.json").read_text())
    with psycopg.connect(url) as db:
        db.execute(f"CREATE SCHEMA {schema}; SET search_path TO {schema}".encode())
        db.execute((left.parent / "schema.sql").read_bytes())
        db.execute(b"DELETE FROM epoch")
        least = json.loads((left.parent / "version.json").read_text())["least"]
        db.execute(b"INSERT INTO version (number, least) VALUES (%s, %s)", [contents["version"], least])
        for table, columns in contents["tables"].items():
            named = ", ".join(f'"{column}"' for column in columns)
            with db.cursor().copy(f"COPY {table} ({named}) FROM STDIN".encode()) as copying:
                copying.write((tables / f"{table}.copy").read_bytes())


# ---- the archive


def _write_kinds(place: StorePlace) -> Rows:
    rows = rows_of_each_kind()
    with place.transfer.importing(place.folder, ["s"]) as written:
        for kind in OF_SOURCE:
            written.write(kind, rows[kind], "s")
        for kind in OF_PROJECT:
            written.write(kind, rows[kind])
        written.finish()
    return all_rows(place)


def _write_project(workspace: Workspace, saved: Path) -> dict[str, Rows]:
    """Crawl, save, crawl again, and kill that second run when it is repeated."""
    site, place = Site(), place_in(workspace)
    fill(site)
    with site.serve(HOST, PORT):
        assert workspace.crawl().run["outcomes"]["NEW"] > 8
        first = all_rows(place)
        assert workspace.command("backup", str(saved)).code == 0
        assert "NEW" not in workspace.crawl().run["outcomes"]
        second = all_rows(place)
        assert workspace.command("restore", str(saved), "--force").code == 0
        site.reset()
        held = site.hold(HELD)
        crawl = workspace.start("crawl")
        until(lambda: site.count(HELD), crawl)
        kill_group(crawl)
        held.set()
    shutil.rmtree(workspace.directory / "var" / "log")
    return {"first": first, "second": second}


def _write_engine(folder: Path, name: str, states: Iterator[Mapping[str, str]]) -> None:
    folder.mkdir()
    kinds, killed = (folder / part for part in ("kinds", "killed"))
    workspaces = []
    for part in (kinds, killed):
        part.mkdir()
        workspaces.append(Workspace(part))
        define(workspaces[-1], {"engine": name, **next(states)})
    rows = {"kinds": _write_kinds(place_in(workspaces[0]))}
    rows |= _write_project(workspaces[1], folder / "saved.tgz")
    (folder / "rows.json").write_text(json.dumps(rows, indent=0))
    if name == "postgresql":
        from ultracrawl.stores.postgresql.engine import PostgresEngine

        for workspace in workspaces:
            place = place_in(workspace)
            engine = place.engine
            assert isinstance(engine, PostgresEngine)
            engine.save_stores(place.folder, workspace.directory / "tables")
        shutil.copy(SCHEMA, folder)
        (folder / "version.json").write_text(json.dumps({"number": VERSION, "least": LEAST}))


def main() -> None:
    """Write the archive."""
    with tempfile.TemporaryDirectory() as scratch, postgresql_server() as url:
        _write_engine(Path(scratch, "sqlite"), "sqlite", iter([{}, {}]))
        with a_schema(url) as first, a_schema(url) as second:
            schemas = ({"url": one["url"], "schema_name": one["schema"]} for one in (first, second))
            _write_engine(Path(scratch, "postgresql"), "postgresql", schemas)
        with tarfile.open(ARCHIVE, "w:xz") as archive:
            for engine in ("sqlite", "postgresql"):
                archive.add(Path(scratch, engine), engine)


if __name__ == "__main__":
    main()
