"""The numbers of indexes; those on servers are asked for once in a while, and not waited for long."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing

from ultracrawl.errors import UltracrawlError
from ultracrawl.index import IndexFacts
from ultracrawl.index.project_index import indexes_on_servers, open_index
from ultracrawl.sources import Project

_KEPT_SECONDS = 15.0
"""Seconds for which the answer of servers is kept."""
_PATIENCE_SECONDS = 2.0
"""Seconds that servers have for an answer: who asks for metrics or a page waits for it."""


class IndexFactsReader:
    """Reads the numbers of the indexes of a project. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[float, Project, IndexFacts | str]] = {}

    def facts_of(self, project: Project, name: str) -> IndexFacts | str:
        """Return the numbers of an index, or why it cannot be read."""
        if name not in indexes_on_servers(project):
            return _read(project, name)
        kept = self._kept.get(name)
        if kept is None or kept[1] is not project or kept[0] <= self._clock():
            found = _read(project, name)
            self._kept[name] = kept = self._clock() + _KEPT_SECONDS, project, found
        return kept[2]

    def problems(self, project: Project) -> dict[str, str]:
        """Return why indexes on servers cannot be read, by name; those that can be are left out."""
        found = {name: self.facts_of(project, name) for name in indexes_on_servers(project)}
        return {name: one for name, one in found.items() if isinstance(one, str)}


def _read(project: Project, name: str) -> IndexFacts | str:
    try:
        with closing(open_index(project, name, patience=_PATIENCE_SECONDS)) as index:
            return index.facts()
    except UltracrawlError as error:
        return str(error)
