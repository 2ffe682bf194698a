"""Which anchor texts a document gets, and what is noted of links between two flushes: the same for every engine."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from heapq import nsmallest
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple, cast

from xxhash import xxh3_64_intdigest

from ultracrawl.content.anchors import MOST_ANCHORS, MOST_SECTION_ANCHORS, SHARED, anchor_mark
from ultracrawl.stores.port.links import LOWERED, LinkTexts
from ultracrawl.stores.port.texts import are_storable, storable_texts
from ultracrawl.stores.state.part import Part, Writing, put_rows
from ultracrawl.stores.state.read_ahead import Row

TextRow = tuple[int, str, str, int]
"""Key of a document, fragment, anchor text, number of pages that have it."""


_LOWEST_KEY = -(1 << 63)


class AnchorLink(NamedTuple):
    """The link that a mark identifies."""

    target: int
    fragment: str
    """Fragment of the target, empty for the whole page."""
    text: str


def texts_of(rows: Iterable[TextRow]) -> LinkTexts:
    """Return the most frequent anchor texts of one document."""
    whole, parts = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for _, fragment, text, pages in rows:
        if not fragment:
            whole[fragment, text] += pages
        else:
            parts[fragment, text] += pages
    targets = Counter(text for _, text in parts)
    for part in [part for part in parts if targets[part[1]] > SHARED]:
        del parts[part]
    return LinkTexts(
        tuple(text for _, text in _most_frequent(whole, MOST_ANCHORS)),
        tuple(_most_frequent(parts, MOST_SECTION_ANCHORS)),
    )


def _most_frequent(pages: Mapping[tuple[str, str], int], number: int) -> list[tuple[str, str]]:
    """Return the `number` (fragment, text) pairs with the most pages, sorted."""
    if len(pages) > number:
        return sorted(nsmallest(number, pages, key=lambda pair: (-pages[pair], pair)))
    return sorted(pages)


def is_crowded(texts: LinkTexts) -> bool:
    """Whether a document has as many texts as the index takes, so that page counts decide."""
    return len(texts.whole) == MOST_ANCHORS or len(texts.parts) == MOST_SECTION_ANCHORS


def texts_hash(texts: LinkTexts) -> int:
    """Return a hash for comparing texts, 0 for none."""
    lines = [*texts.whole, *map("\0".join, texts.parts)]
    return xxh3_64_intdigest("\n".join(lines).encode(errors="replace")) >> 1 if lines else 0


def storable_links(links: Mapping[int, AnchorLink]) -> Mapping[int, AnchorLink]:
    """Return links by mark, with texts as every store can hold them."""
    if are_storable(chain.from_iterable(map(itemgetter(1, 2), links.values()))):
        return links
    return {
        mark: AnchorLink(target, *storable_texts(fragment, text))
        for mark, (target, fragment, text) in links.items()
    }


# ---- counting


class CountedLinks(NamedTuple):
    """What the links of some pages change in the tables `anchor` and `anchor_text`."""

    added: list[tuple[int, int, str, str, int]]
    """New rows: mark, target, fragment, text, number of pages."""
    pages: list[tuple[int, int]]
    """Marks with other numbers of pages."""
    targets: list[tuple[str, int]]
    """By how many the targets of a text become more."""
    texts_of: set[int]
    """Targets that gained or lost texts."""
    counts_of: set[int]
    """Targets with changed page counts."""


def changed_marks(
    pages: Mapping[int, bytes], stored: Mapping[int, bytes], removed: Iterable[bytes]
) -> tuple[list[tuple[int, bytes]], Counter[int]]:
    """Return the pages whose marks differ from the stored ones, and the change of the page count by mark."""
    deltas: Counter[int] = Counter()
    rows = []
    for key, marks in pages.items():
        before = stored.get(key, b"")
        if before != marks:
            deltas.update(marks_of(marks))
            deltas.subtract(marks_of(before))
            rows.append((key, marks))
    for marks in removed:
        deltas.subtract(marks_of(marks))
    return rows, deltas


def counted_links(
    met: Mapping[int, AnchorLink], deltas: Counter[int], rows: Iterable[tuple[int, int, int, str, str]]
) -> CountedLinks:
    """Count pages and targets anew.

    `met` has the links of marks that may be new, `rows` what is stored of marks: mark, target, pages, fragment, text.
    """
    known = {row[0]: row for row in rows}
    added = sorted((mark, *link, max(deltas[mark], 0)) for mark, link in met.items() if mark not in known)
    pages, turned = [], {mark: number > 0 for mark, *_, number in added if number}
    for mark, (_, _, before, *_) in known.items():
        after = max(before + deltas[mark], 0)
        if after != before:
            pages.append((mark, after))
        if (after > 0) != (before > 0):
            turned[mark] = after > 0
    targets, texts_of = Counter[str](), set[int]()
    for mark, is_used in turned.items():
        target, fragment, text = met[mark] if mark in met else (known[mark][1], *known[mark][3:])
        texts_of.add(target)
        if not fragment:
            targets[text] += 1 if is_used else -1
    changed = sorted(item for item in targets.items() if item[1])
    return CountedLinks(added, pages, changed, texts_of, {known[mark][1] for mark, _ in pages})


def marks_of(marks: bytes) -> array[int]:
    """Return the marks of a page as integers."""
    return array("q", marks)


# ---- what is noted between two flushes

WITHOUT, REMOVED = "without", "removed"
"""States of a document that was submitted without its texts, and of one that left the index."""


class Links(Part):
    """Base class of the links of each engine; see `LinkPart`.

    Links of pages are marks, which table `anchor` resolves; a row of it without pages stays until the sweep, so that
    its mark stays valid during a run. `anchor_left` has the links of dropped pages until they are subtracted,
    `anchor_document` a hash of the submitted texts. Reads see flushed changes only.
    """

    PAGE_LINKS: str
    """Key and link keys of every page with links."""
    LINKED_PAGES: str
    """Key, depth and link keys of every page with links."""
    REDIRECTS: str
    """Key, depth and target of every URL that redirects."""
    SELECT_DEPTHS_DUE = "SELECT key, dropped FROM depth_due WHERE {own}"
    NOTE_DEPTH_DUE: str
    """Takes a key and dropped links, which it adds to those that are stored."""
    CLEAR_DEPTHS_DUE = "DELETE FROM depth_due WHERE {own}"
    SELECT_TEXTS: str
    """The `TextRow` of each text of a list of documents, by key."""
    SELECT_TOLD = "SELECT key, told FROM anchor_document WHERE {own} AND key = ANY(%s)"
    SELECT_DUE = """
        SELECT key FROM anchor_document WHERE {own} AND due = true AND key >= %s AND key <> ALL(%s::bigint[])
        ORDER BY key LIMIT %s"""
    CLEAR_DUE = """
        UPDATE anchor_document SET due = false
        WHERE {own} AND due = true AND told IS NOT NULL AND key <> ALL(%s::bigint[])"""
    FORGET_TOLD = "UPDATE anchor_document SET told = NULL, due = true WHERE {own}"
    FORGET_TOLD_DUE = "UPDATE anchor_document SET told = NULL WHERE {own} AND due = true AND told IS NOT NULL"
    PUT_DOCUMENT = put_rows("anchor_document", "key bigint", "told bigint, crowded bool, due bool")
    MARK_TEXTS_DUE = put_rows("anchor_document", "key bigint", "told bigint, due bool")
    DELETE_DOCUMENT = "DELETE FROM anchor_document WHERE {own} AND key = ANY(%s)"
    SELECT_LEFT = "SELECT number, marks, target FROM anchor_left WHERE {own}"
    """What is left of dropped pages."""
    DELETE_LEFT = "DELETE FROM anchor_left WHERE {own} AND number = ANY(%s)"
    SELECT_TARGETS = "SELECT key, target FROM anchor_redirect WHERE {own} AND key = ANY(%s)"
    PUT_TARGET = put_rows("anchor_redirect", "key bigint", "target bigint")
    DELETE_TARGET = "DELETE FROM anchor_redirect WHERE {own} AND key = ANY(%s)"
    SELECT_PAGES = "SELECT key, marks FROM anchor_page WHERE {own} AND key = ANY(%s)"
    PUT_PAGE = put_rows("anchor_page", "key bigint", "marks bytea")
    SELECT_MARKS = "SELECT mark, target, pages, fragment, text FROM anchor WHERE {own} AND mark = ANY(%s)"
    ADD_MARK = """
        INSERT INTO anchor (source, part, mark, target, fragment, text, pages)
        SELECT {ids}, * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::int[])
        ON CONFLICT DO NOTHING"""
    SET_PAGES: str
    """Takes mark, pages."""
    COUNT_TEXT = f"""
        INSERT INTO anchor_text AS a (source, part, text, targets) SELECT {{ids}}, * FROM unnest(%s::text[], %s::int[])
        ON CONFLICT (source, part, text) DO UPDATE SET targets = a.targets + excluded.targets,
        turned = a.turned OR a.targets + excluded.targets <= 0
            OR (a.targets > {SHARED}) <> (a.targets + excluded.targets > {SHARED})"""  # noqa: S608 - a constant
    """Takes a text, by how many its targets become more."""
    MARK_TURNED: str
    """Marks documents as due whose texts began or ceased to count."""
    SWEEP_TEXTS = (
        "DELETE FROM anchor_text WHERE {own} AND turned AND targets <= 0",
        "UPDATE anchor_text SET turned = false WHERE {own} AND turned",
    )
    SWEEP_MARKS = "DELETE FROM anchor WHERE {own} AND pages = 0"
    asks_early = False
    """Whether marks are asked for with the pages: the answer then takes no time of its own."""

    def begin_generation(self) -> None:
        """Begin without links."""
        self._met: dict[int, AnchorLink] = {}
        self._pages: dict[int, bytes] = {}
        self._redirects: dict[int, int] = {}
        self._submitted: dict[int, tuple[LinkTexts, bool] | str] = {}
        """Texts by key, and whether they went without the document, so that nobody else sends them if they get lost."""
        self._depths_due: dict[int, bytes] = {}
        self._sweep = self._clears_depths = False
        self.changes = (self._met, self._pages, self._redirects, self._submitted, self._depths_due)

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for the next flush."""
        return super().unwritten + self._sweep + self._clears_depths

    # ---- reading

    def page_links(self) -> Iterator[tuple[int, bytes]]:
        """Yield the key and link keys of every page with links."""
        return cast("Iterator[tuple[int, bytes]]", self._stream(self.PAGE_LINKS))

    def linked_pages(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield key, depth and link keys of every page with links."""
        return cast("Iterator[tuple[int, int, bytes]]", self._stream(self.LINKED_PAGES))

    def redirects(self) -> Iterator[tuple[int, int, str]]:
        """Yield key, depth and target of every URL that redirects."""
        return cast("Iterator[tuple[int, int, str]]", self._stream(self.REDIRECTS))

    def depths_due(self) -> dict[int, bytes]:
        """Return the dropped links by key."""
        return dict(self._read(self.SELECT_DEPTHS_DUE))

    def anchor_texts(self, keys: Collection[int]) -> dict[int, LinkTexts]:
        """Return the texts that documents should have."""
        if not keys:
            return {}
        rows = self._text_rows(self._many([*keys]))
        return {key: texts_of(own) for key, own in groupby(rows, key=itemgetter(0))}

    def _text_rows(self, keys: object) -> Iterator[TextRow]:
        """Yield the rows of `SELECT_TEXTS` one by one: a document may have many texts."""
        return cast("Iterator[TextRow]", self._stream(self.SELECT_TEXTS, keys))

    def changed_texts(self, keys: Collection[int]) -> dict[int, LinkTexts]:
        """Return, and note as submitted, the texts whose hash is not the submitted one."""
        current = self.anchor_texts(keys)
        submitted: dict[int, int | None] = dict(self._read(self.SELECT_TOLD, self._many([*keys])))
        texts = {key: current.get(key, LinkTexts()) for key in keys}
        changed = {key: own for key, own in texts.items() if submitted.get(key) != texts_hash(own)}
        self._submitted.update((key, (own, True)) for key, own in changed.items())
        return changed

    def documents_due(self, after: int | None, number: int) -> list[int]:
        """Return documents whose texts may differ from the submitted ones."""
        first, elsewhere = _LOWEST_KEY if after is None else after + 1, self._elsewhere()
        return [key for (key,) in self._read(self.SELECT_DUE, first, elsewhere, number)]

    def note_texts_arrived(self) -> None:
        """Record that nothing waits for an index."""
        elsewhere = self._elsewhere()
        self._access.write(lambda to: to.execute(self.CLEAR_DUE, (elsewhere,)))

    def _elsewhere(self) -> object:
        """Return the documents whose texts another machine sends, as a statement takes them."""
        return self._many(sorted(self._access.elsewhere))

    def invalidate_submitted_texts(self) -> None:
        """Mark all documents as due, because the index may have other texts."""
        self._access.write(lambda to: to.execute(self.FORGET_TOLD))

    def resubmit_due_texts(self) -> None:
        """Forget what was submitted of what is due."""
        self._access.write(lambda to: to.execute(self.FORGET_TOLD_DUE))

    # ---- noting

    def note_depth_due(self, key: int, dropped: bytes = LOWERED) -> None:
        """Record that depths are to be corrected."""
        self._depths_due[key] = self._depths_due.get(key, b"") + dropped

    def clear_depths_due(self) -> None:
        """Delete what was recorded with the next flush."""
        self._clears_depths = True

    def note_anchor(self, target: int, text: str, fragment: str = "") -> int:
        """Store an anchor text."""
        mark = anchor_mark(target, text, fragment)
        if mark not in self._met:
            self._met[mark] = AnchorLink(target, fragment, text)
        return mark

    def put_page_anchors(self, key: int, marks: bytes) -> None:
        """Replace the links of a page."""
        self._pages[key] = marks

    def put_redirect(self, key: int, target: int) -> None:
        """Store the redirect target of a URL."""
        self._redirects[key] = target

    def submitted_without_texts(self, key: int) -> None:
        """Record that a document was submitted without its texts."""
        self._submitted[key] = WITHOUT

    def submitted_with_texts(self, key: int, texts: LinkTexts) -> None:
        """Record the texts that were submitted with a document."""
        self._submitted[key] = (texts, False)

    def note_document_removed(self, key: int) -> None:
        """Record that a document leaves the index."""
        self._submitted[key] = REMOVED

    def sweep_anchors(self) -> None:
        """Let the next flush do what is done once a run."""
        self._sweep = True

    def _keys_of(self, state: str) -> list[int]:
        """Return the documents that are in a state."""
        return sorted(key for key, texts in self._submitted.items() if texts is state)

    def _documents(self) -> list[tuple[int, int, bool, bool]]:
        """Return the rows of documents that were submitted: key, hash of the texts, whether crowded, whether alone."""
        submitted = [(key, texts) for key, texts in self._submitted.items() if not isinstance(texts, str)]
        return [(key, texts_hash(texts), is_crowded(texts), alone) for key, (texts, alone) in submitted]

    # ---- writing, inside a transaction of the store

    def write_changes(self, to: Writing) -> None:
        """Write the unflushed changes."""
        if self._clears_depths:
            to.execute(self.CLEAR_DEPTHS_DUE)
        to.run(self.NOTE_DEPTH_DUE, list(self._depths_due.items()))
        to.run(self.DELETE_DOCUMENT, [(key,) for key in self._keys_of(REMOVED)])
        to.run(self.MARK_TEXTS_DUE, [(key, None, True) for key in self._keys_of(WITHOUT)])
        submitted = self._documents()
        to.run(self.PUT_DOCUMENT, submitted)
        left = to.execute(self.SELECT_LEFT).fetchall() if self._sweep else []
        stored = self._asked(to, self.SELECT_TARGETS, [*self._redirects])
        changed = self._count_pages(to, [bytes(marks) for _, marks, _ in left if marks])
        targets = self._write_redirects(to, dict(stored()))
        targets.update(target for _, _, target in left if target)
        crowded = {key for key, _, is_crowded, _ in submitted if is_crowded}
        self._mark_due(to, targets | changed.texts_of, changed.counts_of, crowded)
        if self._sweep:
            to.run(self.DELETE_LEFT, [(number,) for number, *_ in left])
            self._sweep_texts(to)
            to.execute(self.SWEEP_MARKS)

    def _asked(self, to: Writing, query: str, keys: list[int]) -> Callable[[], list[Row]]:
        """Ask about keys, and return a function that waits for the rows."""
        return to.execute(query, (self._many(keys),)).fetchall if keys else list

    def _count_pages(self, to: Writing, removed: Collection[bytes]) -> CountedLinks:
        """Replace the links of pages and subtract `removed` marks."""
        met, pages = storable_links(self._met), self._pages
        stored = self._asked(to, self.SELECT_PAGES, [*pages])
        now = {*met}.union(*map(marks_of, (*pages.values(), *removed))) if self.asks_early else set[int]()
        early = self._asked(to, self.SELECT_MARKS, sorted(now))
        rows, deltas = changed_marks(pages, dict(stored()), removed)
        to.run(self.PUT_PAGE, rows)
        known = early()
        known += self._asked(to, self.SELECT_MARKS, sorted((met.keys() | deltas.keys()) - now))()
        counted = counted_links(met, deltas, known)
        to.run(self.ADD_MARK, counted.added)
        to.run(self.SET_PAGES, counted.pages)
        to.run(self.COUNT_TEXT, counted.targets)
        return counted

    def _write_redirects(self, to: Writing, stored: dict[int, int]) -> set[int]:
        """Store redirect targets in place of the stored ones; returns the targets whose texts change."""
        changed = {key: target for key, target in self._redirects.items() if stored.get(key, 0) != target}
        to.run(self.DELETE_TARGET, [(key,) for key, target in changed.items() if not target])
        to.run(self.PUT_TARGET, [(key, target) for key, target in changed.items() if target])
        return {*changed.values(), *(stored.get(key, 0) for key in changed)}

    def _mark_due(self, to: Writing, texts: set[int], counts: set[int], crowded: set[int]) -> None:
        """Mark documents as due: those that what has other texts leads to, and crowded ones with other page counts.

        `crowded` are those that became so.
        """
        raise NotImplementedError

    def _sweep_texts(self, to: Writing) -> None:
        """Mark documents as due whose texts began or ceased to count, and delete texts without targets."""
        for statement in (self.MARK_TURNED, *self.SWEEP_TEXTS):
            to.execute(statement)
