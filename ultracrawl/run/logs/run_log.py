"""The log file of one run: its problems, and its results at the end (Ultra Search 14.3)."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from ultracrawl.model import RunReport, UrlOutcome, status_text
from ultracrawl.model.outcome import WITH_DOCUMENT
from ultracrawl.run.hooks import Feature
from ultracrawl.run.logs.log_files import AppendedLog, printable, write_error
from ultracrawl.run.visit import Visit
from ultracrawl.sources import Project

MAX_EXCLUDED_LINKS = 1000
"""Excluded links that get a line; further ones are only counted. `log.screened` has all."""
QUIET = WITH_DOCUMENT | {UrlOutcome.LIST}
"""Outcomes of successful visits, which get no line."""
MESSAGES = {909: "30083 duplicate document ignored", 910: "30083 duplicate document ignored"}
"""Messages added to the causes of status codes (Ultra Search 14.2)."""
_WARNED = frozenset({UrlOutcome.HTTP_ERROR, UrlOutcome.NETWORK_ERROR, UrlOutcome.FAILED})


def run_logs(project: Project, source: str) -> list[Path]:
    """Return the run logs of a source, the oldest first."""
    written = re.escape(source)
    name = re.compile(rf"{written}\.run-\d{{8}}-\d{{4}}(-\d+)?\.log")
    folder = project.logs.path
    files = [path for path in folder.iterdir() if name.fullmatch(path.name)] if folder.is_dir() else []
    return sorted(files, key=lambda path: (path.stat().st_mtime_ns, path.name))


class RunLog(AppendedLog, Feature):
    """The log file of one run, with the results at its end.

    It has a line for each visit that was not successful, for the first excluded links, and for each warning and error
    of the program. Beyond `logs.size` bytes such lines are only counted; the results are always written. Line ends
    and control characters are escaped. The file is created with its first lines, so that a crawl that cannot begin
    leaves none.
    """

    def __init__(
        self,
        project: Project,
        source: str,
        keep: int,
        clock: Callable[[], float],
        report: Callable[[], RunReport],
    ) -> None:
        super().__init__(project.logs.path, sys.maxsize, clock)
        self._create_file = partial(_create, project, source, keep, clock())
        self._created = False
        self._bytes_left = project.logs.size
        self._omitted = 0
        self._links = 0
        self._report = report
        self._handler = _Forwarder(self.note)

    def flush(self, number: int = sys.maxsize) -> None:
        """Write the collected lines, or the first `number`. Raises `WorkError` if that fails; they are lost then."""
        if self._lines[:number] and not self._created:
            self.path = self._create_file()
            self._created = True
        super().flush(number)

    # ---- lines

    def opened(self) -> None:
        """Log the begin of a run, and start to log warnings of the program."""
        report = self._report()
        logging.getLogger("ultracrawl").addHandler(self._handler)
        how = "continues" if report.resumed else "starts"
        self._add("INFO", f"run {report.run_id} of {report.source} {how}; {report.scheduled} URLs are queued")

    def visit_ended(self, visit: Visit) -> None:
        """Log the end of a visit that was not successful."""
        ending = visit.ending
        if ending is None or visit.outcome is None or ending.outcome in QUIET:
            return
        level = "WARNING" if ending.outcome in _WARNED else "INFO"
        code = ending.status
        reason = ": ".join(filter(None, (MESSAGES.get(code, ""), ending.cause.logged)))
        reason = f" ({reason})" if reason else ""
        self.note(level, f"{ending.outcome.value} {code} {status_text(code)}: {visit.url}{reason}")

    def candidate_excluded(self, url: str, rule: str, parent: str, message: str) -> None:
        """Log an excluded link; `message` is the number and text of Ultra Search 14.2, if another log has none."""
        if not message:
            return
        self._links += 1
        if self._links <= MAX_EXCLUDED_LINKS:
            self.note("INFO", f"{message}: {url} ({rule})")

    def note(self, level: str, text: str) -> None:
        """Add a line, unless the size limit is reached."""
        if self._bytes_left <= 0:
            self._omitted += 1
            return
        self._add(level, text)

    def note_results(self, reason: str) -> None:
        """Log the close reason and the counts of the run."""
        report = self._report()
        if self._omitted:
            self._add("WARNING", f"{self._omitted} lines were omitted because of `logs.size`")
        if self._links > MAX_EXCLUDED_LINKS:
            self._add(
                "INFO",
                f"{self._links - MAX_EXCLUDED_LINKS:,} further links were excluded; `log.screened` logs all of them",
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
        self._bytes_left -= len(line)
        self.append_line(line)

    def close(self) -> None:
        """Stop logging warnings of the program."""
        logging.getLogger("ultracrawl").removeHandler(self._handler)


class _Forwarder(logging.Handler):
    """Passes warnings and errors to a callback (level, text)."""

    def __init__(self, note: Callable[[str, str], None]) -> None:
        super().__init__(logging.WARNING)
        self._note = note

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a record on as one line, with type and message of its exception."""
        cause = record.exc_info[1] if record.exc_info else None
        detail = f": {type(cause).__name__}: {cause}" if cause else ""
        self._note(record.levelname, f"{record.getMessage()}{detail}")


def _create(project: Project, source: str, keep: int, launched: float) -> Path:
    """Create the file of a run and delete old ones, so that `keep` remain."""
    folder = project.logs.path
    stem = f"{source}.run-{datetime.fromtimestamp(launched, UTC):%Y%m%d-%H%M}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        existing = run_logs(project, source)
        for path in existing[: max(len(existing) - keep + 1, 0)]:
            path.unlink(missing_ok=True)
        for path in _names(folder, stem):
            try:
                path.touch(exist_ok=False)
            except FileExistsError:
                continue
            return path
    except OSError as error:
        raise write_error(folder, error) from error
    raise AssertionError("names do not end")


def _names(folder: Path, stem: str) -> Iterator[Path]:
    """Yield the path for a run, then those for further runs that start in the same minute."""
    yield folder / f"{stem}.log"
    number = 1
    while True:
        number += 1
        yield folder / f"{stem}-{number}.log"
