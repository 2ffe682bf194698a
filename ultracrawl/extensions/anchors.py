"""Anchor texts of a crawl: noted page by page, given to documents on their way to the index, put right at the end."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from itertools import filterfalse, islice
from typing import TYPE_CHECKING

from ultracrawl.content.anchors import MOST_ANCHORS, SHARED, anchor_mark, anchor_text
from ultracrawl.model import UrlOutcome
from ultracrawl.urls import url_key

if TYPE_CHECKING:
    from ultracrawl.extensions.session import CrawlSession
    from ultracrawl.extensions.visit import Visit
    from ultracrawl.index import IndexDocument

LINKS_OF_A_PAGE = 1000
"""Links of one page whose texts count, the first ones."""
GENERATION = 25_000
"""Links, and texts, that are remembered at a time; twice as many links take about 15 MB."""
BATCH = 500
"""Documents that get other anchor texts between two flushes."""
_NOTHING = 0
"""The mark of a link whose text says nothing."""


class AnchorDesk:
    """Gives documents what links to them are called on other pages of their source.

    A page is in the queue because something links to it, so most of its anchor texts are known when it is handed
    over. Those that are found later, and those whose last page is gone, go to the index by themselves at the end of
    the run (`settle`); the document is not fetched again. A page that is unchanged, or could not be read, keeps
    saying what it said.
    """

    def __init__(self, session: CrawlSession) -> None:
        self._session = session
        self._young: dict[str, dict[str, int]] = {}
        self._old: dict[str, dict[str, int]] = {}
        """Marks of links met lately by URL and text, in two generations: they cost two look-ups."""
        self._met = 0
        """How many are in the younger one."""
        self._leads: Counter[str] = Counter()
        """To how many targets links of a text lead, by what was met in this run."""
        session.recorder.on_finish.append(self.ended)

    # ---- what pages say

    def note(self, visit: Visit, located: Mapping[str, str], inside: array[int]) -> None:
        """Take the links of a page: `located` are URLs by link as written, `inside` the keys of those that count."""
        marks, own, known = array("I"), visit.url, self._young.get
        kept: frozenset[int] | None = None
        for href, _, text, _ in visit.anchor_links:
            # One with a fragment speaks of a part of its page only.
            if not text or "#" in href or (url := located.get(href, own)) == own:
                continue
            met = known(url)
            mark = None if met is None else met.get(text)
            if mark is None:
                kept = frozenset(inside) if kept is None else kept
                mark = self._meet(url, text, kept)
                known = self._young.get
            if mark:
                marks.append(mark)
        visit.anchors = marks[:LINKS_OF_A_PAGE].tobytes()

    def redirected(self, visit: Visit, target: str) -> None:
        """Have a URL that redirects say of its target what pages say of it, as far as that is known by now."""
        state, key = self._session.state, url_key(target)
        texts = state.anchors.texts(visit.entry.key)[:MOST_ANCHORS]
        for text in texts:
            state.anchors.meet(key, text, self._session.clock())
        visit.anchors = array("I", [anchor_mark(key, text) for text in texts]).tobytes()

    def _meet(self, url: str, text: str, kept: frozenset[int]) -> int:
        """Return the mark of a link that was not met lately, and have the store know of it."""
        mark = self._old.get(url, {}).get(text)
        if mark is None:
            said, target = anchor_text(text), url_key(url)
            if target not in kept:
                return _NOTHING
            mark = anchor_mark(target, said) if said else _NOTHING
            if mark:
                self._session.state.anchors.meet(target, said, self._session.clock())
                self._count(said)
        if self._met >= GENERATION:
            self._old, self._young, self._met = self._young, {}, 0
        self._young.setdefault(url, {})[text] = mark
        self._met += 1
        return mark

    def _count(self, text: str) -> None:
        if len(self._leads) >= GENERATION:
            self._leads = Counter({one: number for one, number in self._leads.items() if number > SHARED})
        self._leads[text] += 1

    def ended(self, visit: Visit) -> None:
        """Have the store know what a page says now; one that was not read, or is as it was, says what it said."""
        outcome = visit.outcome
        if outcome is None or outcome.transient or visit.stored:
            return
        new = not visit.record.last_fetched
        if visit.anchors is not None:
            self._session.state.anchors.page(visit.entry.key, visit.anchors, new=new)
        elif not (new or outcome.unchanged or outcome is UrlOutcome.ROBOTS or visit.status == 304):
            self._session.state.anchors.page(visit.entry.key, b"")

    # ---- what documents get

    def given(self, visit: Visit, document: IndexDocument) -> IndexDocument:
        """Return a document on its way to the index with its anchor texts."""
        found = self._texts(visit.record.url, visit.entry.display_url, self._is_shared)
        return replace(document, anchors=found) if found else document

    def _is_shared(self, text: str) -> bool:
        return self._leads[text] > SHARED

    def _texts(self, url: str, display_url: str, shared: Callable[[str], bool]) -> tuple[str, ...]:
        """Return the texts of links to a document, also of those that were redirected to it; the index has them now."""
        store, found = self._session.state.anchors, dict[str, None]()
        for shown in dict.fromkeys((url, display_url or url)):
            key = url_key(shown)
            found.update(dict.fromkeys(store.texts(key)))
            store.told(key)
        return tuple(islice(filterfalse(shared, found), MOST_ANCHORS))

    def settle(self, also: Collection[int] = ()) -> int:
        """Hand over the anchor texts that changed since their documents did; returns how many documents get others.

        Called at the end of a run; `also` are keys of documents that were just handed over once more. Raises
        `WorkError`.
        """
        session = self._session
        session.flush()
        session.state.anchors.verify()
        session.state.flush()
        due = session.state.anchors.due(also)
        number = 0
        for at in range(0, len(due.targets), BATCH):
            number += sum(self._settled(target, due.shared) for target in due.targets[at : at + BATCH])
            session.flush()
            session.feed.tick()
        return number

    def _settled(self, target: int, shared: frozenset[str]) -> int:
        """Hand over the texts of one target; those of a document that waits are left until it is in the index."""
        session, number = self._session, 0
        record = session.state.get(target)
        if record is None or record.pending or session.duplicates.waits(target):
            return 0
        documents = [record] if record.searchable else session.state.shown_as(record.url)
        session.state.anchors.told(target)
        for one in documents:
            if one.searchable and not one.leaving:
                texts = self._texts(one.url, one.display_url, shared.__contains__)
                session.feed.rename(url_key(one.url), one.shown_url, texts)
                number += 1
        return number
