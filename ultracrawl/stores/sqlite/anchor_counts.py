"""Counts pages by anchor text and target, and targets by anchor text."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ultracrawl.content.anchors import SHARED
from ultracrawl.stores.link_texts import AnchorLink


class ChangedTargets(NamedTuple):
    """Targets that gained or lost texts, and targets with changed page counts."""

    texts: set[int]
    counts: set[int]


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
    ) -> ChangedTargets:
        """Replace the links of pages and subtract `removed` marks; `met` has the links of marks that may be new."""
        deltas = self._deltas(pages)
        for marks in removed:
            deltas.subtract(marks_of(marks))
        return self._add(met, deltas)

    def _deltas(self, pages: Mapping[int, bytes]) -> Counter[int]:
        """Replace the marks of pages; returns the change of the page count by mark."""
        deltas: Counter[int] = Counter()
        rows = []
        for key, marks in pages.items():
            row = self._db.execute("SELECT marks FROM anchor_page WHERE key=?", (key,)).fetchone()
            before = row[0] if row else b""
            if before != marks:
                deltas.update(marks_of(marks))
                deltas.subtract(marks_of(before))
                rows.append((key, marks))
        self._db.executemany("INSERT OR REPLACE INTO anchor_page (key, marks) VALUES (?,?)", rows)
        return deltas

    def _add(self, met: Mapping[int, AnchorLink], deltas: Counter[int]) -> ChangedTargets:
        marks = json.dumps(sorted(met.keys() | deltas.keys()))
        query = "SELECT mark, target, pages FROM anchor WHERE mark IN (SELECT value FROM json_each(?))"
        known = {mark: (target, pages) for mark, target, pages in self._db.execute(query, (marks,))}
        new = sorted((mark, *link, max(deltas[mark], 0)) for mark, link in met.items() if mark not in known)
        changed, turned = [], {mark: pages > 0 for mark, *_, pages in new if pages}
        for mark, (_, before) in known.items():
            after = max(before + deltas[mark], 0)
            if after != before:
                changed.append((after, mark))
            if (after > 0) != (before > 0):
                turned[mark] = after > 0
        run = self._db.executemany
        run("INSERT INTO anchor (mark, target, fragment, text, pages) VALUES (?,?,?,?,?)", new)
        run("UPDATE anchor SET pages=? WHERE mark=?", changed)
        links = self._links(turned, met)
        self._count_texts((link.text, turned[mark]) for mark, link in links.items() if not link.fragment)
        return ChangedTargets(
            {link.target for link in links.values()}, {known[mark][0] for _, mark in changed}
        )

    def _links(self, marks: Collection[int], met: Mapping[int, AnchorLink]) -> dict[int, AnchorLink]:
        """Return the links of marks."""
        found = {mark: met[mark] for mark in marks if mark in met}
        if rest := [mark for mark in marks if mark not in met]:
            query = "SELECT mark, target, fragment, text FROM anchor WHERE mark IN (SELECT value FROM json_each(?))"
            found.update(
                (mark, AnchorLink(*link)) for mark, *link in self._db.execute(query, (json.dumps(rest),))
            )
        return found

    def _count_texts(self, turned: Iterable[tuple[str, bool]]) -> None:
        targets: Counter[str] = Counter()
        for text, is_used in turned:
            targets[text] += 1 if is_used else -1
        self._db.executemany(_COUNT_TEXT, sorted(item for item in targets.items() if item[1]))

    def sweep(self) -> None:
        """Mark documents as due whose texts began or ceased to count, and delete texts without pages."""
        if self._db.execute("SELECT EXISTS (SELECT 1 FROM anchor_text WHERE turned)").fetchone()[0]:
            self._db.execute(_MARK_TURNED_DUE)
            self._db.execute("DELETE FROM anchor_text WHERE turned AND targets<=0")
            self._db.execute("UPDATE anchor_text SET turned=0 WHERE turned")
        self._db.execute("DELETE FROM anchor WHERE pages=0")


def marks_of(marks: bytes) -> array[int]:
    """Return the marks of a page as integers."""
    return array("q", marks)
