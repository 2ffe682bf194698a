"""Shows other processes what is kept here, and keeps two processes from keeping the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager

from ultracrawl.sources import Project
from ultracrawl.stores.opening import schedules_folder
from ultracrawl.stores.runner_registry import RunnerRegistration


class KeptSign:
    """What this process shows others; without a badge nobody can look."""

    def __init__(self, badge: RunnerRegistration | None = None) -> None:
        self._badge = badge

    def claim(self, schedules: Collection[str], sources: Collection[str]) -> str:
        """Show that these are kept here; returns a line instead if another process keeps some of them."""
        other = self._badge.claim(schedules, sources) if self._badge is not None else None
        if other is None:
            return ""
        same = sorted({*other.schedules.intersection(schedules), *other.sources.intersection(sources)})
        return f"{', '.join(same)}: kept by process {other.pid} already; stop that first"

    def publish_waiting(self, sources: Collection[str]) -> None:
        """Show whose crawls wait for a free place."""
        if self._badge is not None:
            self._badge.publish_waiting(sources)


@contextmanager
def kept_sign(project: Project) -> Iterator[KeptSign]:
    """Give what shows other processes, inside the block, what is kept here."""
    folder = schedules_folder(project)
    if folder is None:
        yield KeptSign()
        return
    with closing(RunnerRegistration(folder)) as badge:
        yield KeptSign(badge)
