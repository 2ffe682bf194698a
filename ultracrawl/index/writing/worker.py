"""The index process: `python -m ultracrawl.index.writing.worker CONFIG`.

CONFIG is the configuration of an index or of another destination; its options, which may contain secrets, are the first
line of standard input as JSON, if it has any. It then reads the path of one sealed segment a line, as JSON, or a
question about the index (`questions`), and replies to each with one line of JSON. Further crawls that feed the same
index connect to its socket (`sharing`) and do the same. It ends after the current commit when standard input is closed,
which also happens when the crawler is killed, and all other crawls have gone.
"""

from __future__ import annotations

import json
import logging
import signal
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ultracrawl.errors import UltracrawlError
from ultracrawl.index.destinations import Batch, Destination, EngineDestination
from ultracrawl.index.destinations.destination_config import DestinationConfig, open_destination
from ultracrawl.index.engine import Json
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.writing.crawl_connections import CrawlConnection, CrawlConnections
from ultracrawl.index.writing.questions import answer_to, refusal
from ultracrawl.index.writing.segments import deliver_segment
from ultracrawl.index.writing.sharing import AddressTakenError, claim_index
from ultracrawl.index.writing.worker_handles import OWNED_ELSEWHERE_EXIT_CODE
from ultracrawl.system.files import restrict_umask
from ultracrawl.system.gc_tuning import freeze_loaded_objects, raise_gc_thresholds
from ultracrawl.system.process_exit import exit_process

Answer = Callable[[Mapping[str, Any]], dict[str, Json]]
"""Answers a question about the index."""
IDLE_SECONDS = 2.0
"""Seconds without a request after which maintenance is done, in addition to the time that the last one took."""


def main(config: str) -> int:
    """Serve until all crawls have gone; returns the exit code."""
    raise_gc_thresholds()
    restrict_umask()
    # Ctrl-C signals the whole process group; the crawler decides when indexing ends, by closing our input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    remarks = _WarningCollector()
    logging.getLogger("ultracrawl").addHandler(remarks)
    settings, first = json.loads(config), CrawlConnection(sys.stdin.fileno(), sys.stdout.fileno())
    options = [_first_line(first)] if "has_options" in settings else []
    if "destination" in settings:
        listener, answer = None, None
        destination = open_destination(DestinationConfig.from_json(config, *options))
    else:
        index = IndexConfig.from_json(config, *options)
        try:
            listener = None if "alone" in settings else claim_index(index.shared_name())
        except AddressTakenError:
            return OWNED_ELSEWHERE_EXIT_CODE
        destination, answer = _opened(index)
    freeze_loaded_objects()
    connections = CrawlConnections(first, listener)
    for order in connections.requests(IDLE_SECONDS):
        if order is None:
            _maintain(destination)
            continue
        connection, line = order
        request = json.loads(line)
        if isinstance(request, str):
            reply = _deliver(destination, Path(request)) | {"remarks": remarks.take_messages()}
        else:
            assert answer is not None
            reply = {"answer": answer(request) | {"warnings": remarks.take_messages()}}
        if not connection.send(reply):
            connections.remove(connection)
    if listener is not None:
        listener.close()
    destination.close()
    return 0


def _opened(config: IndexConfig) -> tuple[Destination, Answer]:
    """Return an index as a destination, and what answers questions about it; one that cannot be opened says why."""
    try:
        engine = open_index(config)
    except UltracrawlError as error:
        return _Unopened(error), partial(_refuse, refusal(error))
    return EngineDestination(engine, config), partial(answer_to, index=engine, config=config)


class _Unopened(Destination):
    """Stands for an index that cannot be opened."""

    def __init__(self, error: UltracrawlError) -> None:
        self._error = error

    def deliver(self, batch: Batch) -> int:
        """Say why it was not opened."""
        raise self._error

    def maintain(self) -> None:
        """Do nothing: there is nothing to maintain."""

    def close(self) -> None:
        """Do nothing: nothing is open."""


def _refuse(reason: dict[str, Json], _: Mapping[str, Any]) -> dict[str, Json]:
    return reason


def _first_line(connection: CrawlConnection) -> bytes:
    """Return the first line that a crawl sends; ends the process if the crawl is gone before."""
    line = None
    while line is None and connection.read_some():
        line = connection.next_line()
    if line is None:
        sys.exit(0)
    return line


class _WarningCollector(logging.Handler):
    """Collects warnings of the engine for the next reply, because nobody reads the log of this process."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message of a record (`logging.Handler`)."""
        self._lines.append(record.getMessage())

    def take_messages(self) -> list[Json]:
        """Return and clear the messages."""
        lines, self._lines = self._lines, []
        return [*lines]


def _deliver(destination: Destination, path: Path) -> dict[str, Json]:
    started = time.monotonic()
    try:
        added = deliver_segment(destination, path)
    except UltracrawlError as error:
        return {"path": str(path), "failed": str(error)}
    return {"path": str(path), "added": added, "seconds": time.monotonic() - started}


def _maintain(destination: Destination) -> None:
    """Merge segments if it is due; errors are only printed, because the segment is committed."""
    try:
        destination.maintain()
    except UltracrawlError as error:
        sys.stderr.write(f"{error}\n")


if __name__ == "__main__":
    exit_process(main(sys.argv[1]))
