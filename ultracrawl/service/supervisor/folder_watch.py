"""Folders of sources that are watched: when something in them changes, the source is crawled soon."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from ultracrawl.errors import MissingExtraError, WorkError
from ultracrawl.service.orders import Clock
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.kinds import WatchedFolders, watched_sources

logger = logging.getLogger(__name__)

QUIET = 5.0
"""Seconds without a further change after which the source is crawled."""
LONGEST_WAIT = 300.0
"""Seconds after which it is crawled although the changes go on."""
REST = 60.0
"""Seconds between two crawls that are begun because of changes."""
TRY_AGAIN = 60.0
"""Seconds after which folders are tried again that could not be watched."""
_LOOK = 1.0
"""Seconds between two looks whether the folders are still those that are watched."""


class ChangeTimes:
    """When the folders of a source changed, as far as that is not crawled, and when that is to be crawled."""

    def __init__(self) -> None:
        self._first: float | None = None
        self._last = 0.0
        self._crawled = float("-inf")

    def note_change(self, now: float) -> None:
        """Take note of a change."""
        self._first = now if self._first is None else self._first
        self._last = now

    def note_crawl(self, now: float) -> None:
        """Take note that a crawl begins that will meet all changes so far."""
        self._first, self._crawled = None, now

    def is_due(self, now: float) -> bool:
        """Whether a crawl is to begin."""
        if self._first is None or abs(now - self._crawled) < REST:  # a clock may be set back
            return False
        return abs(now - self._last) >= QUIET or abs(now - self._first) >= LONGEST_WAIT


class SourceWatch:
    """Watches the folders of one source in a thread of its own, so that no slow mount holds up anybody else."""

    def __init__(
        self, source: str, watched: WatchedFolders, own: Iterable[Path], changed: Callable[[], None]
    ) -> None:
        """Call `changed`, in the thread, when something changes that concerns the source and lies in no `own` place.

        So it is called when the watch begins, for what changed before, and when a folder comes or goes.
        """
        self._source = source
        self._watched = watched
        self._own = tuple(os.path.join(os.path.realpath(place), "") for place in own)
        self._changed = changed
        self._ended = threading.Event()
        self._told = ""
        threading.Thread(target=self._keep, name=f"watch {source}", daemon=True).start()

    def end_watch(self) -> None:
        """Watch no more; the thread ends within a second."""
        self._ended.set()

    def _keep(self) -> None:
        while not self._ended.is_set():
            try:
                self._watch({folder: _identity(folder) for folder in self._watched.folders})
            except Exception as error:  # whatever the system says, the service goes on
                why = str(error).rstrip(".")
                self._tell(
                    f"its folders cannot be watched: {why}; only schedules and persons have it crawled"
                )
                self._ended.wait(TRY_AGAIN)

    def _watch(self, found: Mapping[Path, tuple[int, int] | None]) -> None:
        """Watch the folders that are there, until one of them comes or goes, or the end."""
        away = [str(folder) for folder, identity in found.items() if identity is None]
        begun = False
        for changed in self._changed_paths([folder for folder in found if str(folder) not in away]):
            if not begun:
                self._tell(f"{', '.join(away)}: not there; watched as soon as it is" if away else "")
            if not begun or any(map(self._counts, changed)):
                begun = True
                self._changed()
            if any(_identity(folder) != identity for folder, identity in found.items()):
                self._changed()
                return

    def _changed_paths(self, folders: Sequence[Path]) -> Iterator[Iterable[str]]:
        """Yield what has changed below the folders, at least once a second, until the end."""
        if not folders:
            while not self._ended.wait(_LOOK):
                yield ()
            return
        import watchfiles  # noqa: PLC0415 - an extra

        for changes in watchfiles.watch(
            *folders,
            watch_filter=None,
            step=round(_LOOK * 500),
            stop_event=self._ended,
            rust_timeout=round(_LOOK * 1000),
            yield_on_timeout=True,
            ignore_permission_denied=True,
        ):
            yield [path for _, path in changes]

    def _counts(self, path: str) -> bool:
        return self._watched.affects_source(path) and not f"{os.path.realpath(path)}/".startswith(self._own)

    def _tell(self, text: str) -> None:
        if text and text != self._told:
            logger.warning("%s: %s", self._source, text)
        self._told = text


def _identity(folder: Path) -> tuple[int, int] | None:
    """Return what tells a folder from another one of its name; None if it is not there."""
    try:
        about = folder.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino


class FolderWatch:
    """Watches the folders of all sources of a project that want it, and has those crawled that change."""

    def __init__(
        self, clock: Clock, crawl: Callable[[str], Awaitable[None]], is_held: Callable[[str], bool]
    ) -> None:
        """`crawl` begins the crawl of a source, or raises `WorkError`; `is_held` tells if it is not to begin."""
        self._clock = clock
        self._crawl = crawl
        self._is_held = is_held
        self._watches: dict[str, tuple[DataSource, SourceWatch]] = {}
        self._times: dict[str, ChangeTimes] = {}

    def replace_sources(self, project: Project) -> None:
        """Watch for the sources of a project from now on; nothing changes for those whose definitions have not.

        Without the extra for it none is watched, and a line in the log says so.
        """
        wanted = watched_sources(project.sources.values(), project.base)
        if wanted and find_spec("watchfiles") is None:
            logger.warning("%s", MissingExtraError(f"watching the folders of {', '.join(wanted)}", "watch"))
            wanted = {}
        for name in [one for one, (was, _) in self._watches.items() if project.sources.get(one) != was]:
            self._watches.pop(name)[1].end_watch()
        for name, watched in wanted.items():
            if name not in self._watches:
                changed = self._noting(self._times.setdefault(name, ChangeTimes()))
                watch = SourceWatch(name, watched, _written_places(project), changed)
                self._watches[name] = project.sources[name], watch

    def _noting(self, times: ChangeTimes) -> Callable[[], None]:
        loop = asyncio.get_running_loop()

        def note() -> None:
            with suppress(RuntimeError):  # the loop is closed: the service has ended
                loop.call_soon_threadsafe(lambda: times.note_change(self._clock.now()))

        return note

    async def crawl_changed(self) -> None:
        """Begin the crawls that are due; what cannot begin yet is tried again with the next call."""
        for name in list(self._watches):
            times, now = self._times[name], self._clock.now()
            if times.is_due(now) and not self._is_held(name):
                with suppress(WorkError):  # it is being crawled, or the service is ending
                    await self._crawl(name)
                    times.note_crawl(now)
                    logger.info("%s: something in its folders has changed", name)

    def end_watches(self) -> None:
        """Watch nothing more."""
        for _, watch in self._watches.values():
            watch.end_watch()
        self._watches.clear()


def _written_places(project: Project) -> Iterator[Path]:
    """Yield where crawls write: what changes there is no reason for another one."""
    yield from (project.index.path, project.state.path, project.cache.path, project.documents.path)
    yield project.logs.path
    yield from (one.path for one in project.indexes.values())
    yield from (one.path for one in project.destinations.values() if one.path is not None)
