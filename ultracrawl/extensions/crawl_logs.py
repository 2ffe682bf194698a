"""The logs that a crawl writes: of the run itself, and of links that were turned away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.errors import WorkError
from ultracrawl.extensions.run_log import RunLog
from ultracrawl.extensions.screened import ScreenedLog, screened_path

if TYPE_CHECKING:
    from ultracrawl.extensions.session import CrawlSession


class CrawlLogs:
    """Opens, writes and closes the logs that a source keeps; one that cannot be written never ends a crawl."""

    def __init__(self, session: CrawlSession) -> None:
        self._session = session
        self.screened: ScreenedLog | None = None
        """The log of links that were turned away, if the source keeps one."""
        self.run: RunLog | None = None
        """The log of this run, if the source keeps any."""

    def open(self) -> None:
        """Begin the logs; if that cannot be, the crawl goes on and says so."""
        session = self._session
        kept = session.source.log
        if kept.screened:
            path = screened_path(session.project, session.source.name)
            self.screened = ScreenedLog(path, session.project.logs.size, session.clock)
        if not kept.runs:
            return
        try:
            self.run = RunLog(session.project, session.source.name, kept.runs, session.clock)
        except WorkError as error:
            session.note(error)
            return
        self.run.started(session.report)
        session.recorder.on_finish.append(self.run.ended)

    def turned_away(self, url: str, rule: str, parent: str, message: str) -> None:
        """Note a link that was turned away, with the number and text of its message."""
        if self.screened is not None:
            self.screened.add(url, rule, parent)
        if self.run is not None:
            self.run.turned_away(url, rule, message)

    def flush(self) -> None:
        """Write what was noted; a log that cannot be written is given up."""
        try:
            if self.screened is not None:
                self.screened.flush()
        except WorkError as error:
            self.screened = None
            self._session.note(error)
        try:
            if self.run is not None:
                self.run.flush()
        except WorkError as error:
            self._close_run()
            self._session.note(error)

    def close(self, reason: str) -> None:
        """Write the results of the run under its log."""
        if self.run is not None:
            self.run.results(self._session.report, reason)
            self.flush()
        self._close_run()

    def _close_run(self) -> None:
        if self.run is not None:
            self.run.close()
        self.run = None
