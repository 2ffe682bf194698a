"""Counts pages by anchor text and target, and targets by anchor text."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping

from ultracrawl.content.anchors import SHARED
from ultracrawl.stores.link_texts import AnchorLink, CountedLinks, changed_marks, counted_links

_SELECT_PAGES = "SELECT key, marks FROM anchor_page WHERE key IN (SELECT value FROM json_each(?))"
_SELECT_MARKS = """
    SELECT mark, target, pages, fragment, text FROM anchor WHERE mark IN (SELECT value FROM json_each(?))"""
_COUNT_TEXT = f"""
    INSERT INTO anchor_text (text, targets) VALUES (?,?) ON CONFLICT DO UPDATE SET
        turned=turned OR targets+excluded.targets<=0 OR (targets>{SHARED})<>(targets+excluded.targets>{SHARED}),
        targets=targets+excluded.targets"""  # noqa: S608 - a constant
_MARK_TURNED_DUE = """
    WITH RECURSIVE turned(target) AS (
        SELECT a.target FROM anchor a CROSS JOIN anchor_text t ON t.text=a.text WHERE t.turned
        UNION SELECT r.target FROM turned CROSS JOIN anchor_redirect r ON r.key=turned.target)
    UPDATE anchor_document SET due=1 WHERE due=0 AND key IN (SELECT target FROM turned)"""


class AnchorCounts:
    """The tables `anchor`, `anchor_text` and `anchor_page`; all methods are called inside a transaction.

    A row of `anchor` without pages stays until `sweep`, so that its mark stays valid during a run.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def change_pages(
        self, met: Mapping[int, AnchorLink], pages: Mapping[int, bytes], removed: Iterable[bytes]
    ) -> CountedLinks:
        """Replace the links of pages and subtract `removed` marks; `met` has the links of marks that may be new."""
        run, run_each = self._db.execute, self._db.executemany
        stored = dict(run(_SELECT_PAGES, (json.dumps(list(pages)),))) if pages else {}
        rows, deltas = changed_marks(pages, stored, removed)
        run_each("INSERT OR REPLACE INTO anchor_page (key, marks) VALUES (?,?)", rows)
        marks = json.dumps(sorted(met.keys() | deltas.keys()))
        counted = counted_links(met, deltas, run(_SELECT_MARKS, (marks,)))
        run_each("INSERT INTO anchor (mark, target, fragment, text, pages) VALUES (?,?,?,?,?)", counted.added)
        run_each("UPDATE anchor SET pages=?2 WHERE mark=?1", counted.pages)
        run_each(_COUNT_TEXT, counted.targets)
        return counted

    def sweep(self) -> None:
        """Mark documents as due whose texts began or ceased to count, and delete texts without pages."""
        if self._db.execute("SELECT EXISTS (SELECT 1 FROM anchor_text WHERE turned)").fetchone()[0]:
            self._db.execute(_MARK_TURNED_DUE)
            self._db.execute("DELETE FROM anchor_text WHERE turned AND targets<=0")
            self._db.execute("UPDATE anchor_text SET turned=0 WHERE turned")
        self._db.execute("DELETE FROM anchor WHERE pages=0")
