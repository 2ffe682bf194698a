"""The change guard: holds back new versions in which the words of their documents are lost, where they are many.

A wall (a log-in page, a captcha, a maze, an empty page) that a server returns for every URL costs a document all of its
own words. So does a page that was written anew, but few pages are at a time. What the versions look like holds nothing
back; it only tells that those of several runs are of one wall, and which new documents belong to it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any, NamedTuple

from ultracrawl.dataclass import dataclass, field, replace
from ultracrawl.model import UrlRecord
from ultracrawl.rules.duplicates.likeness import Look, Version
from ultracrawl.rules.duplicates.marks import SKETCH_SIZE, Marks, read_sketch
from ultracrawl.rules.urls.canonical import site_of, url_key

MAX_GROUPS = 1000
"""Groups of a run in memory; lost versions that come later and are like none of them count as well."""
MAX_REMEMBERED = 64
"""Groups that are remembered for the next run: held ones first, then those with most documents."""
REMEMBERED_RUNS = 20
"""Runs without a version of a group after which it is forgotten."""
MIN_GROUP = 3
"""Versions of a group that is remembered, and from which its title alone makes new documents members."""
MAX_KNOWN = 8
"""Documents of a group that are remembered, so that one that comes again and again counts once."""
COMPARED_MARKS = 8
"""Smallest marks of a text by which groups that may be like it are found."""
MIN_DOCUMENTS = 6
"""Documents of a site that must be known before a word is one of most of them."""
MAX_DOCUMENTS = 200
"""Documents of a site from which its common words are estimated."""
SAMPLE = 2_000
"""Documents of a source whose sketches tell which words most documents of a site have."""


class SiteWords(NamedTuple):
    """Words that documents of a site share."""

    common: Marks = Marks()
    """The words that most documents have. They are left out where texts are compared with each other."""
    frame: Marks = Marks()
    """The common words, and words about which few sketches tell, but most of these have them.

    They are no document's own. Short documents have such sketches: a menu would pass for their own words otherwise.
    """


class CommonWords:
    """The words that most documents of a site have, as far as their sketches tell.

    A word is in a sketch if its mark is among the smallest of its document. So a document tells nothing about marks
    above its largest one.
    """

    def __init__(self) -> None:
        self._sketches: dict[str, dict[int, Marks]] = {}
        """Sketches of documents, by site and key."""
        self._common: dict[str, tuple[int, SiteWords]] = {}
        """The common words of a site, with the number of documents that they were estimated from."""
        self.number = 0
        """Documents whose sketches are known."""

    @classmethod
    def of(cls, records: Iterable[UrlRecord]) -> CommonWords:
        """Return the common words of the documents in the index that are among these."""
        words = cls()
        words.add_documents(records)
        return words

    def add_documents(self, records: Iterable[UrlRecord]) -> None:
        """Add the documents in the index that are among these records."""
        for record in records:
            if record.searchable and record.sketch:
                self.add(site_of(record.url), url_key(record.url), read_sketch(record.sketch))

    def add(self, site: str, key: int, sketch: Marks) -> None:
        """Add the sketch of a document of a site."""
        sketches = self._sketches.setdefault(site, {})
        if sketch and len(sketches) < MAX_DOCUMENTS:
            self.number += key not in sketches
            sketches[key] = sketch

    def are_few(self, site: str) -> bool:
        """Return whether too few documents of a site are known for it to have common words."""
        return len(self._sketches.get(site, ())) < MIN_DOCUMENTS

    def of_site(self, site: str) -> SiteWords:
        """Return the words that documents of a site share; they are estimated anew when a quarter more are known."""
        known = self._sketches.get(site, {})
        number, shared = self._common.get(site, (0, SiteWords()))
        if len(known) < MIN_DOCUMENTS or 4 * len(known) <= 5 * number:
            return shared
        sketches = list(known.values())
        counted = Counter(mark for sketch in sketches for mark in sketch)
        ends = sorted(max(sketch) for sketch in sketches if len(sketch) >= SKETCH_SIZE)

        def telling(mark: int) -> int:
            """Return how many documents tell whether they have a word."""
            return len(sketches) - bisect_left(ends, mark)

        often = (mark for mark, count in counted.items() if 2 * count > MIN_DOCUMENTS)
        told = {mark: by for mark in often if 2 * counted[mark] > (by := telling(mark)) >= MIN_DOCUMENTS}
        by_most = Marks(mark for mark, by in told.items() if 2 * by >= len(sketches))
        shared = SiteWords(by_most, Marks(told))
        self._common[site] = len(sketches), shared
        return shared


class Verdict(Enum):
    """What becomes of a new version for now."""

    PLACE = "place"
    WAIT = "wait"
    HOLD = "hold"


@dataclass(slots=True, eq=False)
class Group:
    """Versions of one look."""

    look: Look
    earlier: int = 0
    """Documents that earlier runs let become like it."""
    is_held: bool = False
    """Whether its versions are held back whatever their number."""
    idle_runs: int = 0
    """Complete runs without one of its versions."""
    known: set[int] = field(default_factory=set)
    """Keys of some of these."""
    waiting: int = 0
    """Documents of this run that are undecided."""
    held: int = 0
    """Documents of this run whose lost versions are held back."""
    is_met: bool = False
    """Whether this run had a lost version of it."""
    is_approved: bool = False
    """Whether a person let its versions in; it is held back no more than others."""
    is_listed: bool = True
    """False for the versions that no group is kept for."""

    @property
    def total(self) -> int:
        """Documents that are like it, or would be if all were let in."""
        return self.earlier + self.waiting + self.held

    @property
    def may_be_held(self) -> bool:
        """Whether it may have to be held back by the number of its documents alone."""
        return self.is_listed and not (self.is_held or self.is_approved)

    @property
    def is_wall(self) -> bool:
        """Whether several documents have, or nearly had, its look in place of their own."""
        return self.is_held or self.is_approved or self.earlier >= MIN_GROUP

    @property
    def names_by_title(self) -> bool:
        """Whether its title alone makes documents of new URLs members."""
        return self.is_wall or self.total >= MIN_GROUP

    def note_decided(self, key: int, *, is_held: bool) -> None:
        """Count a document whose lost version is let in or held back."""
        if key in self.known:
            return
        if is_held:
            self.held += 1
            return
        self.earlier += 1
        if len(self.known) < MAX_KNOWN:
            self.known.add(key)

    def take_back(self, key: int) -> None:
        """Count a document no longer whose lost version was let in: that is still to be done."""
        if key not in self.known:
            self.earlier = max(self.earlier - 1, 0)

    def approve(self) -> None:
        """Note that a person let its versions in."""
        self.is_held, self.is_approved = False, True

    def as_json(self) -> list[object]:
        """Return what is remembered of it."""
        title, text = sorted(self.look.title), sorted(self.look.text)
        states = [self.is_held, self.is_approved, self.idle_runs]
        return [self.look.label, title, text, self.earlier, sorted(self.known), *states]

    @classmethod
    def of_json(cls, stored: list[Any]) -> Group:
        """Return a remembered group."""
        label, title, text, earlier, known, is_held, is_approved, idle_runs = stored
        look = Look(label, Marks(title), Marks(text))
        return cls(look, earlier, is_held, idle_runs, set(known), is_approved=is_approved)


class Groups:
    """Finds the group of a version."""

    def __init__(self) -> None:
        self.listed: list[Group] = []
        self._by_title: dict[Marks, Group] = {}
        self._by_mark: dict[int, list[Group]] = {}
        self._blank: Group | None = None
        self._others = Group(Look("", Marks(), Marks()), is_listed=False)

    def add(self, group: Group) -> None:
        """Add a group."""
        self.listed.append(group)
        if group.look.title:
            self._by_title.setdefault(group.look.title, group)
        if not group.look.text:
            self._blank = self._blank or group
        for mark in _first_marks(group.look):
            self._by_mark.setdefault(mark, []).append(group)

    def of_lost(self, look: Look) -> Group:
        """Return the group of a lost version, a new one if there is none: it has an equal title or text."""
        group = self._by_title.get(look.title)
        if group is None:
            group = self._with_text(look) if look.text else self._blank
            if group is not None and group.look.title:
                self._forget_title(group)
        if group is None:
            if len(self.listed) >= MAX_GROUPS:
                return self._others
            self.add(group := Group(look))
        return group

    def of_new(self, look: Look) -> Group | None:
        """Return the group that the document of a new URL belongs to.

        Its text decides, or a title that several lost versions have.
        """
        titled = self._by_title.get(look.title)
        if titled is not None and titled.names_by_title:
            return titled
        group = self._with_text(look) if look.text else None if look.title else self._blank
        return group if group is not None and (group.is_met or group.is_wall) else None

    def of_sketch(self, sketch: Marks, left_out: Marks) -> Iterator[Group]:
        """Yield the groups that the document of a sketch may belong to; `left_out` are the words of the site."""
        if not sketch:
            yield from filter(None, (self._blank,))
        for mark in sketch:
            yield from (one for one in self._by_mark.get(mark, ()) if one.look.was_like(sketch, left_out))
        titled = (one for one in self._by_title.values() if one.names_by_title)
        yield from (one for one in titled if one.look.may_have_titled(sketch))

    def name_of(self, look: Look) -> str:
        """Return the name of the group that a version belongs to, its own label if there is none."""
        group = self._by_title.get(look.title) or (self._with_text(look) if look.text else self._blank)
        return group.look.label if group is not None else look.label

    def _forget_title(self, group: Group) -> None:
        """Have a group be known by its text alone, because its versions have several titles: those of the documents."""
        if self._by_title.get(group.look.title) is group:
            del self._by_title[group.look.title]
        group.look = group.look._replace(title=Marks())

    def _with_text(self, look: Look) -> Group | None:
        near = (group for mark in _first_marks(look) for group in self._by_mark.get(mark, ()))
        return next((group for group in near if group.look.is_like(look)), None)


def _first_marks(look: Look) -> list[int]:
    return sorted(look.text)[:COMPARED_MARKS]


class LostVersions:
    """Decides which lost versions of a source are held back.

    Each waits until the run ends, or until more documents are lost in it than `limit` returns: then all lost ones are
    held back, those that come later too. So are those of a group that has more documents than that by what earlier
    runs let in (`remembered`), or of which others were held back before. At most as many documents of new URLs wait
    beside them in a run; those that come later are held back with a group that is, and placed otherwise. So memory is
    bounded by the limit.

    An earlier part of the run may have ended at any moment. What it held back is counted by `recount`, what it left
    waiting waits again by `resume`, in this order; `let_in` lost versions were about to be let in by it.
    """

    def __init__(
        self, limit: Callable[[], int], remembered: Iterable[Group] = (), *, let_in: int = 0
    ) -> None:
        self._limit = limit
        self._groups = Groups()
        for group in remembered:
            self._groups.add(group)
        self._walls = [group.look for group in self._groups.listed if group.is_wall]
        """The walls that documents may have in the index."""
        self._waiting: dict[int, Group] = {}
        self._new: set[int] = set()
        """Keys of those that wait and had no document before."""
        self._joined = 0
        """Documents of new URLs that had to wait in this run."""
        self._lost = let_in
        """Lost versions of this run, those that wait not counted."""
        self.let_in = let_in
        """Those of them that were let in."""
        self._ready: deque[tuple[int, str | None]] = deque()
        self.is_over = False
        """Whether the limit was passed in this run."""

    @property
    def expects_walls(self) -> bool:
        """Whether there is a group that a new document may belong to."""
        return bool(self._groups.listed)

    def recount(self, key: int, look: Look | None, *, is_lost: bool) -> None:
        """Count a version that an earlier part of the run held back; its look is None if it is not known any more."""
        self._lost += is_lost
        self.is_over = self._lost > self._limit()
        if look is None:
            return
        group = self._groups.of_lost(look) if is_lost else self._groups.of_new(look)
        if group is None:
            return
        group.is_met = True
        if is_lost:
            group.note_decided(key, is_held=True)
            group.is_held |= self._is_too_large(group)

    def resume(self, key: int, look: Look, *, is_lost: bool) -> Verdict:
        """Return what becomes of a version that an earlier part of the run left waiting."""
        if not is_lost:
            return self.add_new(key, look)
        if self.let_in:
            self.let_in -= 1
            self._lost -= 1
            self._groups.of_lost(look).take_back(key)
        return self.add_lost(key, look)

    def judge(
        self, key: int, version: Version, before: Marks, shared: Callable[[], SiteWords]
    ) -> tuple[Verdict, str]:
        """Return what becomes of a new version of a document, and the name of its group.

        `before` is the sketch of the former version, empty for the document of a new URL: that goes with the lost
        versions that it is like. `shared` returns the words that documents of the site share.
        """
        if before:
            if not self.is_lost(version, before, shared):
                return Verdict.PLACE, ""
        elif not self._groups.listed:
            return Verdict.PLACE, ""
        look = version.look(shared().common)
        verdict = self.add_lost(key, look) if before else self.add_new(key, look)
        return verdict, self.name_of(look)

    def name_of(self, look: Look) -> str:
        """Return the name of the group that a version belongs to."""
        return self._groups.name_of(look)

    def is_lost(self, version: Version, before: Marks, shared: Callable[[], SiteWords]) -> bool:
        """Return whether a version loses the words of the former one, unless they were those of a wall."""
        words = shared()
        return version.is_lost(before, words.frame) and not any(
            wall.was_like(before, words.common) for wall in self._walls
        )

    def add_lost(self, key: int, look: Look) -> Verdict:
        """Return what becomes of a lost version of a document."""
        self.forget(key)
        group = self._groups.of_lost(look)
        self._waiting[key] = group
        group.waiting += key not in group.known
        group.is_met = True
        self._weigh(key, group)
        return self._verdict(key, group)

    def add_new(self, key: int, look: Look) -> Verdict:
        """Return what becomes of the document of a new URL."""
        self.forget(key)
        group = self._groups.of_new(look)
        if group is None:
            return Verdict.PLACE
        group.is_met = True
        if not (self.is_over or group.is_held):
            if self._joined >= self._limit():
                return Verdict.PLACE
            self._joined += 1
        self._waiting[key] = group
        self._new.add(key)
        return self._verdict(key, group)

    def _verdict(self, key: int, group: Group) -> Verdict:
        if not (self.is_over or group.is_held):
            return Verdict.WAIT
        self._decide(key, is_held=True)
        return Verdict.HOLD

    def _weigh(self, key: int, group: Group) -> None:
        """Hold back what waits beside a version if the limit is passed, by all or by its group."""
        number = self._lost + len(self._waiting) - len(self._new)
        if not self.is_over and number > self._limit():
            self.is_over = True
            self._end([other for other in self._waiting if other != key], are_held=True)
        elif self._is_too_large(group):
            group.is_held = True
            own = [other for other, its in self._waiting.items() if its is group and other != key]
            self._end(own, are_held=True)

    def _is_too_large(self, group: Group) -> bool:
        return group.may_be_held and group.total > self._limit()

    @property
    def holding(self) -> int:
        """The number of groups of which this run holds back versions."""
        return sum(map(self._holds, self._groups.listed))

    def _holds(self, group: Group) -> bool:
        return group.is_met and (group.is_held or self.is_over)

    def may_be_held(self, sketch: Marks, shared: Callable[[], SiteWords]) -> bool:
        """Return whether a document of a new URL, which was let in, may belong to a group that is held back since."""
        return any(map(self._holds, self._groups.of_sketch(sketch, shared().common)))

    def forget(self, key: int) -> None:
        """Drop the version of a document that waits, because a later visit ended otherwise."""
        group = self._waiting.pop(key, None)
        if group is not None:
            group.waiting -= not (key in group.known or key in self._new)
            self._new.discard(key)

    def end_run(self) -> None:
        """Let in what still waits; called when nothing is fetched any more."""
        self._end(list(self._waiting), are_held=False)

    def _end(self, keys: Iterable[int], *, are_held: bool) -> None:
        for key in keys:
            group = self._decide(key, is_held=are_held)
            self._ready.append((key, group.look.label if are_held else None))

    def _decide(self, key: int, *, is_held: bool) -> Group:
        group, is_lost = self._waiting[key], key not in self._new
        self.forget(key)
        self._lost += is_lost
        self.let_in += is_lost and not is_held
        if is_lost:
            group.note_decided(key, is_held=is_held)
        return group

    def note_decided(self, key: int, held: str | None) -> None:
        """Have a version that was decided about come with those that are ready; `held` as there."""
        self._ready.append((key, held))

    @property
    def has_waiting(self) -> bool:
        """Whether a version waits."""
        return bool(self._waiting)

    @property
    def has_ready(self) -> bool:
        """Whether something was decided."""
        return bool(self._ready)

    def ready(self) -> Iterator[tuple[int, str | None]]:
        """Yield the keys about which was decided, once, with the name of their group if they are held back."""
        while self._ready:
            yield self._ready.popleft()

    def adopt_approved(self, stored: Iterable[Group]) -> None:
        """Take over which of the remembered groups a person let in while the run went on."""
        approved = {group.look for group in stored if group.is_approved}
        for group in self._groups.listed:
            if group.look in approved:
                group.approve()

    def remembered(self, *, complete: bool) -> list[Group]:
        """Return the groups to be remembered for the next run; `complete` tells whether this one is over."""
        kept = list(filter(None, (self._remembered(group, complete) for group in self._groups.listed)))
        kept.sort(key=lambda group: (group.is_held, group.earlier, -group.idle_runs), reverse=True)
        return kept[:MAX_REMEMBERED]

    def _remembered(self, group: Group, complete: bool) -> Group | None:
        is_held = group.is_held or (group.held >= MIN_GROUP and not group.is_approved)
        idle_runs = 0 if group.is_met else group.idle_runs + complete
        if not (is_held or group.earlier or group.is_approved) or idle_runs > REMEMBERED_RUNS:
            return None
        return replace(group, is_held=is_held, idle_runs=idle_runs)
