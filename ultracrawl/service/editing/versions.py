"""The versions of the definition of a source that the service has saved, with who saved them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ultracrawl.dataclass import asdict, dataclass
from ultracrawl.errors import NotFoundError
from ultracrawl.service.access.row_file import RowFile
from ultracrawl.sources import Project

MOST_VERSIONS = 100
MOST_CHARACTERS = 1_000_000
"""Of all versions of a source together; the oldest are forgotten."""
_SCHEDULES = ".schedules"
"""No name of a source."""
LONGEST = 400 * 86_400.0
"""Seconds after which a version is forgotten, unless it is the latest."""


@dataclass(frozen=True, slots=True)
class Version:
    """The lines of a source at a time; values that may be secrets are hidden."""

    number: int
    time: float
    """Seconds since 1970."""
    who: str
    """Who saved it, as `user:anna`; empty: it was found in the file."""
    revision: str
    lines: str


def versions_folder(project: Project) -> Path:
    """Return the folder with the versions of all sources."""
    return project.state.path / "service" / "definitions"


class Versions:
    """The versions of one source, or of all schedules, in the state folder of the project."""

    def __init__(self, project: Project, source: str | None) -> None:
        """None: the schedules."""
        folder = versions_folder(project)
        remedy = "begin a new history"
        self._rows = RowFile(
            folder / f"{_SCHEDULES if source is None else source}.json", "versions", _version, asdict, remedy
        )

    def all_versions(self) -> list[Version]:
        """Return all versions, the newest first. Raises `WorkError`."""
        return sorted(self._rows.read().values(), key=lambda one: -one.number)

    def find(self, number: int) -> Version:
        """Return a version. Raises `NotFoundError`, `WorkError`."""
        found = self._rows.read().get(str(number))
        if found is None:
            raise NotFoundError(f"there is no version {number}")
        return found

    @contextmanager
    def adding(self) -> Iterator[NewVersions]:
        """Hold the lock of the source while a file is saved, and add versions. Raises `WorkError`."""
        with self._rows.changing() as rows:
            added = NewVersions(list(rows.values()))
            yield added
            rows.clear()
            rows.update({str(one.number): one for one in _kept(added.versions, time.time())})


class NewVersions:
    """Versions while one is added."""

    def __init__(self, versions: list[Version]) -> None:
        self.versions = versions

    def add(self, revision: str, lines: str, who: str = "", at: float | None = None) -> Version:
        """Add a version, unless the latest has the same revision; returns the latest."""
        latest = self.versions[-1] if self.versions else None
        if latest is None or latest.revision != revision:
            number = latest.number + 1 if latest else 1
            latest = Version(number, time.time() if at is None else at, who, revision, lines)
            self.versions.append(latest)
        return latest


def _kept(versions: list[Version], now: float) -> list[Version]:
    kept, size = list[Version](), 0
    for one in versions[::-1][:MOST_VERSIONS]:
        size += len(one.lines)
        if kept and (size > MOST_CHARACTERS or now - one.time > LONGEST):
            break
        kept.append(one)
    return kept[::-1]


def _version(row: dict[str, Any]) -> tuple[str, Version]:
    version = Version(**row)
    return str(version.number), version
