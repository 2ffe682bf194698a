"""A store of an older version: who said what is known, how many is counted, and documents are told of it."""

from __future__ import annotations

import sqlite3
from array import array
from pathlib import Path
from zlib import crc32

import pytest

from ultracrawl.content.anchors import anchor_mark
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import LinkTexts, SqliteStore
from ultracrawl.stores.sqlite.migrations import MIGRATIONS

PARTS = next(number for number, step in enumerate(MIGRATIONS) if step.startswith("UPDATE anchor_document"))
HERE = next(number for number, step in enumerate(MIGRATIONS) if "former_anchor" in step)
PAGE, OTHER, OLD, HERON = (url_key(f"http://h/{name}") for name in ("page", "other", "old", "heron"))


def former_mark(target: int, text: str) -> int:
    return crc32(text.encode(), target & 0xFFFFFFFF) or 1


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a store as the version before wrote it."""
    path = tmp_path / "s.sqlite"
    db = sqlite3.connect(path)
    for step in MIGRATIONS[:HERE]:
        db.executescript(step)
    db.execute(f"PRAGMA user_version={HERE}")
    said = {
        PAGE: [(HERON, "heron"), (OLD, "grey heron")],
        OTHER: [(HERON, "heron")],
        OLD: [(HERON, "grey heron")],
    }
    for name in ("page", "other", "old", "heron"):
        key = url_key(f"http://h/{name}")
        links = said.get(key, [])
        moved = ("REDIRECTED", "to http://h/heron") if key == OLD else ("NEW", "")
        targets = b"" if key == OLD else array("q", [target for target, _ in links]).tobytes()
        db.execute(
            "INSERT INTO url (key, url, site, depth, outcome, reason, links, indexed) VALUES (?,?,'http://h',0,?,?,?,?)",
            (key, f"http://h/{name}", *moved, targets, key == HERON),
        )
        marks = array("I", [former_mark(*link) for link in links]).tobytes()
        db.execute("INSERT INTO anchor_page (key, marks) VALUES (?,?)", (key, marks))
        db.executemany("INSERT OR IGNORE INTO anchor (target, text, seen, told) VALUES (?,?,1,1)", links)
    db.execute("INSERT INTO anchor (target, text, seen, gone) VALUES (?,'gone',1,1)", (HERON,))
    db.commit()
    db.close()
    return path


def test_what_it_knew_is_counted_and_every_document_looked_at(file: Path) -> None:
    SqliteStore(file, "s", read_only=True).close()
    state = SqliteStore(file, "s")
    assert state.links.anchor_texts([HERON, OLD]) == {
        HERON: LinkTexts(("grey heron", "heron")),
        OLD: LinkTexts(("grey heron",)),
    }
    assert state._db.execute("SELECT text, pages FROM anchor ORDER BY text").fetchall() == [
        ("grey heron", 1),
        ("heron", 2),
    ], "what a redirect repeated is known as a redirect"
    assert state.links.documents_due(None, 10) == [HERON]
    assert state.links.changed_texts([HERON]) == {HERON: LinkTexts(("grey heron", "heron"))}
    state.flush()
    state.links.put_page_anchors(PAGE, b"")
    state.links.sweep_anchors()
    state.flush()
    assert state.links.changed_texts(state.links.documents_due(None, 10)) == {HERON: LinkTexts(("heron",))}
    state.close()
    again = SqliteStore(file, "s")
    assert again.links.anchor_texts([HERON]) == {HERON: LinkTexts(("heron",))}
    again.close()


def test_what_parts_are_called_is_told_by_a_store_that_kept_it_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    SqliteStore(path, "s").close()
    db = sqlite3.connect(path)
    db.executescript(
        "ALTER TABLE url DROP COLUMN sketch; ALTER TABLE url DROP COLUMN hops; DROP TABLE held; DROP TABLE deferred"
    )
    db.execute(f"PRAGMA user_version={PARTS}")
    for target, fragment, text in ((HERON, "eggs", "nest"), (HERON, "", "heron")):
        mark = anchor_mark(target, text, fragment)
        db.execute("INSERT INTO anchor VALUES (?,?,?,?,1)", (mark, target, fragment, text))
    db.execute("INSERT INTO anchor_text (text, targets) VALUES ('heron', 1)")
    db.execute("INSERT INTO anchor_document (key, told) VALUES (?,1), (?,0)", (HERON, PAGE))
    db.commit()
    db.close()
    state = SqliteStore(path, "s")
    assert state.links.documents_due(None, 10) == sorted((HERON, PAGE))
    now = LinkTexts(("heron",), (("eggs", "nest"),))
    assert state.links.changed_texts([HERON, PAGE]) == {HERON: now}, "of the other one nothing is new"
    state.close()
