"""Counts pages by anchor text and target, and targets by anchor text."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import psycopg

from ultracrawl.content.anchors import SHARED
from ultracrawl.stores.link_texts import AnchorLink
from ultracrawl.stores.postgresql.access.database import Row
from ultracrawl.stores.postgresql.access.fencing import SourceDatabase, ask_for, fetched, run_for


class ChangedTargets(NamedTuple):
    """Targets that gained or lost texts, and targets with changed page counts."""

    texts: set[int]
    counts: set[int]


_SELECT_PAGES = "SELECT key, marks FROM anchor_page WHERE {own} AND key = ANY(%s)"
_PUT_PAGES = """
    INSERT INTO anchor_page (source, part, key, marks) SELECT {ids}, * FROM unnest(%s::bigint[], %s::bytea[])
    ON CONFLICT (source, part, key) DO UPDATE SET marks = excluded.marks"""
_SELECT_MARKS = "SELECT mark, target, pages, fragment, text FROM anchor WHERE {own} AND mark = ANY(%s)"
_ADD_MARKS = """
    INSERT INTO anchor (source, part, mark, target, fragment, text, pages)
    SELECT {ids}, * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::int[])
    ON CONFLICT DO NOTHING"""
_SET_PAGES = """
    UPDATE anchor a SET pages = t.pages FROM unnest(%s::bigint[], %s::int[]) t(mark, pages)
    WHERE {a} AND a.mark = t.mark"""
_COUNT_TEXTS = f"""
    INSERT INTO anchor_text AS a (source, part, text, targets) SELECT {{ids}}, * FROM unnest(%s::text[], %s::int[])
    ON CONFLICT (source, part, text) DO UPDATE SET targets = a.targets + excluded.targets,
    turned = a.turned OR a.targets + excluded.targets <= 0
        OR (a.targets > {SHARED}) <> (a.targets + excluded.targets > {SHARED})"""  # noqa: S608 - a constant
_MARK_TURNED_DUE = """
    WITH RECURSIVE turned(target) AS (
        SELECT a.target FROM anchor_text t JOIN anchor a ON {a} AND a.text = t.text WHERE {t} AND t.turned
        UNION SELECT r.target FROM turned JOIN anchor_redirect r ON {r} AND r.key = turned.target)
    UPDATE anchor_document d SET due = true WHERE {d} AND NOT due AND key IN (SELECT target FROM turned)"""


class AnchorCounts:
    """The tables `anchor`, `anchor_text` and `anchor_page`; all methods are called inside a transaction.

    A row of `anchor` without pages stays until `sweep`, so that its mark stays valid during a run.
    """

    def __init__(self, database: SourceDatabase) -> None:
        self._sql = database.sql

    def change_pages(
        self,
        db: psycopg.Connection,
        met: Mapping[int, AnchorLink],
        pages: Mapping[int, bytes],
        removed: Collection[bytes],
    ) -> ChangedTargets:
        """Replace the links of pages and subtract `removed` marks; `met` has the links of marks that may be new."""
        now = {*met}.union(*map(marks_of, (*pages.values(), *removed)))
        asked = ask_for(db, self._sql(_SELECT_PAGES), pages), ask_for(db, self._sql(_SELECT_MARKS), now)
        deltas = self._deltas(db, pages, dict(fetched(asked[0])))
        for marks in removed:
            deltas.subtract(marks_of(marks))
        rows = fetched(asked[1])
        rows += fetched(ask_for(db, self._sql(_SELECT_MARKS), deltas.keys() - now))
        return self._add(db, met, deltas, rows)

    def _deltas(
        self, db: psycopg.Connection, pages: Mapping[int, bytes], stored: Mapping[int, bytes]
    ) -> Counter[int]:
        """Replace the stored marks of pages; returns the change of the page count by mark."""
        deltas: Counter[int] = Counter()
        rows = []
        for key, marks in pages.items():
            before = stored.get(key, b"")
            if before != marks:
                deltas.update(marks_of(marks))
                deltas.subtract(marks_of(before))
                rows.append((key, marks))
        run_for(db, self._sql(_PUT_PAGES), rows)
        return deltas

    def _add(
        self,
        db: psycopg.Connection,
        met: Mapping[int, AnchorLink],
        deltas: Counter[int],
        rows: Iterable[Row],
    ) -> ChangedTargets:
        known = {
            mark: (AnchorLink(target, fragment, text), pages) for mark, target, pages, fragment, text in rows
        }
        new = [(mark, *link, max(deltas[mark], 0)) for mark, link in met.items() if mark not in known]
        changed, turned = [], {mark: pages > 0 for mark, *_, pages in new if pages}
        for mark, (_, before) in known.items():
            after = max(before + deltas[mark], 0)
            if after != before:
                changed.append((mark, after))
            if (after > 0) != (before > 0):
                turned[mark] = after > 0
        run_for(db, self._sql(_ADD_MARKS), [(m, target, f, t, n) for m, target, f, t, n in new])
        run_for(db, self._sql(_SET_PAGES), changed)
        links = {mark: met[mark] if mark in met else known[mark][0] for mark in turned}
        self._count_texts(
            db, ((link.text, turned[mark]) for mark, link in links.items() if not link.fragment)
        )
        return ChangedTargets(
            {link.target for link in links.values()}, {known[mark][0].target for mark, _ in changed}
        )

    def _count_texts(self, db: psycopg.Connection, turned: Iterable[tuple[str, bool]]) -> None:
        targets: Counter[str] = Counter()
        for text, is_used in turned:
            targets[text] += 1 if is_used else -1
        changed: Collection[tuple[str, int]] = [item for item in targets.items() if item[1]]
        run_for(db, self._sql(_COUNT_TEXTS), changed)

    def sweep(self, db: psycopg.Connection) -> None:
        """Mark documents as due whose texts began or ceased to count, and delete texts without pages."""
        db.execute(self._sql(_MARK_TURNED_DUE))
        db.execute(self._sql("DELETE FROM anchor_text WHERE {own} AND turned AND targets <= 0"))
        db.execute(self._sql("UPDATE anchor_text SET turned = false WHERE {own} AND turned"))
        db.execute(self._sql("DELETE FROM anchor WHERE {own} AND pages = 0"))


def marks_of(marks: bytes) -> array[int]:
    """Return the marks of a page as integers."""
    return array("q", marks)
