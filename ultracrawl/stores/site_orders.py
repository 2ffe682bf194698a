"""Orders of a person about URLs and sites of one source, in a note of it, for this crawl or the next one."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum

from ultracrawl.dataclass import asdict, dataclass, field, replace
from ultracrawl.rules.boundary.expressions import compile_pattern
from ultracrawl.rules.urls.canonical import host_of, site_of
from ultracrawl.stores.port.notes import Notes

SITE_ORDERS = "sites"
"""Name of the note of a source that has them."""


class SiteAction(StrEnum):
    """What is ordered."""

    ADD = "add-uri"
    REFETCH = "refetch"
    DELETE = "delete"
    RESTORE = "restore"
    """URLs that were deleted may be fetched again, and are."""
    APPROVE = "approve"
    """Documents that wait for approval go to the index."""
    DELETE_HELD = "approve-deletions"
    """Documents whose deletion was held back leave the index."""
    KEEP_HELD = "discard-deletions"
    ACCEPT_HELD = "approve-changes"
    """New versions that were held back go to the index."""
    DROP_HELD = "discard-changes"
    QUARANTINE = "quarantine"
    """Nothing is requested from a site until a time; its URLs wait."""
    BLACKLIST = "blacklist"
    """Runs that begin before a time do without a site; its URLs wait for a later run."""


@dataclass(frozen=True, slots=True)
class SiteOrder:
    """An order about a place: a URL, the beginning of URLs, an expression, or a site (`host` or `host:port`).

    An empty place stands for all URLs.
    """

    action: SiteAction
    place: str
    prefix: bool = False
    """Whether `place` is the beginning of URLs."""
    expression: bool = False
    """Whether `place` is a regular expression (RE2) that matches whole URLs."""
    keys: tuple[int, ...] = ()
    """What a decision about documents that are held back, or wait, is about: those that were, when it was made."""
    until: float = 0.0
    """When an order about a site ends, in seconds since the epoch."""
    taken: bool = False
    """Whether a crawl has begun to follow an order that stays until it ends."""
    number: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def stays(self) -> bool:
        """Whether the order holds until a time, for every crawl."""
        return self.action in (SiteAction.QUARANTINE, SiteAction.BLACKLIST)

    def test(self, canonical: Callable[[str], str | None]) -> Callable[[str], bool]:
        """Return the predicate of URLs that the order is about; `canonical` gives the canonical form of a URL.

        Raises `PatternError`.
        """
        place = self.place
        if self.expression or not place:
            pattern = compile_pattern(place or ".*")
            return lambda url: pattern.fullmatch(url) is not None
        if "://" not in place and not self.prefix:
            return lambda url: place in (site_of(url), host_of(url))
        known = canonical(place) or place
        return (lambda url: url.startswith((place, known))) if self.prefix else (lambda url: url == known)


def leave_site_order(notes: Notes, order: SiteOrder, now: float) -> None:
    """Add an order; one about a site replaces earlier ones of its kind. Raises `StateError`."""

    def add(text: bytes) -> bytes:
        kept = [
            each
            for each in _in_force(_orders_of(text), now)
            if not (order.stays and (each.action, each.place) == (order.action, order.place))
        ]
        return _text_of([*kept, order])

    notes.change(SITE_ORDERS, add)


@contextmanager
def taking_site_orders(notes: Notes, now: float, *, begins: bool = False) -> Iterator[list[SiteOrder]]:
    """Yield the orders that no crawl has taken, and if the crawl `begins`, those that still hold.

    They are taken when the block ends, by an error too: one whose crawl is killed in it is carried out again. Orders
    that do not hold for a time are removed then. Raises `StateError`.
    """
    text = notes.read(SITE_ORDERS)
    orders = _orders_of(text or b"")
    numbers = {each.number for each in orders}

    def without_taken(later: bytes) -> bytes:
        """Return what is left; others may have added orders meanwhile."""
        left = [
            replace(each, taken=True) if each.number in numbers else each
            for each in _in_force(_orders_of(later), now)
            if each.stays or each.number not in numbers
        ]
        return _text_of(left)

    try:
        yield [each for each in _in_force(orders, now) if begins or not each.taken]
    finally:
        if text:
            notes.change(SITE_ORDERS, without_taken)


def waits(notes: Notes, order: SiteOrder) -> bool:
    """Return whether no crawl has taken an order yet. Raises `StateError`."""
    orders = _orders_of(notes.read(SITE_ORDERS) or b"")
    return any(each.number == order.number and not each.taken for each in orders)


def waiting_actions(notes: Notes, urls: Iterable[str]) -> tuple[SiteAction, ...]:
    """Return what is ordered for a document with these URLs, and no crawl has taken, the oldest first.

    Orders about all URLs, or about sites, are none of one document. Raises `StateError`.
    """
    forms = frozenset(urls)
    return tuple(
        each.action
        for each in _orders_of(notes.read(SITE_ORDERS) or b"")
        if each.place and not (each.stays or each.taken) and any(map(each.test(str), forms))
    )


def _in_force(orders: Iterable[SiteOrder], now: float) -> list[SiteOrder]:
    return [each for each in orders if not each.stays or each.until > now or not each.taken]


def _orders_of(text: bytes) -> list[SiteOrder]:
    """Return the orders of a note; lines that are damaged are left out."""
    found = []
    for line in text.splitlines():
        try:
            row = json.loads(line)
            action, keys = SiteAction(row["action"]), tuple(row.get("keys", ()))
            found.append(SiteOrder(**{**row, "action": action, "keys": keys}))
        except (ValueError, KeyError, TypeError):
            continue
    return found


def _text_of(orders: Iterable[SiteOrder]) -> bytes:
    return "".join(json.dumps(asdict(each)) + "\n" for each in orders).encode()
