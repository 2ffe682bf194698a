"""Orders of a person about URLs and sites of one source, in a file beside its state, for this crawl or the next one."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from ultracrawl.rules.boundary.expressions import compile_pattern
from ultracrawl.rules.urls.canonical import host_of, site_of
from ultracrawl.stores.control_channel import state_errors


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
    """What a decision about documents that are held back is about: those that were, when it was made."""
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


def orders_path(state_file: Path) -> Path:
    """Return the path of the orders about URLs and sites beside a state file."""
    return state_file.with_name(state_file.name + ".sites")


def leave_site_order(state_file: Path, order: SiteOrder, now: float) -> None:
    """Add an order; one about a site replaces earlier ones of its kind. Raises `StateError`."""
    with _locked(state_file, create=True) as (orders, file):
        kept = [
            each
            for each in _in_force(orders, now)
            if not (order.stays and (each.action, each.place) == (order.action, order.place))
        ]
        _write(file, [*kept, order])


@contextmanager
def taking_site_orders(state_file: Path, now: float, *, begins: bool = False) -> Iterator[list[SiteOrder]]:
    """Yield the orders that no crawl has taken, and if the crawl `begins`, those that still hold.

    They are taken when the block ends, by an error too: one whose crawl is killed in it is carried out again. Orders
    that do not hold for a time are removed then. Raises `StateError`.
    """
    if not orders_path(state_file).exists():
        yield []
        return
    with _locked(state_file) as (orders, file):
        held = _in_force(orders, now)
        left = [replace(each, taken=True) for each in held if each.stays]
        try:
            yield [each for each in held if begins or not each.taken]
        finally:
            if left != orders:
                _write(file, left)


def waits(state_file: Path, order: SiteOrder) -> bool:
    """Return whether no crawl has taken an order yet. Raises `StateError`."""
    if not orders_path(state_file).exists():
        return False
    with _locked(state_file) as (orders, _):
        return any(each.number == order.number and not each.taken for each in orders)


def _in_force(orders: Iterable[SiteOrder], now: float) -> list[SiteOrder]:
    return [each for each in orders if not each.stays or each.until > now or not each.taken]


@contextmanager
def _locked(state_file: Path, *, create: bool = False) -> Iterator[tuple[list[SiteOrder], int]]:
    path = orders_path(state_file)
    with state_errors(path):
        if create:
            path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        file = os.open(path, flags, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield _read(file), file
        finally:
            os.close(file)


def _read(file: int) -> list[SiteOrder]:
    """Return the orders of a file; lines that are damaged are left out."""
    found = []
    for line in os.pread(file, os.fstat(file).st_size, 0).splitlines():
        try:
            row = json.loads(line)
            action, keys = SiteAction(row["action"]), tuple(row.get("keys", ()))
            found.append(SiteOrder(**{**row, "action": action, "keys": keys}))
        except (ValueError, KeyError, TypeError):
            continue
    return found


def _write(file: int, orders: Iterable[SiteOrder]) -> None:
    text = "".join(json.dumps(asdict(each)) + "\n" for each in orders).encode()
    os.pwrite(file, text, 0)  # before anything is cut off: a full disk loses no order
    os.ftruncate(file, len(text))
