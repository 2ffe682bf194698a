"""Counts pages by anchor text and target, and targets by anchor text."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import psycopg

from ultracrawl.content.anchors import SHARED
from ultracrawl.stores.postgresql.access.fencing import SourceDatabase, ask_for, fetched, run_for
from ultracrawl.stores.state.links import AnchorLink, CountedLinks, changed_marks, counted_links, marks_of

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
    ) -> CountedLinks:
        """Replace the links of pages and subtract `removed` marks; `met` has the links of marks that may be new."""
        now = {*met}.union(*map(marks_of, (*pages.values(), *removed)))
        asked = ask_for(db, self._sql(_SELECT_PAGES), pages), ask_for(db, self._sql(_SELECT_MARKS), now)
        rows, deltas = changed_marks(pages, dict(fetched(asked[0])), removed)
        run_for(db, self._sql(_PUT_PAGES), rows)
        known = fetched(asked[1])
        known += fetched(ask_for(db, self._sql(_SELECT_MARKS), deltas.keys() - now))
        counted = counted_links(met, deltas, known)
        run_for(db, self._sql(_ADD_MARKS), counted.added)
        run_for(db, self._sql(_SET_PAGES), counted.pages)
        run_for(db, self._sql(_COUNT_TEXTS), counted.targets)
        return counted

    def sweep(self, db: psycopg.Connection) -> None:
        """Mark documents as due whose texts began or ceased to count, and delete texts without pages."""
        db.execute(self._sql(_MARK_TURNED_DUE))
        db.execute(self._sql("DELETE FROM anchor_text WHERE {own} AND turned AND targets <= 0"))
        db.execute(self._sql("UPDATE anchor_text SET turned = false WHERE {own} AND turned"))
        db.execute(self._sql("DELETE FROM anchor WHERE {own} AND pages = 0"))
