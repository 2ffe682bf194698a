"""The statements of links of pages and anchor texts: tables `anchor...` and `depth_due` of the SQLite store."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from functools import cached_property

from ultracrawl.content.anchors import SHARED
from ultracrawl.stores.port.links import LinkTexts
from ultracrawl.stores.sqlite.database import SqliteAccess
from ultracrawl.stores.state.links import Links, TextRow
from ultracrawl.stores.state.part import Writing

_SELECT_REACHED = "SELECT target FROM anchor_redirect WHERE key IN (SELECT value FROM json_each(?))"


class _Crowded:
    """Documents with as many texts as the index takes or more, so that page counts decide; read once."""

    def __init__(self, access: SqliteAccess) -> None:
        self._access = access

    @cached_property
    def keys(self) -> set[int]:
        """Their keys."""
        return {key for (key,) in self._access.read("SELECT key FROM anchor_document WHERE crowded=1")}


class SqliteLinks(Links):
    """The statements of `Links`."""

    PAGE_LINKS = "SELECT key, links FROM url WHERE links<>x''"
    LINKED_PAGES = "SELECT key, depth, links FROM url WHERE links<>x''"
    REDIRECTS = "SELECT key, depth, subject FROM url WHERE outcome='REDIRECTED'"
    NOTE_DEPTH_DUE = """
        INSERT INTO depth_due (key, dropped) VALUES (?,?)
        ON CONFLICT DO UPDATE SET dropped=CAST(dropped || excluded.dropped AS BLOB)"""
    # Unary plus: otherwise SQLite builds a temporary index of the whole table on `target` for every query.
    SELECT_TEXTS = f"""
        WITH RECURSIVE ask(key, target) AS (
            SELECT value, value FROM json_each(?)
            UNION SELECT ask.key, r.key FROM ask CROSS JOIN anchor_redirect r ON r.target=ask.target)
        SELECT ask.key, a.fragment, a.text, a.pages FROM ask CROSS JOIN anchor a
            ON a.mark BETWEEN ask.target & -4294967296 AND ask.target | 4294967295 AND +a.target=ask.target
            LEFT JOIN anchor_text t ON t.text=a.text
        WHERE a.pages>0 AND coalesce(t.targets, 0)<={SHARED} ORDER BY ask.key"""  # noqa: S608 - a constant
    SET_PAGES = "UPDATE anchor SET pages=?2 WHERE mark=?1"
    MARK_TURNED = """
        WITH RECURSIVE turned(target) AS (
            SELECT a.target FROM anchor a CROSS JOIN anchor_text t ON t.text=a.text WHERE t.turned
            UNION SELECT r.target FROM turned CROSS JOIN anchor_redirect r ON r.key=turned.target)
        UPDATE anchor_document SET due=1 WHERE due=0 AND key IN (SELECT target FROM turned)"""

    _access: SqliteAccess

    def __init__(self, access: SqliteAccess) -> None:
        super().__init__(access)
        self._crowded = _Crowded(access)

    def anchor_texts(self, keys: Collection[int]) -> dict[int, LinkTexts]:
        """Return the texts that documents should have."""
        with self._access.translated:
            return super().anchor_texts(keys)

    def _text_rows(self, keys: object) -> Iterator[TextRow]:
        return self._access.db.execute(self.SELECT_TEXTS, (keys,))  # without a call a row

    # ---- writing, inside a transaction of the store

    def _mark_due(self, to: Writing, texts: set[int], counts: set[int], crowded: set[int]) -> None:
        self._crowded.keys.update(crowded)
        keys = self._with_redirect_targets(texts)
        if self._crowded.keys:
            keys |= self._with_redirect_targets(counts) & self._crowded.keys
        to.run("UPDATE anchor_document SET due=1 WHERE key=? AND due=0", [(key,) for key in sorted(keys)])

    def _with_redirect_targets(self, targets: set[int]) -> set[int]:
        """Return `targets` and everything they redirect to."""
        reached, front = set(targets), targets
        if not self._read("SELECT 1 FROM anchor_redirect LIMIT 1"):
            return reached
        while front:
            further = {target for (target,) in self._read(_SELECT_REACHED, json.dumps(list(front)))}
            front = further - reached
            reached |= front
        return reached

    def _sweep_texts(self, to: Writing) -> None:
        if self._read("SELECT 1 FROM anchor_text WHERE turned LIMIT 1"):
            super()._sweep_texts(to)
