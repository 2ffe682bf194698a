"""Links of pages and anchor texts of documents: tables `anchor...` and `depth_due`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import groupby
from operator import itemgetter

import psycopg

from ultracrawl.content.anchors import SHARED
from ultracrawl.model import UrlOutcome
from ultracrawl.stores.port.links import LinkTexts
from ultracrawl.stores.postgresql.access.fencing import ask_for, fetched, run_for
from ultracrawl.stores.postgresql.anchor_counts import AnchorCounts
from ultracrawl.stores.postgresql.codes import OUTCOME_NUMBERS
from ultracrawl.stores.postgresql.part_base import PostgresWriting, StoreAccess
from ultracrawl.stores.state.links import REMOVED, WITHOUT, NotedLinks, TextRow, storable_links, texts_of
from ultracrawl.stores.state.part import Writing

_SELECT_TEXTS = f"""
    WITH RECURSIVE ask(key, target) AS (
        SELECT t.key, t.key FROM unnest(%s::bigint[]) t(key)
        UNION SELECT ask.key, r.key FROM ask JOIN anchor_redirect r ON {{r}} AND r.target = ask.target)
    SELECT ask.key, a.fragment, a.text, a.pages FROM ask JOIN anchor a
        ON {{a}} AND a.mark BETWEEN ask.target & -4294967296 AND ask.target | 4294967295 AND a.target = ask.target
        LEFT JOIN anchor_text n ON {{n}} AND n.text = a.text
    WHERE a.pages > 0 AND coalesce(n.targets, 0) <= {SHARED} ORDER BY ask.key"""  # noqa: S608 - a constant
_STORE_SUBMITTED = """
    INSERT INTO anchor_document (source, part, key, told, crowded, due)
    SELECT {ids}, * FROM unnest(%s::bigint[], %s::bigint[], %s::bool[], %s::bool[])
    ON CONFLICT (source, part, key) DO UPDATE
    SET told = excluded.told, crowded = excluded.crowded, due = excluded.due"""
_MARK_TEXTS_DUE = """
    INSERT INTO anchor_document (source, part, key, due) SELECT {ids}, t.key, true FROM unnest(%s::bigint[]) t(key)
    ON CONFLICT (source, part, key) DO UPDATE SET told = NULL, due = true"""
_SELECT_DUE = """
    SELECT key FROM anchor_document WHERE {own} AND due AND key >= %s AND key <> ALL(%s::bigint[])
    ORDER BY key LIMIT %s"""
_CLEAR_DUE = """
    UPDATE anchor_document SET due = false WHERE {own} AND due AND told IS NOT NULL AND key <> ALL(%s::bigint[])"""
_NOTE_DEPTHS_DUE = """
    INSERT INTO depth_due AS d (source, part, key, dropped) SELECT {ids}, * FROM unnest(%s::bigint[], %s::bytea[])
    ON CONFLICT (source, part, key) DO UPDATE SET dropped = d.dropped || excluded.dropped"""
_PUT_REDIRECTS = """
    INSERT INTO anchor_redirect (source, part, key, target) SELECT {ids}, * FROM unnest(%s::bigint[], %s::bigint[])
    ON CONFLICT (source, part, key) DO UPDATE SET target = excluded.target"""
_MARK_DUE = """
    WITH RECURSIVE reached(key, by_text) AS (
        SELECT t.key, t.by_text FROM unnest(%s::bigint[], %s::bool[]) t(key, by_text)
        UNION SELECT r.target, reached.by_text FROM reached JOIN anchor_redirect r ON {r} AND r.key = reached.key)
    UPDATE anchor_document d SET due = true FROM reached
    WHERE {d} AND d.key = reached.key AND NOT d.due AND (reached.by_text OR d.crowded)"""
_SELECT_STORED_REDIRECTS = "SELECT key, target FROM anchor_redirect WHERE {own} AND key = ANY(%s)"
_SELECT_REDIRECTS = f"""
    SELECT key, depth, coalesce(subject, '') FROM url
    WHERE {{own}} AND outcome = {OUTCOME_NUMBERS[UrlOutcome.REDIRECTED]}"""  # noqa: S608 - a constant

_LOWEST_KEY = -(1 << 63)


class PostgresLinks(NotedLinks):
    """The tables `anchor...`; see `LinkPart`.

    `AnchorCounts` has the tables with the links of pages. `anchor_left` has the links of dropped pages until they are
    subtracted, `anchor_redirect` the redirect targets, `anchor_document` a hash of the submitted texts.
    """

    _access: StoreAccess

    def __init__(self, access: StoreAccess) -> None:
        super().__init__(access)
        self._database, self._sql = access.database, access.database.sql
        self._counts = AnchorCounts(access.database)

    def page_links(self) -> Iterator[tuple[int, bytes]]:
        """Yield the key and link keys of every page with links."""
        query = "SELECT key, links FROM url WHERE {own} AND links IS NOT NULL ORDER BY number"
        yield from self._database.stream(self._sql(query))

    # ---- depths

    def depths_due(self) -> dict[int, bytes]:
        """Return the dropped links by key."""
        return dict(self._read("SELECT key, dropped FROM depth_due WHERE {own}"))

    def linked_pages(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield key, depth and link keys of every page with links."""
        query = "SELECT key, depth, links FROM url WHERE {own} AND links IS NOT NULL ORDER BY number"
        yield from self._database.stream(self._sql(query))

    def redirects(self) -> Iterator[tuple[int, int, str]]:
        """Yield key, depth and target of every URL that redirects."""
        query = self._sql(f"{_SELECT_REDIRECTS} ORDER BY number")
        yield from self._database.stream(query)

    # ---- links of pages

    # ---- texts of documents

    def anchor_texts(self, keys: Collection[int]) -> dict[int, LinkTexts]:
        """Return the texts that documents should have."""
        rows: Iterator[TextRow] = self._database.stream(self._sql(_SELECT_TEXTS), list(keys))
        return {key: texts_of(own) for key, own in groupby(rows, key=itemgetter(0))} if keys else {}

    def invalidate_submitted_texts(self) -> None:
        """Mark all documents as due, because the index may have other texts."""
        query = self._sql("UPDATE anchor_document SET told = NULL, due = true WHERE {own}")
        self._database.write(lambda db: db.execute(query))

    def documents_due(self, after: int | None, number: int) -> list[int]:
        """Return documents whose texts may differ from the submitted ones."""
        first = _LOWEST_KEY if after is None else after + 1
        return [key for (key,) in self._read(_SELECT_DUE, first, self._elsewhere, number)]

    def changed_texts(self, keys: Collection[int]) -> dict[int, LinkTexts]:
        """Return the texts of those documents whose texts differ from the submitted ones."""
        current = self.anchor_texts(keys)
        query = "SELECT key, told FROM anchor_document WHERE {own} AND key = ANY(%s)"
        submitted: dict[int, int | None] = dict(self._read(query, list(keys)))
        return self._changed_texts(keys, current, submitted)

    def note_texts_arrived(self) -> None:
        """Record that nothing waits for an index."""
        query, elsewhere = self._sql(_CLEAR_DUE), self._elsewhere
        self._database.write(lambda db: db.execute(query, [elsewhere]))

    def resubmit_due_texts(self) -> None:
        """Forget what was submitted of what is due."""
        query = self._sql("UPDATE anchor_document SET told = NULL WHERE {own} AND due AND told IS NOT NULL")
        self._database.write(lambda db: db.execute(query))

    @property
    def _elsewhere(self) -> list[int]:
        return sorted(self._access.elsewhere)

    # ---- writing, inside a transaction of the store

    def write_changes(self, to: Writing) -> None:
        """Write the unflushed changes."""
        assert isinstance(to, PostgresWriting)
        db = to.connection
        if self._clears_depths:
            db.execute(self._sql("DELETE FROM depth_due WHERE {own}"))
        run_for(db, self._sql(_NOTE_DEPTHS_DUE), list(self._depths_due.items()))
        self._write_documents(db)
        query = self._sql("SELECT number, marks, target FROM anchor_left WHERE {own}")
        dropped = db.execute(query).fetchall() if self._sweep else []
        removed = [bytes(marks) for _, marks, _ in dropped if marks]
        redirects = ask_for(db, self._sql(_SELECT_STORED_REDIRECTS), self._redirects)
        changed = self._counts.change_pages(db, storable_links(self._met), self._pages, removed)
        targets = self._write_redirects(db, dict(fetched(redirects)))
        targets.update(target for _, _, target in dropped if target)
        due = dict.fromkeys(changed.counts_of, False) | dict.fromkeys(targets | changed.texts_of, True)
        run_for(db, self._sql(_MARK_DUE), list(due.items()))
        if self._sweep:
            numbers = [number for number, *_ in dropped]
            db.execute(self._sql("DELETE FROM anchor_left WHERE {own} AND number = ANY(%s)"), [numbers])
            self._counts.sweep(db)

    def _write_documents(self, db: psycopg.Connection) -> None:
        """Store what was submitted."""
        if removed := self._keys_of(REMOVED):
            db.execute(self._sql("DELETE FROM anchor_document WHERE {own} AND key = ANY(%s)"), [removed])
        if without := self._keys_of(WITHOUT):
            db.execute(self._sql(_MARK_TEXTS_DUE), [without])
        run_for(db, self._sql(_STORE_SUBMITTED), self._documents())

    def _write_redirects(self, db: psycopg.Connection, stored: dict[int, int]) -> set[int]:
        """Store redirect targets in place of the stored ones; returns the targets whose texts change."""
        changed = {key: target for key, target in self._redirects.items() if stored.get(key, 0) != target}
        if gone := sorted(key for key, target in changed.items() if not target):
            db.execute(self._sql("DELETE FROM anchor_redirect WHERE {own} AND key = ANY(%s)"), [gone])
        run_for(db, self._sql(_PUT_REDIRECTS), [pair for pair in changed.items() if pair[1]])
        return {*changed.values(), *(stored.get(key, 0) for key in changed)}
