"""Crawls that people ordered from a service, noted until they end, so that the next service resumes them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Mapping

from ultracrawl.errors import StateError
from ultracrawl.stores.port.notes import Notes

logger = logging.getLogger(__name__)

ORDERED = "ordered.json"
"""Name of the note of the service."""

Orders = dict[str, dict[str, bool]]
"""The orders of each service by source, and whether all documents are fetched; several services may share a state."""


class OrderedCrawls:
    """The sources whose crawls were ordered from one service and have not ended; in memory without notes."""

    def __init__(self, notes: Notes | None, service: str = "") -> None:
        self._notes, self._service = notes, service
        self._forced: dict[str, bool] = {}

    @property
    def forced(self) -> Mapping[str, bool]:
        """The sources in the order of their orders, and whether all their documents are fetched."""
        return dict(self._forced)

    def __contains__(self, source: str) -> bool:
        return source in self._forced

    def take_over(self, living: Callable[[], Collection[str]]) -> None:
        """Take the orders of services that have ended: of two that begin at once, one gets them.

        `living` returns those that live. It is asked after the note was read: whoever takes orders meanwhile has a name
        that was not in it.
        """
        if self._notes is None or not (noted := stored_orders(self._notes)):
            return
        try:
            ended = noted.keys() - {*living(), self._service}
        except StateError as error:
            logger.warning("the crawls that were ordered: %s", error)
            return
        taken: dict[str, bool] = {}

        def take_orders(orders: Orders) -> None:
            taken.clear()
            for service in [one for one in orders if one in ended]:
                taken.update(orders.pop(service))
            orders[self._service] = {**taken, **orders.get(self._service, {})}

        if ended and self._change(take_orders):
            self._forced = {**taken, **self._forced}

    def add(self, source: str, *, force: bool) -> None:
        """Store an order; if it cannot be written, a warning says so."""
        self._forced[source] = force
        self._change(lambda orders: orders.setdefault(self._service, {}).update({source: force}))

    def discard(self, source: str) -> None:
        """Forget an order that has been fulfilled, stopped or refused."""
        if self._forced.pop(source, None) is not None:
            self._change(lambda orders: orders.get(self._service, {}).pop(source, None))

    def _change(self, edit: Callable[[Orders], object]) -> bool:
        """Change the note, in which other services have orders, too; returns whether it could be written."""
        if self._notes is None:
            return True

        def changed(text: bytes) -> bytes:
            orders = _orders_in(text)
            edit(orders)
            return json.dumps({service: own for service, own in orders.items() if own}).encode()

        try:
            self._notes.change(ORDERED, changed)
        except StateError as error:
            logger.warning("the crawls that were ordered: %s", error)
            return False
        return True


def stored_orders(notes: Notes) -> Orders:
    """Return the orders of all services; none if they cannot be read."""
    try:
        return _orders_in(notes.read(ORDERED) or b"")
    except StateError:
        return {}


def _orders_in(text: bytes) -> Orders:
    try:
        stored = json.loads(text or b"{}")
    except ValueError:
        return {}
    orders: Orders = {}
    for name, entry in stored.items() if isinstance(stored, dict) else ():
        match entry:
            case {**own}:
                orders.setdefault(name, {}).update(
                    {str(source): bool(force) for source, force in own.items()}
                )
            case [force, str(service)]:  # earlier versions: the source, with its service
                orders.setdefault(service, {})[name] = bool(force)
            case force:  # and before that without one
                orders.setdefault("", {})[name] = bool(force)
    return orders
