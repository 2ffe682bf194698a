"""The program of the index process, `python -m ultracrawl.index.writing.worker CONFIG`.

CONFIG says which index, or which other destination; the options of a destination, which may hold secrets, are the first
line of standard input as JSON. Then it reads one path of a sealed segment a line as JSON and answers each with one line
of JSON. It ends when standard input ends, which also happens when the crawler is killed, after the commit it is in.
"""

from __future__ import annotations

import json
import logging
import select
import signal
import sys
import time
from pathlib import Path
from typing import BinaryIO

from ultracrawl.errors import UltracrawlError
from ultracrawl.files import write_for_owner
from ultracrawl.index.destinations import Destination, EngineDestination
from ultracrawl.index.destinations.opening import DestinationConfig, open_destination
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.writing.segments import deliver_segment
from ultracrawl.settings.gc_tuning import collect_seldom, spare_what_is_there

IDLE = 2.0
"""Seconds without a segment, and without the end, after which there is time for housekeeping."""


def main(config: str) -> None:
    """Serve until standard input ends."""
    collect_seldom()
    write_for_owner()
    # A Ctrl-C goes to the whole terminal group: the crawler decides when indexing ends, by closing our input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    remarks = _Remarks()
    logging.getLogger("ultracrawl").addHandler(remarks)
    destination = _open(config)
    spare_what_is_there()
    for line in sys.stdin.buffer:
        answer = _deliver(destination, Path(json.loads(line))) | {"remarks": remarks.taken()}
        try:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            break
        if nothing_comes(sys.stdin.buffer, IDLE):
            _maintain(destination)
    destination.close()


def _open(config: str) -> Destination:
    described = json.loads(config)
    if "destination" not in described:
        return EngineDestination(open_index(IndexConfig.from_json(config)))
    options = json.loads(sys.stdin.buffer.readline() or b"{}")
    return open_destination(DestinationConfig(described["destination"], described["type"], options))


class _Remarks(logging.Handler):
    """Keeps warnings of the engine for the next answer, because nobody reads the log of this process."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line of a record (logging's protocol)."""
        self._lines.append(record.getMessage())

    def taken(self) -> list[str]:
        """Return the lines since the last call."""
        lines, self._lines = self._lines, []
        return lines


def nothing_comes(lines: BinaryIO, seconds: float) -> bool:
    """Whether neither a line nor the end comes within so many seconds: nobody should wait for a merge."""
    return not select.select([lines], [], [], seconds)[0]


def _deliver(destination: Destination, path: Path) -> dict[str, str | int | float | list[str]]:
    started = time.monotonic()
    try:
        added = deliver_segment(destination, path)
    except UltracrawlError as error:
        return {"path": str(path), "failed": str(error)}
    return {"path": str(path), "added": added, "seconds": time.monotonic() - started}


def _maintain(destination: Destination) -> None:
    """Merge if it is due; a failure is told, but the segment was committed and stays so."""
    try:
        destination.maintain()
    except UltracrawlError as error:
        sys.stderr.write(f"{error}\n")


if __name__ == "__main__":
    main(sys.argv[1])
