"""Watches the folders of sources with `watch: true`, and crawls a source soon after a change."""

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

QUIET_SECONDS = 5.0
"""Seconds without a further change after which the source is crawled."""
MAX_WAIT_SECONDS = 300.0
"""Seconds after the first change at which the source is crawled although changes continue."""
MIN_CRAWL_INTERVAL = 60.0
"""Minimum seconds between two crawls caused by changes."""
RETRY_SECONDS = 60.0
"""Seconds after which watching folders is tried again if it failed."""
_CHECK_INTERVAL = 1.0
"""Seconds between two checks whether the watched folders still exist."""


class ChangeTimes:
    """The times of changes that are not crawled yet; decides when the source is to be crawled."""

    def __init__(self) -> None:
        self._first: float | None = None
        self._last = 0.0
        self._crawled = float("-inf")

    def note_change(self, now: float) -> None:
        """Record a change."""
        self._first = now if self._first is None else self._first
        self._last = now

    def note_crawl(self, now: float) -> None:
        """Record the start of a crawl, which covers all changes so far."""
        self._first, self._crawled = None, now

    def is_due(self, now: float) -> bool:
        """Whether a crawl is due."""
        if self._first is None or abs(now - self._crawled) < MIN_CRAWL_INTERVAL:  # a clock may be set back
            return False
        return abs(now - self._last) >= QUIET_SECONDS or abs(now - self._first) >= MAX_WAIT_SECONDS


class SourceWatch:
    """Watches the folders of one source in a thread of its own, so that a slow mount delays no other source."""

    def __init__(
        self, source: str, watched: WatchedFolders, ignored: Iterable[Path], changed: Callable[[], None]
    ) -> None:
        """Call `changed`, in the thread, for a change that affects the source outside of the `ignored` folders.

        It is also called at the start, for earlier changes, and when a watched folder appears or disappears.
        """
        self._source = source
        self._watched = watched
        self._ignored = tuple(os.path.join(os.path.realpath(folder), "") for folder in ignored)
        self._changed = changed
        self._ended = threading.Event()
        self._last_warning = ""
        threading.Thread(target=self._run, name=f"watch {source}", daemon=True).start()

    def end_watch(self) -> None:
        """Stop watching; the thread ends within a second."""
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._watch({folder: _identity(folder) for folder in self._watched.folders})
            except Exception as error:  # no error of the file system may end the thread
                reason = str(error).rstrip(".")
                self._warn(
                    f"its folders cannot be watched: {reason}; only schedules and commands start a crawl"
                )
                self._ended.wait(RETRY_SECONDS)

    def _watch(self, identities: Mapping[Path, tuple[int, int] | None]) -> None:
        """Watch the existing folders until one of them appears or disappears, or the watch ends."""
        missing = [str(folder) for folder, identity in identities.items() if identity is None]
        has_started = False
        for changed in self._changed_paths([folder for folder in identities if str(folder) not in missing]):
            if not has_started:
                self._warn(
                    f"{', '.join(missing)}: does not exist; watched as soon as it does" if missing else ""
                )
            if not has_started or any(map(self._affects_source, changed)):
                has_started = True
                self._changed()
            if any(_identity(folder) != identity for folder, identity in identities.items()):
                self._changed()
                return

    def _changed_paths(self, folders: Sequence[Path]) -> Iterator[Iterable[str]]:
        """Yield the paths changed below the folders, at least once a second, until the watch ends."""
        if not folders:
            while not self._ended.wait(_CHECK_INTERVAL):
                yield ()
            return
        import watchfiles  # noqa: PLC0415 - an extra

        for changes in watchfiles.watch(
            *folders,
            watch_filter=None,
            step=round(_CHECK_INTERVAL * 500),
            stop_event=self._ended,
            rust_timeout=round(_CHECK_INTERVAL * 1000),
            yield_on_timeout=True,
            ignore_permission_denied=True,
        ):
            yield [path for _, path in changes]

    def _affects_source(self, path: str) -> bool:
        return self._watched.affects_source(path) and not f"{os.path.realpath(path)}/".startswith(
            self._ignored
        )

    def _warn(self, text: str) -> None:
        if text and text != self._last_warning:
            logger.warning("%s: %s", self._source, text)
        self._last_warning = text


def _identity(folder: Path) -> tuple[int, int] | None:
    """Return device and inode of a folder; None if it does not exist."""
    try:
        folder_stat = folder.stat()
    except OSError:
        return None
    return folder_stat.st_dev, folder_stat.st_ino


class FolderWatch:
    """Watches the folders of all sources of a project with `watch: true`, and crawls sources after changes."""

    def __init__(
        self, clock: Clock, crawl: Callable[[str], Awaitable[None]], is_held: Callable[[str], bool]
    ) -> None:
        """`crawl` starts the crawl of a source, or raises `WorkError`; `is_held` says that it may not start."""
        self._clock = clock
        self._crawl = crawl
        self._is_held = is_held
        self._watches: dict[str, tuple[DataSource, SourceWatch]] = {}
        self._times: dict[str, ChangeTimes] = {}

    def replace_sources(self, project: Project, is_watched: Callable[[str], bool]) -> None:
        """Watch the sources of a project from now on; watches that go on with unchanged definitions stay.

        `is_watched` says which are watched here. Without the extra `watch` this logs a warning and watches nothing.
        """
        found = watched_sources(project.sources.values(), project.base)
        wanted = {name: watched for name, watched in found.items() if is_watched(name)}
        if others := ", ".join(found.keys() - wanted.keys()):
            logger.info(
                "the folders of %s are not watched here: one of the nodes does, or the one of the source",
                others,
            )
        if wanted and find_spec("watchfiles") is None:
            logger.warning("%s", MissingExtraError(f"watching the folders of {', '.join(wanted)}", "watch"))
            wanted = {}
        ended = [
            name
            for name, (was, _) in self._watches.items()
            if name not in wanted or project.sources.get(name) != was
        ]
        for name in ended:
            self._watches.pop(name)[1].end_watch()
        for name, watched in wanted.items():
            if name not in self._watches:
                note_change = self._change_callback(self._times.setdefault(name, ChangeTimes()))
                watch = SourceWatch(name, watched, _written_folders(project), note_change)
                self._watches[name] = project.sources[name], watch

    def _change_callback(self, times: ChangeTimes) -> Callable[[], None]:
        loop = asyncio.get_running_loop()

        def note() -> None:
            with suppress(RuntimeError):  # the loop is closed: the service has ended
                loop.call_soon_threadsafe(lambda: times.note_change(self._clock.now()))

        return note

    async def crawl_changed(self) -> None:
        """Start the crawls that are due; those that cannot start yet are tried again in the next call."""
        for name in list(self._watches):
            times, now = self._times[name], self._clock.now()
            if times.is_due(now) and not self._is_held(name):
                with suppress(WorkError):  # it is being crawled, or the service is ending
                    await self._crawl(name)
                    times.note_crawl(now)
                    logger.info("%s: its folders have changed", name)

    def end_watches(self) -> None:
        """Stop watching."""
        for _, watch in self._watches.values():
            watch.end_watch()
        self._watches.clear()


def _written_folders(project: Project) -> Iterator[Path]:
    """Yield the folders that crawls write to, whose changes must not cause a crawl."""
    yield from (project.index.path, project.state.path, project.cache.path, project.documents.path)
    yield project.logs.path
    yield from (section.path for section in project.indexes.values())
    yield from (section.path for section in project.destinations.values() if section.path is not None)
