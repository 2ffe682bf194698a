"""Sources that are no web sites: a folder of files, tables of a database, an agent."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from golden.pair import Change, pair
from golden.stage import Stage

AGENT = '''"""Lists the lines of a file: key, title, text, who may read it, whether it is deleted."""

import json
from pathlib import Path

from ultracrawl.agents import CrawlerAgent, UrlData


class Notes(CrawlerAgent):
    def open(self, params):
        lines = Path("notes.jsonl").read_text().splitlines()
        self.notes = [json.loads(line) for line in lines]

    def is_delta_crawling_capable(self):
        return SMART

    def fetch(self):
        if not self.notes:
            return None
        note = self.notes.pop(0)
        key = note.pop("key")
        return UrlData(f"https://notes.example/{key}", doc_key=key, **note)
'''


@pair(
    kill_at=0,
    look=("file:///elsewhere/a.html", "http://elsewhere.example/", "/forbidden"),
    then=(("search", "--json", "heron"),),
)
def folder(on: Stage) -> list[Change]:
    """A folder: formats, a name of odd characters, what is left out; a change, a deletion, a file that comes back."""
    page = "<!DOCTYPE html><html lang=en><title>{}</title><p>{}</p><a href=b.html>next</a></html>"
    on.file("share/a.html", page.format("A", "the heron on the pond"))
    on.file("share/b.html", page.format("B", "a page about stones"))
    on.file("share/deep/er/odd name ü.txt", "in stock")
    on.file("share/deep/.hidden.txt", "a hidden file")
    on.file("share/skipped/c.txt", "outside the boundary")
    _define(
        on,
        type="file",
        paths=[str(on.directory / "share")],
        exclude=["skipped/"],
        display_url={f"file://{on.directory}/share/": "https://files.example/"},
    )

    def change() -> None:
        on.file("share/a.html", page.format("A", "the heron has left"))
        (on.directory / "share/b.html").unlink()
        on.file("share/d.txt", "a heron that came later")

    def come_back() -> None:
        on.file("share/b.html", page.format("B", "a page about stones and a heron"))

    return [change, come_back]


@pair(kill_at=0, look=("https://tickets.example/1", "http://elsewhere.example/", "/forbidden"))
def table_compared(on: Stage) -> list[Change]:
    """A table without a log: rows of equal text, odd values, readers; rows that change, go, and come back."""
    database = _tickets(on)
    rows = [
        (1, "Pump", "in stock", "ann", 9.5),
        (2, "Valve", "in stock", "bob", None),
        (3, "Hose", "", "ann", float("inf")),
        (4, "Seal \N{SNOWMAN}", "two\nlines", None, -1),
    ]
    _fill(database, rows)
    _define(
        on,
        type="table",
        connection=f"sqlite:///{database}",
        table="tickets",
        key=["id"],
        text=["body"],
        attributes={"title": "Title", "owner": "Author", "price": "Price"},
        display_url="https://tickets.example/{id}",
        top={"attributes": {"Price": "number"}},
    )

    def change() -> None:
        _run(
            database, "UPDATE tickets SET body = 'sold out' WHERE id = 1", "DELETE FROM tickets WHERE id = 2"
        )
        _fill(database, [(5, "Gasket", "in stock", "cay", 3)])

    def come_back() -> None:
        _fill(database, [rows[1]])
        _run(database, "UPDATE tickets SET owner = 'dan' WHERE id = 3")

    return [change, come_back]


@pair(kill_at=0, look=("https://tickets.example/1", "http://elsewhere.example/", "/forbidden"))
def table_logged(on: Stage) -> list[Change]:
    """A table with a log of changes: what it names is read, a row that was changed twice once."""
    database = _tickets(on)
    _fill(database, [(1, "Pump", "in stock", "ann", 9.5), (2, "Valve", "in stock", "bob", 4)])
    _run(
        database,
        "CREATE TABLE tickets_log (k1 VARCHAR(1000), mark CHAR(1) DEFAULT 'F' NOT NULL)",
        *(
            f"CREATE TRIGGER log_{verb} AFTER {verb} ON tickets FOR EACH ROW BEGIN "
            f"INSERT INTO tickets_log (k1) SELECT CAST({row}.id AS TEXT); END"
            for verb, row in (("insert", "NEW"), ("update", "NEW"), ("delete", "OLD"))
        ),
    )
    _define(
        on,
        type="table",
        connection=f"sqlite:///{database}",
        table="tickets",
        key=["id"],
        text=["title", "body"],
        changes={"log": "tickets_log"},
        display_url="https://tickets.example/{id}",
    )

    def change() -> None:
        _run(
            database,
            "UPDATE tickets SET body = 'low' WHERE id = 1",
            "UPDATE tickets SET body = 'sold out' WHERE id = 1",
            "DELETE FROM tickets WHERE id = 2",
        )

    def come_back() -> None:
        _fill(database, [(2, "Valve", "in stock again", "bob", 4)])

    return [change, come_back]


@pair(kill_at=0, look=("https://notes.example/a", "http://elsewhere.example/", "/forbidden"))
def standard_agent(on: Stage) -> list[Change]:
    """An agent that lists everything: what it lists no more leaves the index."""
    _define_agent(on, smart=False)
    _list(on, _note("a"), _note("b", acl=["group:staff"]), _note("c"))
    return [
        lambda: _list(on, _note("a", text="another text"), _note("c")),
        lambda: _list(on, _note("a", text="another text"), _note("b"), _note("c")),
    ]


@pair(kill_at=0, look=("https://notes.example/a", "http://elsewhere.example/", "/forbidden"))
def smart_agent(on: Stage) -> list[Change]:
    """An agent that lists changes: deletions by key, by URL, and of what nobody knows."""
    _define_agent(on, smart=True)
    _list(on, _note("a"), _note("b"), _note("c", acl=["group:staff"]), _note("d"))
    return [
        lambda: _list(on, _note("a", text="another text"), {"key": "b", "deleted": True}),
        lambda: _list(on, {"key": "nobody", "deleted": True}, _note("c"), _note("b", text="back again")),
    ]


def _define(on: Stage, *, top: dict[str, Any] | None = None, **options: Any) -> None:
    """Write a definition with one source of a kind, without what only web sites have."""
    on.define_source({"deletion": {"percent": 60}, **options}, top)


def _tickets(on: Stage) -> str:
    database = str(on.directory / "tickets.db")
    _run(
        database,
        "CREATE TABLE tickets (id INTEGER PRIMARY KEY, title TEXT, body TEXT, owner TEXT, price REAL)",
    )
    return database


def _fill(database: str, rows: list[tuple[Any, ...]]) -> None:
    with sqlite3.connect(database) as connection:
        connection.executemany("INSERT INTO tickets VALUES (?, ?, ?, ?, ?)", rows)
    connection.close()


def _run(database: str, *statements: str) -> None:
    with sqlite3.connect(database) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def _define_agent(on: Stage, *, smart: bool) -> None:
    on.file("notes_agent.py", AGENT.replace("SMART", repr(smart)))
    _define(on, type="agent", **{"class": "notes_agent.Notes"}, attributes={"author": "Author"})


def _note(key: str, **values: Any) -> dict[str, Any]:
    text = f"the text of {key}" if key != "d" else "the text of c"
    return {"key": key, "title": key.upper(), "text": text, "attributes": {"author": "Ann"}, **values}


def _list(on: Stage, *notes: dict[str, Any]) -> None:
    on.file("notes.jsonl", "".join(f"{json.dumps(note)}\n" for note in notes))
