"""Crawls that people ordered from a service, noted until they end, so that the next service resumes them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping

from ultracrawl.errors import StateError
from ultracrawl.stores.port.notes import Notes

logger = logging.getLogger(__name__)

ORDERED = "ordered.json"
"""Name of the note of the service."""


class OrderedCrawls:
    """The sources whose crawls were ordered and have not ended, with `force` of each; in memory without notes."""

    def __init__(self, notes: Notes | None) -> None:
        self._notes = notes
        self._forced = {} if notes is None else _read(notes)

    @property
    def forced(self) -> Mapping[str, bool]:
        """The sources in the order of their orders, and whether all their documents are fetched."""
        return dict(self._forced)

    def __contains__(self, source: str) -> bool:
        return source in self._forced

    def add(self, source: str, *, force: bool) -> None:
        """Store an order; if it cannot be written, a warning says so."""
        self._forced[source] = force
        self._change(lambda forced: {**forced, source: force})

    def discard(self, source: str) -> None:
        """Forget an order that has been fulfilled, stopped or refused."""
        if self._forced.pop(source, None) is not None:
            self._change(lambda forced: {name: forced[name] for name in forced if name != source})

    def _change(self, edit: Callable[[dict[str, bool]], dict[str, bool]]) -> None:
        """Change the note; other services of the project have orders in it, too."""
        if self._notes is None:
            return
        try:
            self._notes.change(ORDERED, lambda text: json.dumps(edit(_forced_in(text))).encode())
        except StateError as error:
            logger.warning("the crawls that were ordered: %s", error)


def _read(notes: Notes) -> dict[str, bool]:
    try:
        return _forced_in(notes.read(ORDERED) or b"")
    except StateError:
        return {}


def _forced_in(text: bytes) -> dict[str, bool]:
    try:
        stored = json.loads(text or b"{}")
    except ValueError:
        return {}
    return {str(name): bool(force) for name, force in stored.items()} if isinstance(stored, dict) else {}
