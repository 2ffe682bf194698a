"""From a link as written to a queue entry: canonical form, duplicate check, boundary, document table."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable

from ultracrawl.boundary import Boundary
from ultracrawl.state import QueueEntry, StateStore
from ultracrawl.urls import UrlPolicy, site_of, url_key

REJECTED = -1
GENERATION = 200_000


class SeenUrls:
    """The keys met lately, with their depth or `REJECTED`: spares the document table a look-up per link.

    Bounded: two generations of at most `GENERATION` keys (about 20 MB each); the older one is forgotten when
    the younger one is full.
    """

    def __init__(self) -> None:
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def get(self, key: int) -> int | None:
        """Return the depth of a key, `REJECTED`, or None if it was not met lately."""
        depth = self._young.get(key)
        if depth is None:
            depth = self._old.get(key)
            if depth is not None:
                self.put(key, depth)
        return depth

    def put(self, key: int, depth: int) -> None:
        """Remember a key."""
        if len(self._young) >= GENERATION:
            self._old = self._young
            self._young = {}
        self._young[key] = depth


class Admission:
    """Decides which links of a page become queue entries, and which keys the page links to.

    The order is: canonical form, met lately, depth, document table, boundary. A link that is turned away is
    counted once under the rule that did it.
    """

    def __init__(
        self,
        policy: UrlPolicy,
        boundary: Boundary,
        state: StateStore,
        clock: Callable[[], float],
        rejected_by: Counter[str],
    ) -> None:
        self._canonical = policy.canonical
        self._boundary = boundary
        self._state = state
        self._clock = clock
        self._rejected_by = rejected_by
        self._seen = SeenUrls()
        self.shorter: list[tuple[int, int]] = []
        """(key, depth) of known URLs to which a shorter route was found; the scheduler takes them."""

    def admit(self, hrefs: Iterable[str], base: str, depth: int) -> tuple[list[QueueEntry], array[int]]:
        """Return the new queue entries among links found at `depth`, and the keys of all links inside."""
        inside = array("q")
        unmet: dict[int, str] = {}
        canonical, seen_depth = self._canonical, self._seen.get
        for href in dict.fromkeys(hrefs):
            url = canonical(href, base)
            if url is None:
                continue
            key = url_key(url)
            seen = seen_depth(key)
            if seen is None:
                unmet[key] = url
            elif seen >= 0:
                inside.append(key)
                if seen > depth:
                    self._shorter_route(key, depth)
        return (self._unmet(unmet, base, depth, inside) if unmet else []), inside

    def _shorter_route(self, key: int, depth: int) -> None:
        self._seen.put(key, depth)
        self.shorter.append((key, depth))

    def _unmet(self, unmet: dict[int, str], base: str, depth: int, inside: array[int]) -> list[QueueEntry]:
        known = self._state.lookup(list(unmet))
        entries: list[QueueEntry] = []
        for key, url in unmet.items():
            if key in known:
                self._seen.put(key, known[key][1])
                inside.append(key)
                if known[key][1] > depth:
                    self._shorter_route(key, depth)
            elif self._inside(key, url, base, depth):
                inside.append(key)
                entries.append(self.enter(key, url, depth))
        return entries

    def _inside(self, key: int, url: str, parent: str, depth: int) -> bool:
        rule = self._boundary.rejects(url, depth, parent=parent)
        if rule is None:
            return True
        self._rejected_by[rule] += 1
        if not self._boundary.depends_on_route(rule):
            self._seen.put(key, REJECTED)
        return False

    def enter(self, key: int, url: str, depth: int, display_url: str = "", hops: int = 0) -> QueueEntry:
        """Make a URL known and queue it."""
        entry = QueueEntry(key, url, site_of(url), depth, self._state.next_seq(), hops, display_url)
        self._state.discover(entry, self._clock())
        self._seen.put(key, depth)
        return entry
