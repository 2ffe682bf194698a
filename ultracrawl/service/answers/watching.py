"""Checks golden queries after crawls: a notice says once which pages fell out of the first hits."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from ultracrawl.errors import UserError, WorkError
from ultracrawl.service.answers.checking import AnswerCheck, check_answers
from ultracrawl.service.answers.outcome import read_outcome, write_outcome
from ultracrawl.sources import Project
from ultracrawl.sources.golden_queries import read_golden_queries

logger = logging.getLogger(__name__)
_SHOWN = 3
"""Pages that a notice names."""
_Fallen = frozenset[tuple[str, str]]
"""Queries and pages."""


class AnswerWatch:
    """Checks the golden queries that a project names (`search_page.check_answers`) after its crawls.

    Crawls that end during a check are followed by one more check. What fell is stored in the state folder, so that it
    is told once, also by a service that is restarted.
    """

    def __init__(self, project: Callable[[], Project], tell: Callable[[str], None]) -> None:
        """Take what returns the present project, and what takes the text of a notice."""
        self._project = project
        self._tell = tell
        self._ended_crawl = asyncio.Event()
        self._stopping = threading.Event()

    def note_crawl(self) -> None:
        """Have the queries checked, because a crawl ended."""
        if self._project().search_page.check_answers is not None:
            self._ended_crawl.set()

    async def run(self) -> None:
        """Check the queries after crawls, until this is cancelled."""
        try:
            while True:
                await self._ended_crawl.wait()
                self._ended_crawl.clear()
                text = await asyncio.to_thread(self.check)
                if text:
                    self._tell(text)
        finally:
            self._stopping.set()

    def check(self) -> str:
        """Check the queries now; return what fell since the last check, in one line, or an empty text.

        Errors are logged.
        """
        project = self._project()
        path = project.search_page.check_answers
        if path is None:
            return ""
        try:
            checked = check_answers(project, read_golden_queries(path), is_ended=self._stopping.is_set)
            if self._stopping.is_set():
                return ""
            return _text(path, checked, self._exchange(project, checked))
        except (UserError, WorkError) as error:
            for line in str(error).splitlines():
                logger.warning("search_page.check_answers: %s", line)
            return ""

    def _exchange(self, project: Project, checked: AnswerCheck) -> _Fallen:
        """Store what has fallen, and return what had not fallen before."""
        latest = read_outcome(project)
        before = {(one.query, one.page) for one in latest.fallen} if latest is not None else set()
        write_outcome(project, checked)
        return frozenset((one.query, one.page) for one in checked.fallen) - before


def _text(path: Path, checked: AnswerCheck, fresh: _Fallen) -> str:
    """Return the text of the notice; empty if nothing fell that had not fallen before."""
    if not fresh:
        return ""
    return (
        f"{len(fresh):,} of {checked.pages:,} pages are no longer among the first hits of their queries: "
        f"{'; '.join(_lines(checked, fresh))}; see `ultracrawl check-answers {path}`"
    )


def _lines(checked: AnswerCheck, fresh: _Fallen) -> Iterator[str]:
    fallen = [one for one in checked.fallen if (one.query, one.page) in fresh]
    for one in fallen[:_SHOWN]:
        place = (
            f"position {one.position}"
            if one.position
            else "not found"
            if one.is_indexed
            else "not in the index"
        )
        yield f"{one.page} for {one.query!r} ({place})"
    if len(fallen) > _SHOWN:
        yield f"and {len(fallen) - _SHOWN:,} more"
