"""The links of pages, and what links to documents are called, kept in the store of their source."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from heapq import nsmallest
from itertools import groupby
from operator import itemgetter

from xxhash import xxh3_64_intdigest

from ultracrawl.content.anchors import MOST_ANCHORS, MOST_SECTION_ANCHORS, SHARED, anchor_mark, says_more_than
from ultracrawl.stores.port.links import LinkTexts
from ultracrawl.stores.sqlite.anchor_counts import AnchorCounts, AnchorLink
from ultracrawl.stores.sqlite.database import SqliteAccess, SqlitePart

# Unary plus: SQLite would make an index of the whole table by target for every question.
_TEXTS = f"""
    WITH RECURSIVE ask(key, target) AS (
        SELECT value, value FROM json_each(?)
        UNION SELECT ask.key, r.key FROM ask CROSS JOIN anchor_redirect r ON r.target=ask.target)
    SELECT ask.key, a.fragment, a.text, a.pages FROM ask CROSS JOIN anchor a
        ON a.mark BETWEEN ask.target & -4294967296 AND ask.target | 4294967295 AND +a.target=ask.target
        LEFT JOIN anchor_text t ON t.text=a.text
    WHERE a.pages>0 AND coalesce(t.targets, 0)<={SHARED} ORDER BY ask.key"""  # noqa: S608 - a constant
_TELL = """
    INSERT INTO anchor_document (key, told, crowded) VALUES (?,?,?)
    ON CONFLICT DO UPDATE SET told=excluded.told, crowded=excluded.crowded, due=0"""
_HAND = """
    INSERT INTO anchor_document (key, told, due) VALUES (?,NULL,1)
    ON CONFLICT DO UPDATE SET told=NULL, due=1"""

_WITHOUT, _LEFT = "without", "left"
"""Marks in `anchor_document` for a document whose texts are still to come, and for one that has left."""
_FIRST = -(1 << 63)


class SqliteLinks(SqlitePart):
    """The tables `anchor...`; see `LinkPart`.

    The links of pages are in the tables of `AnchorCounts`; `anchor_left` has those of dropped pages until
    they are subtracted, `anchor_redirect` where URLs redirect to, `anchor_document` which texts were submitted.
    """

    def __init__(self, access: SqliteAccess) -> None:
        super().__init__(access)
        self._counts = AnchorCounts(access.db)
        self._met: dict[int, AnchorLink] = {}
        self._pages: dict[int, bytes] = {}
        self._redirects: dict[int, int] = {}
        self._told: dict[int, LinkTexts | str] = {}
        self._sweep = False
        self._crowded: set[int] | None = None
        """Documents with more texts than the index takes, so that the numbers of pages decide."""
        self.changes = (self._met, self._pages, self._redirects, self._told)

    def page_links(self) -> Iterator[tuple[int, bytes]]:
        """Yield every page that has links, with them."""
        yield from self._db.execute("SELECT key, links FROM url WHERE links<>x''")

    # ---- links of pages

    def note_anchor(self, target: int, text: str, fragment: str = "") -> int:
        """Store an anchor text."""
        mark = anchor_mark(target, text, fragment)
        self._met[mark] = AnchorLink(target, fragment, text)
        return mark

    def put_page_anchors(self, key: int, marks: bytes) -> None:
        """Replace the links of a page."""
        self._pages[key] = marks

    def put_redirect(self, key: int, target: int) -> None:
        """Store where a URL redirects to."""
        self._redirects[key] = target

    # ---- texts of documents

    def anchor_texts(self, keys: Collection[int]) -> dict[int, LinkTexts]:
        """Return the texts that documents should have."""
        with self._access.translated:  # row by row: of one document they may be many
            rows: Iterator[_Said] = self._db.execute(_TEXTS, (json.dumps(list(keys)),))
            return {key: _texts_of(said) for key, said in groupby(rows, key=itemgetter(0))}

    def submitted_without_texts(self, key: int) -> None:
        """Note that a document is submitted without texts."""
        self._told[key] = _WITHOUT

    def submitted_with_texts(self, key: int, texts: LinkTexts) -> None:
        """Note which texts are submitted for a document."""
        self._told[key] = texts

    def document_left(self, key: int) -> None:
        """Note that a document leaves the index."""
        self._told[key] = _LEFT

    def doubt_submitted_texts(self) -> None:
        """Note that the index may have other texts than were submitted."""
        with self._access.translated:
            self._db.execute("UPDATE anchor_document SET told=NULL, due=1")

    def sweep_anchors(self) -> None:
        """Have the next flush do what is done once a run."""
        self._sweep = True

    def documents_due(self, after: int | None, number: int) -> list[int]:
        """Return documents whose texts may differ from those submitted."""
        query = "SELECT key FROM anchor_document WHERE due=1 AND key>=? ORDER BY key LIMIT ?"
        return [key for (key,) in self._read(query, _FIRST if after is None else after + 1, number)]

    def changed_texts(self, keys: Collection[int]) -> dict[int, LinkTexts]:
        """Return the texts of those documents whose texts differ from those submitted."""
        now = self.anchor_texts(keys)
        query = "SELECT key, told FROM anchor_document WHERE key IN (SELECT value FROM json_each(?))"
        told = dict(self._read(query, json.dumps(list(keys))))
        texts = {key: now.get(key, LinkTexts()) for key in keys}
        self._told.update(texts)
        return {key: said for key, said in texts.items() if told.get(key) != _print_of(said)}

    # ---- writing, inside a transaction of the store

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for the next flush."""
        return super().unwritten + self._sweep

    def write_changes(self) -> None:
        """Write what waits."""
        self._write_documents()
        targets = self._write_redirects()
        left = self._db.execute("SELECT id, marks, target FROM anchor_left").fetchall() if self._sweep else []
        moved = self._counts.change_pages(self._met, self._pages, [marks for _, marks, _ in left if marks])
        targets.update(target for _, _, target in left if target)
        self._have_looked_at(targets | moved.texts, moved.numbers)
        if self._sweep:
            self._db.executemany("DELETE FROM anchor_left WHERE id=?", [(number,) for number, *_ in left])
            self._counts.sweep_turned()

    def _write_documents(self) -> None:
        run = self._db.executemany
        run(
            "DELETE FROM anchor_document WHERE key=?",
            [(key,) for key, what in self._told.items() if what is _LEFT],
        )
        run(_HAND, [(key,) for key, what in self._told.items() if what is _WITHOUT])
        told = [(key, what) for key, what in self._told.items() if not isinstance(what, str)]
        run(_TELL, [(key, _print_of(texts), _is_crowded(texts)) for key, texts in told])
        if self._crowded is None:
            rows = self._db.execute("SELECT key FROM anchor_document WHERE crowded=1")
            self._crowded = {key for (key,) in rows}
        self._crowded.update(key for key, texts in told if _is_crowded(texts))

    def _write_redirects(self) -> set[int]:
        """Store where URLs redirect to; returns the targets whose texts change by that."""
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

    def _have_looked_at(self, targets: set[int], numbers: set[int]) -> None:
        """Note which documents may be due: those with other texts, and the crowded ones with other numbers."""
        assert self._crowded is not None
        keys = self._reached(targets)
        if self._crowded:
            keys |= self._reached(numbers) & self._crowded
        self._db.executemany(
            "UPDATE anchor_document SET due=1 WHERE key=? AND due=0", [(key,) for key in sorted(keys)]
        )

    def _reached(self, targets: set[int]) -> set[int]:
        """Return targets, and what they redirect to."""
        query = "SELECT target FROM anchor_redirect WHERE key IN (SELECT value FROM json_each(?))"
        reached, front = set(targets), targets
        if not self._db.execute("SELECT EXISTS (SELECT 1 FROM anchor_redirect)").fetchone()[0]:
            return reached
        while front:
            further = {target for (target,) in self._db.execute(query, (json.dumps(list(front)),))}
            front = further - reached
            reached |= front
        return reached

    def forget_changes(self) -> None:
        """Take note that the transaction went well."""
        super().forget_changes()
        self._sweep = False


_Said = tuple[int, str, str, int]
"""A text of links to a document: its key, the fragment, the text, the number of pages that have it."""


def _texts_of(said: Iterable[_Said]) -> LinkTexts:
    """Return those texts of links to one document that most pages have."""
    whole, parts = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for _, fragment, text, pages in said:
        if not fragment:
            whole[fragment, text] += pages
        elif says_more_than(text, fragment):  # a store of an earlier version has others
            parts[fragment, text] += pages
    leads = Counter(text for _, text in parts)
    for one in [one for one in parts if leads[one[1]] > SHARED]:
        del parts[one]
    return LinkTexts(
        tuple(text for _, text in _most(whole, MOST_ANCHORS)), tuple(_most(parts, MOST_SECTION_ANCHORS))
    )


def _most(said: Mapping[tuple[str, str], int], number: int) -> list[tuple[str, str]]:
    """Return as many as this, those that most pages have, in their order."""
    if len(said) > number:
        return sorted(nsmallest(number, said, key=lambda one: (-said[one], one)))
    return sorted(said)


def _is_crowded(texts: LinkTexts) -> bool:
    """Whether a document has as many texts as the index takes, so that the numbers of pages decide."""
    return len(texts.whole) == MOST_ANCHORS or len(texts.parts) == MOST_SECTION_ANCHORS


def _print_of(texts: LinkTexts) -> int:
    """Return a number by which texts are compared, 0 for none."""
    lines = [*texts.whole, *map("\0".join, texts.parts)]
    return xxh3_64_intdigest("\n".join(lines).encode(errors="replace")) >> 1 if lines else 0
