"""Migrates the anchor texts of a store of an older version: pages are counted from the links that it has."""

from __future__ import annotations

import json
import sqlite3
from array import array
from zlib import crc32

from ultracrawl.content.anchors import anchor_mark
from ultracrawl.model import CauseCode
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores.sqlite.anchor_counts import AnchorCounts, AnchorLink
from ultracrawl.stores.sqlite.database import transaction, translated

BATCH = 500
"""Pages that are counted at a time."""
_REDIRECTS = "SELECT key, subject FROM url WHERE outcome='REDIRECTED' AND cause_code=?"
_PAGES = """
    SELECT p.key, p.marks, u.links FROM former_anchor_page p JOIN url u ON u.key=p.key
    WHERE u.outcome<>'REDIRECTED' ORDER BY u.id"""


def take_over_anchors(db: sqlite3.Connection) -> None:
    """Count the links in the former tables, and empty these; does nothing where they are empty.

    A redirect had the texts of its URL as its own; now it is noted that it is one.
    """
    with translated(db):
        former = "SELECT EXISTS (SELECT 1 FROM former_anchor_page)"
        if db.execute(former).fetchone()[0]:
            with transaction(db):
                _take_over(db)


def _take_over(db: sqlite3.Connection) -> None:
    db.execute("CREATE TEMP TABLE former_mark (mark INTEGER, target INTEGER, text TEXT)")
    rows = db.execute("SELECT target, text FROM former_anchor WHERE gone=0")
    marked = ((_former_mark(target, text), target, text) for target, text in rows)
    db.executemany("INSERT INTO former_mark (mark, target, text) VALUES (?,?,?)", marked)
    db.execute("CREATE INDEX temp.former_mark_mark ON former_mark (mark)")
    _take_redirects(db)
    counts = AnchorCounts(db)
    pages = db.execute(_PAGES)
    while batch := pages.fetchmany(BATCH):
        met: dict[int, AnchorLink] = {}
        said = {key: _marks(db, marks, links, met) for key, marks, links in batch}
        counts.change_pages(met, said, ())
    db.execute("DROP TABLE former_mark")
    for table in ("former_anchor", "former_anchor_page"):
        db.execute(f"DELETE FROM {table}")  # noqa: S608 - a constant


def _take_redirects(db: sqlite3.Connection) -> None:
    redirects = db.execute(_REDIRECTS, (CauseCode.REDIRECT.value,)).fetchall()
    db.executemany(
        "INSERT INTO anchor_redirect (key, target) VALUES (?,?)",
        ((key, url_key(target)) for key, target in redirects),
    )


def _marks(db: sqlite3.Connection, marks: bytes, links: bytes, met: dict[int, AnchorLink]) -> bytes:
    """Return the marks of a page as they are now; of two texts with one former mark those of its links count."""
    query = "SELECT target, text FROM former_mark WHERE mark IN (SELECT value FROM json_each(?))"
    found: dict[int, None] = {}
    for target, text in db.execute(query, (json.dumps(list(array("I", marks))),)):
        if target.to_bytes(8, "little", signed=True) in links:
            mark = anchor_mark(target, text)
            met[mark] = AnchorLink(target, "", text)
            found[mark] = None
    return array("q", found).tobytes()


def _former_mark(target: int, text: str) -> int:
    return crc32(text.encode(errors="replace"), target & 0xFFFFFFFF) or 1
