"""The log of one run: a file of its own that tells what went wrong and ends with the results (Ultra Search 14.3)."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from ultracrawl.crawl.logs.appended import AppendedLog, printable, unwritable
from ultracrawl.crawl.visit import Visit
from ultracrawl.model import RunReport, UrlOutcome, status_text
from ultracrawl.sources import Project

INSTANCE = 1
"""The number of the crawler in the names of its logs."""
LINKS = 1000
"""Links of a run that were excluded and have a line; further ones are counted. `log.screened` has all."""
QUIET = frozenset(
    {UrlOutcome.NEW, UrlOutcome.MODIFIED, UrlOutcome.UNMODIFIED, UrlOutcome.NOT_MODIFIED, UrlOutcome.PENDING}
)
"""Outcomes that have no line: everything went as it should."""
MESSAGES = {909: "30083 duplicate document ignored", 910: "30083 duplicate document ignored"}
"""Messages of status codes whose reason need not name them (Ultra Search 14.2)."""
_WARNED = frozenset({UrlOutcome.HTTP_ERROR, UrlOutcome.NETWORK_ERROR, UrlOutcome.FAILED})


def run_logs(project: Project, source: str) -> list[Path]:
    """Return the logs of a source's runs, the oldest first."""
    name = re.compile(rf"i\d+ds{re.escape(source)}\.\d{{8}}(-\d+)?\.log")
    folder = project.logs.path
    files = [path for path in folder.iterdir() if name.fullmatch(path.name)] if folder.is_dir() else []
    return sorted(files, key=lambda path: (path.stat().st_mtime_ns, path.name))


class RunLog(AppendedLog):
    """Collects lines in memory and appends them when `flush` is called, a few times a second.

    It has a line for each URL that did not go as it should, for the first links that were excluded, and for each
    warning and error of the program. Beyond `logs.size` bytes such lines are only counted; the results are always
    written. Line ends and control characters in what sites send are escaped. Raises `WorkError` if the file cannot be
    written.
    """

    def __init__(self, project: Project, source: str, keep: int, clock: Callable[[], float]) -> None:
        super().__init__(project.logs.path, sys.maxsize, clock)
        self._room = project.logs.size
        self._left_out = 0
        self._links = 0
        self._handler = _Forwarder(self.note)
        self.path = self._begin(project, source, keep)

    def _begin(self, project: Project, source: str, keep: int) -> Path:
        """Create the file of this launch, and remove all but the latest of the others."""
        launched = datetime.fromtimestamp(self._clock(), UTC).strftime("%m%d%H%M")
        folder, stem = project.logs.path, f"i{INSTANCE}ds{source}.{launched}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            older = run_logs(project, source)
            for path in older[: max(len(older) - keep + 1, 0)]:
                path.unlink(missing_ok=True)
            for path in _names(folder, stem):
                try:
                    path.touch(exist_ok=False)
                except FileExistsError:
                    continue
                return path
        except OSError as error:
            raise unwritable(folder, error) from error
        raise AssertionError("names do not end")

    # ---- what is told

    def started(self, report: RunReport) -> None:
        """Tell that a run begins, and listen to the warnings of the program from now on."""
        logging.getLogger("ultracrawl").addHandler(self._handler)
        how = "goes on" if report.resumed else "begins"
        self._add("INFO", f"run {report.run_id} of {report.source} {how}; {report.scheduled} URLs wait")

    def note_visit(self, visit: Visit) -> None:
        """Tell how a visit ended, if that is worth a line."""
        ending = visit.ending
        if ending is None or visit.outcome is None or ending.outcome in QUIET:
            return
        level = "WARNING" if ending.outcome in _WARNED else "INFO"
        code = ending.status
        reason = ": ".join(filter(None, (MESSAGES.get(code, ""), str(ending.cause))))
        reason = f" ({reason})" if reason else ""
        self.note(level, f"{ending.outcome.value} {code} {status_text(code)}: {visit.url}{reason}")

    def link_excluded(self, url: str, rule: str, message: str) -> None:
        """Tell that a link was excluded by a rule; `message` is the number and text of Ultra Search 14.2."""
        self._links += 1
        if self._links <= LINKS:
            self.note("INFO", f"{message}: {url} ({rule})")

    def note(self, level: str, text: str) -> None:
        """Add a line, if there is room for it."""
        if self._room <= 0:
            self._left_out += 1
            return
        self._add(level, text)

    def results(self, report: RunReport, reason: str) -> None:
        """Tell how the run ended, with its numbers."""
        if self._left_out:
            self._add("WARNING", f"{self._left_out} lines were left out; `logs.size` bounds this log")
        if self._links > LINKS:
            self._add(
                "INFO", f"{self._links - LINKS:,} further links were excluded; `log.screened` keeps all"
            )
        for problem in report.problems:
            self._add("ERROR", problem)
        self._add("INFO", f"run {report.run_id} of {report.source} ends: {reason}; {report.summary()}")
        self.append_line("\nCrawling results\n")
        numbers = [(name.replace("_", " "), number) for name, number in report.statistics.items()]
        codes = [
            (f"{code} {status_text(code)}", number) for code, number in sorted(report.status_codes.items())
        ]
        for name, number in (*numbers, *codes):
            self.append_line(f"  {number:>9,}  {name}\n")

    def _add(self, level: str, text: str) -> None:
        line = f"{self._now()} {level:<7} {printable(text)}\n"
        self._room -= len(line)
        self.append_line(line)

    def close(self) -> None:
        """Listen no longer."""
        logging.getLogger("ultracrawl").removeHandler(self._handler)


class _Forwarder(logging.Handler):
    """Passes warnings and errors on, with their level."""

    def __init__(self, note: Callable[[str, str], None]) -> None:
        super().__init__(logging.WARNING)
        self._note = note

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a record on as one line; what raised is told by type and message."""
        cause = record.exc_info[1] if record.exc_info else None
        detail = f": {type(cause).__name__}: {cause}" if cause else ""
        self._note(record.levelname, f"{record.getMessage()}{detail}")


def _names(folder: Path, stem: str) -> Iterator[Path]:
    """Yield the name of a launch, then those of further launches in the same minute."""
    yield folder / f"{stem}.log"
    number = 1
    while True:
        number += 1
        yield folder / f"{stem}-{number}.log"
