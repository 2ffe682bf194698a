"""The files of query statistics: one a day (UTC) in the state folder, so that a damaged one loses only its day."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path

from ultracrawl.errors import WorkError
from ultracrawl.service.statistics.counts import DayCounts, OriginCounts
from ultracrawl.sources import Project
from ultracrawl.system.files import (
    cause_and_remedy,
    convert_write_errors,
    exclusive_lock,
    replace_file,
    set_aside,
)

logger = logging.getLogger(__name__)
_SUFFIX = ".json"
_DAMAGED = ".damaged-"


class DamagedStatisticsError(WorkError):
    """The statistics of a day cannot be read."""


class QueryStore:
    """The query statistics of a project; several processes may add to them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of_project(cls, project: Project) -> QueryStore:
        """Return the statistics of a project, in its state folder."""
        return cls(project.state.path / "service" / "queries")

    def add(self, day: date, counts: Mapping[str, OriginCounts]) -> DayCounts:
        """Add counts to those of a day and return all of the day; the file is replaced as a whole.

        A damaged file is set aside, and the day begins again. Raises `WorkError`.
        """
        path = self._path(day)
        with convert_write_errors(path):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with exclusive_lock(self.folder / ".lock"):
                try:
                    found = self.read(day)
                except DamagedStatisticsError as error:
                    aside = set_aside(path)
                    logger.warning(
                        "%s; it was moved to %s, and the counts of this day begin again", error, aside
                    )
                    found = DayCounts()
                found.add(counts)
                replace_file(path, json.dumps(found.to_json(), ensure_ascii=False).encode("utf-8", "replace"))
        return found

    def read(self, day: date) -> DayCounts:
        """Return the counts of a day. Raises `DamagedStatisticsError`, `WorkError`."""
        path = self._path(day)
        try:
            return DayCounts.from_json(json.loads(path.read_bytes()))
        except FileNotFoundError:
            return DayCounts()
        except OSError as error:
            raise WorkError(f"{path} cannot be read: {cause_and_remedy(error)}") from error
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise DamagedStatisticsError(f"the query statistics {path} are damaged") from None

    def damaged_days(self) -> set[date]:
        """Return the days of which a damaged file was set aside."""
        return {day for day, is_damaged, _ in self._files() if is_damaged}

    def delete_before(self, first: date) -> None:
        """Delete the files of the days before one, damaged ones too. Raises `WorkError`."""
        with convert_write_errors(self.folder):
            for day, _, path in list(self._files()):
                if day < first:
                    path.unlink(missing_ok=True)

    def _files(self) -> Iterator[tuple[date, bool, Path]]:
        """Yield the files: day, whether it is damaged, path."""
        with suppress(FileNotFoundError):
            for path in self.folder.iterdir():
                with suppress(ValueError):
                    name, _, rest = path.name.partition(_SUFFIX)
                    yield date.fromisoformat(name), rest.startswith(_DAMAGED), path

    def _path(self, day: date) -> Path:
        return self.folder / f"{day.isoformat()}{_SUFFIX}"


def days_until(last: date, number: int) -> list[date]:
    """Return a number of days in a row, in order of time, up to the last one."""
    return [last - timedelta(days=back) for back in reversed(range(number))]
