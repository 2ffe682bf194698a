"""Crawls that people ordered from a service, noted until they end, so that the next service resumes them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from ultracrawl.errors import StateError
from ultracrawl.stores.port.notes import Notes

logger = logging.getLogger(__name__)

ORDERED = "ordered.json"
"""Name of the note of the service."""


class _Order(NamedTuple):
    force: bool
    service: str = ""
    """The service that has taken it."""


class OrderedCrawls:
    """The sources whose crawls were ordered and have not ended, with `force` of each; in memory without notes.

    `service` names the one that takes the orders; those that another of the `living` ones has taken are its own.
    """

    def __init__(self, notes: Notes | None, service: str = "", living: Collection[str] = ()) -> None:
        self._notes, self._service = notes, service
        orders = {} if notes is None else _read(notes)
        self._forced = {name: order.force for name, order in orders.items() if order.service not in living}

    @property
    def forced(self) -> Mapping[str, bool]:
        """The sources in the order of their orders, and whether all their documents are fetched."""
        return dict(self._forced)

    def __contains__(self, source: str) -> bool:
        return source in self._forced

    def add(self, source: str, *, force: bool) -> None:
        """Store an order; if it cannot be written, a warning says so."""
        self._forced[source] = force
        self._change(lambda orders: {**orders, source: _Order(force, self._service)})

    def discard(self, source: str) -> None:
        """Forget an order that has been fulfilled, stopped or refused."""
        if self._forced.pop(source, None) is not None:
            self._change(lambda orders: {name: orders[name] for name in orders if name != source})

    def _change(self, edit: Callable[[dict[str, _Order]], dict[str, _Order]]) -> None:
        """Change the note; other services of the project have orders in it, too."""
        if self._notes is None:
            return
        try:
            self._notes.change(ORDERED, lambda text: json.dumps(edit(_orders_in(text))).encode())
        except StateError as error:
            logger.warning("the crawls that were ordered: %s", error)


def _read(notes: Notes) -> dict[str, _Order]:
    try:
        return _orders_in(notes.read(ORDERED) or b"")
    except StateError:
        return {}


def _orders_in(text: bytes) -> dict[str, _Order]:
    try:
        stored = json.loads(text or b"{}")
    except ValueError:
        return {}
    return {str(name): _order(one) for name, one in stored.items()} if isinstance(stored, dict) else {}


def _order(stored: object) -> _Order:
    """Return an order; earlier versions stored only whether it is forced."""
    match stored:
        case [force, str(service)]:
            return _Order(bool(force), service)
        case force:
            return _Order(bool(force))
