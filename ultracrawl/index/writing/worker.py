"""The program of the index process, `python -m ultracrawl.index.writing.worker CONFIG`.

CONFIG says which index, or which other destination; the options of a destination, which may hold secrets, are the first
line of standard input as JSON. Then it reads one path of a sealed segment a line as JSON and answers each with one line
of JSON. Further crawls that feed the same index join it (`sharing`), and do the same over a socket. It ends when
standard input has ended, which also happens when the crawler is killed, and all others have gone, after the commit it
is in.
"""

from __future__ import annotations

import json
import logging
import signal
import sys
import time
from pathlib import Path

from ultracrawl.errors import UltracrawlError
from ultracrawl.index.destinations import Destination, EngineDestination
from ultracrawl.index.destinations.opening import DestinationConfig, open_destination
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.writing.crawl_connections import CrawlConnection, CrawlConnections
from ultracrawl.index.writing.segments import deliver_segment
from ultracrawl.index.writing.sharing import AddressTakenError, claim_index
from ultracrawl.index.writing.worker_handles import OWNED_ELSEWHERE_EXIT_CODE
from ultracrawl.system.files import restrict_umask
from ultracrawl.system.gc_tuning import freeze_loaded_objects, raise_gc_thresholds
from ultracrawl.system.process_exit import exit_process

IDLE = 2.0
"""Seconds without a segment, and without the end, after which there is time for housekeeping."""


def main(config: str) -> int:
    """Serve until nobody hands anything over any more; returns the exit code."""
    raise_gc_thresholds()
    restrict_umask()
    # A Ctrl-C goes to the whole terminal group: the crawler decides when indexing ends, by closing our input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    remarks = _Remarks()
    logging.getLogger("ultracrawl").addHandler(remarks)
    described, first = json.loads(config), CrawlConnection(sys.stdin.fileno(), sys.stdout.fileno())
    try:
        listener = None if {"destination", "alone"} & described.keys() else claim_index(config)
    except AddressTakenError:
        return OWNED_ELSEWHERE_EXIT_CODE
    destination = _open(described, config, first)
    freeze_loaded_objects()
    feeders = CrawlConnections(first, listener)
    for order in feeders.requests(IDLE):
        if order is None:
            _maintain(destination)
            continue
        feeder, line = order
        answer = _deliver(destination, Path(json.loads(line))) | {"remarks": remarks.taken()}
        if not feeder.send(answer):
            feeders.remove(feeder)
    if listener is not None:
        listener.close()
    destination.close()
    return 0


def _open(described: dict[str, str], config: str, first: CrawlConnection) -> Destination:
    if "destination" not in described:
        return EngineDestination(open_index(IndexConfig.from_json(config)))
    line = None
    while line is None and first.read_some():
        line = first.next_line()
    return open_destination(
        DestinationConfig(described["destination"], described["type"], json.loads(line or b"{}"))
    )


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
    exit_process(main(sys.argv[1]))
