"""Which nodes watch the folders of sources that are bound to none: one for each source, as it is with plans."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from importlib.util import find_spec

from ultracrawl.errors import MissingExtraError
from ultracrawl.sources import Project
from ultracrawl.sources.kinds import WatchedFolders, watched_sources
from ultracrawl.stores.port.node_store import KeptNode, NodeStore, NodeWork

logger = logging.getLogger("ultracrawl.service")

_WATCH = "watch/"


def watch_key(source: str) -> str:
    """Return the key by which a node holds the watch of the folders of a source; no schedule has a slash."""
    return f"{_WATCH}{source}"


class WatchShare:
    """The sources whose folders a node watches although they are not bound to it."""

    def __init__(self, store: NodeStore) -> None:
        self.sources = frozenset[str]()
        self._store = store
        self._found: tuple[Project | None, Mapping[str, WatchedFolders]] = (None, {})
        """The project as it was last seen, with its watched folders."""
        self._is_refused = False
        """Whether it was said that the extra is missing."""

    def share_out(
        self, project: Project, own: KeptNode, work: NodeWork, may_take: Callable[[str], bool]
    ) -> bool:
        """Hold what nobody watches and this machine can, and give back the rest; returns whether that has changed.

        What is held stays so if a folder disappears: that is a change as well. Raises `StateError`.
        """
        wanted = {name: one for name, one in self._watchable(project).items() if may_take(name)}
        mine = {key.removeprefix(_WATCH) for key in own.plans if key.startswith(_WATCH)}
        if given := mine - wanted.keys():
            self._store.give_back([watch_key(name) for name in given])
        held = {key for node in work.nodes if node.alive for key in node.plans}
        free = (name for name in wanted if watch_key(name) not in held)
        taken = {
            name
            for name in free
            if any(folder.exists() for folder in wanted[name].folders)
            and self._store.take_plan(watch_key(name), ())
        }
        was, self.sources = self.sources, frozenset(mine - given | taken)
        return was != self.sources

    def _watchable(self, project: Project) -> Mapping[str, WatchedFolders]:
        """Return the folders of all sources that any node may watch; none without the extra."""
        if project is not self._found[0]:
            found = watched_sources(project.sources.values(), project.base)
            free = {name: folders for name, folders in found.items() if not project.node_of(name)}
            if free and find_spec("watchfiles") is None:
                if not self._is_refused:
                    logger.warning(
                        "%s", MissingExtraError(f"watching the folders of {', '.join(free)}", "watch")
                    )
                self._is_refused, free = True, {}
            self._found = (project, free)
        return self._found[1]
