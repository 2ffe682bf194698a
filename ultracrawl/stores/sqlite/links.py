"""Links of pages and anchor texts of documents: tables `anchor...` and `depth_due` of the SQLite store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import groupby
from operator import itemgetter

from ultracrawl.content.anchors import SHARED
from ultracrawl.stores.port.links import LinkTexts
from ultracrawl.stores.sqlite.database import SqliteAccess
from ultracrawl.stores.state.links import (
    REMOVED,
    WITHOUT,
    AnchorLink,
    CountedLinks,
    NotedLinks,
    TextRow,
    changed_marks,
    counted_links,
    storable_links,
    texts_of,
)
from ultracrawl.stores.state.part import Writing

# Unary plus: otherwise SQLite builds a temporary index of the whole table on `target` for every query.
_SELECT_TEXTS = f"""
    WITH RECURSIVE ask(key, target) AS (
        SELECT value, value FROM json_each(?)
        UNION SELECT ask.key, r.key FROM ask CROSS JOIN anchor_redirect r ON r.target=ask.target)
    SELECT ask.key, a.fragment, a.text, a.pages FROM ask CROSS JOIN anchor a
        ON a.mark BETWEEN ask.target & -4294967296 AND ask.target | 4294967295 AND +a.target=ask.target
        LEFT JOIN anchor_text t ON t.text=a.text
    WHERE a.pages>0 AND coalesce(t.targets, 0)<={SHARED} ORDER BY ask.key"""  # noqa: S608 - a constant
_STORE_SUBMITTED = """
    INSERT INTO anchor_document (key, told, crowded, due) VALUES (?,?,?,?)
    ON CONFLICT DO UPDATE SET told=excluded.told, crowded=excluded.crowded, due=excluded.due"""
_MARK_TEXTS_DUE = """
    INSERT INTO anchor_document (key, told, due) VALUES (?,NULL,1)
    ON CONFLICT DO UPDATE SET told=NULL, due=1"""

_NOTE_DEPTH_DUE = """
    INSERT INTO depth_due (key, dropped) VALUES (?,?)
    ON CONFLICT DO UPDATE SET dropped=CAST(dropped || excluded.dropped AS BLOB)"""

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

_LOWEST_KEY = -(1 << 63)


class AnchorCounts:
    """The tables `anchor`, `anchor_text` and `anchor_page`; all methods are called inside a transaction.

    A row of `anchor` without pages stays until `sweep`, so that its mark stays valid during a run.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    @cached_property
    def crowded(self) -> set[int]:
        """Keys of documents with as many texts as the index takes or more, so that page counts decide."""
        return {key for (key,) in self._db.execute("SELECT key FROM anchor_document WHERE crowded=1")}

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


class SqliteLinks(NotedLinks):
    """The tables `anchor...`; see `LinkPart`.

    `AnchorCounts` has the tables with the links of pages. `anchor_left` has the links of dropped pages until they are
    subtracted, `anchor_redirect` the redirect targets, `anchor_document` a hash of the submitted texts.
    """

    _access: SqliteAccess

    def __init__(self, access: SqliteAccess) -> None:
        super().__init__(access)
        self._db = access.db
        self._counts = AnchorCounts(access.db)

    def page_links(self) -> Iterator[tuple[int, bytes]]:
        """Yield the key and link keys of every page with links."""
        yield from self._db.execute("SELECT key, links FROM url WHERE links<>x''")

    # ---- depths

    def depths_due(self) -> dict[int, bytes]:
        """Return the dropped links by key."""
        return dict(self._read("SELECT key, dropped FROM depth_due"))

    def linked_pages(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield key, depth and link keys of every page with links."""
        yield from self._db.execute("SELECT key, depth, links FROM url WHERE links<>x''")

    def redirects(self) -> Iterator[tuple[int, int, str]]:
        """Yield key, depth and target of every URL that redirects."""
        yield from self._db.execute("SELECT key, depth, subject FROM url WHERE outcome='REDIRECTED'")

    # ---- links of pages

    # ---- texts of documents

    def anchor_texts(self, keys: Collection[int]) -> dict[int, LinkTexts]:
        """Return the texts that documents should have."""
        with self._access.translated:  # row by row: one document may have many texts
            rows: Iterator[TextRow] = self._db.execute(_SELECT_TEXTS, (json.dumps(list(keys)),))
            return {key: texts_of(own) for key, own in groupby(rows, key=itemgetter(0))}

    def invalidate_submitted_texts(self) -> None:
        """Mark all documents as due, because the index may have other texts."""
        with self._access.translated:
            self._db.execute("UPDATE anchor_document SET told=NULL, due=1")

    def documents_due(self, after: int | None, number: int) -> list[int]:
        """Return documents whose texts may differ from the submitted ones."""
        query = "SELECT key FROM anchor_document WHERE due=1 AND key>=? ORDER BY key LIMIT ?"
        return [key for (key,) in self._read(query, _LOWEST_KEY if after is None else after + 1, number)]

    def changed_texts(self, keys: Collection[int]) -> dict[int, LinkTexts]:
        """Return the texts of those documents whose texts differ from the submitted ones."""
        current = self.anchor_texts(keys)
        query = "SELECT key, told FROM anchor_document WHERE key IN (SELECT value FROM json_each(?))"
        submitted: dict[int, int | None] = dict(self._read(query, json.dumps(list(keys))))
        return self._changed_texts(keys, current, submitted)

    def note_texts_arrived(self) -> None:
        """Record that nothing waits for an index."""
        with self._access.translated:
            self._db.execute("UPDATE anchor_document SET due=0 WHERE due=1 AND told IS NOT NULL")

    def resubmit_due_texts(self) -> None:
        """Forget what was submitted of what is due."""
        with self._access.translated:
            self._db.execute("UPDATE anchor_document SET told=NULL WHERE due=1 AND told IS NOT NULL")

    # ---- writing, inside a transaction of the store

    def write_changes(self, to: Writing) -> None:
        """Write the unflushed changes."""
        if self._clears_depths:
            self._db.execute("DELETE FROM depth_due")
        self._db.executemany(_NOTE_DEPTH_DUE, self._depths_due.items())
        self._write_documents()
        targets = self._write_redirects()
        dropped = (
            self._db.execute("SELECT id, marks, target FROM anchor_left").fetchall() if self._sweep else []
        )
        changed = self._counts.change_pages(
            storable_links(self._met), self._pages, [marks for _, marks, _ in dropped if marks]
        )
        targets.update(target for _, _, target in dropped if target)
        self._mark_due(targets | changed.texts_of, changed.counts_of)
        if self._sweep:
            self._db.executemany("DELETE FROM anchor_left WHERE id=?", [(row_id,) for row_id, *_ in dropped])
            self._counts.sweep()

    def _write_documents(self) -> None:
        run, submitted = self._db.executemany, self._documents()
        run("DELETE FROM anchor_document WHERE key=?", [(key,) for key in self._keys_of(REMOVED)])
        run(_MARK_TEXTS_DUE, [(key,) for key in self._keys_of(WITHOUT)])
        run(_STORE_SUBMITTED, submitted)
        self._counts.crowded.update(key for key, _, crowded, _ in submitted if crowded)

    def _write_redirects(self) -> set[int]:
        """Store redirect targets; returns the targets whose texts change."""
        targets = set()
        for key, target in self._redirects.items():
            row = self._db.execute("SELECT target FROM anchor_redirect WHERE key=?", (key,)).fetchone()
            before = row[0] if row else 0
            if before == target:
                continue
            targets |= {before, target}
            self._db.execute("DELETE FROM anchor_redirect WHERE key=?", (key,))
            if target:
                self._db.execute("INSERT INTO anchor_redirect (key, target) VALUES (?,?)", (key, target))
        return targets

    def _mark_due(self, targets: set[int], counts: set[int]) -> None:
        """Mark documents as due: targets with other texts, and crowded ones with other page counts."""
        keys = self._with_redirect_targets(targets)
        if self._counts.crowded:
            keys |= self._with_redirect_targets(counts) & self._counts.crowded
        self._db.executemany(
            "UPDATE anchor_document SET due=1 WHERE key=? AND due=0", [(key,) for key in sorted(keys)]
        )

    def _with_redirect_targets(self, targets: set[int]) -> set[int]:
        """Return `targets` and everything they redirect to."""
        query = "SELECT target FROM anchor_redirect WHERE key IN (SELECT value FROM json_each(?))"
        reached, front = set(targets), targets
        if not self._db.execute("SELECT EXISTS (SELECT 1 FROM anchor_redirect)").fetchone()[0]:
            return reached
        while front:
            further = {target for (target,) in self._db.execute(query, (json.dumps(list(front)),))}
            front = further - reached
            reached |= front
        return reached
