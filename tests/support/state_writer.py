"""A process that writes the state of one source in PostgreSQL, flush by flush, as its parent says.

Run as a module it opens the store and answers each order with one line; `StateWriter` is its parent.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

LEASE = 2.0
"""Seconds of its lease."""
_TESTS = Path(__file__).resolve().parents[1]


class StateWriter:
    """A process that holds a source; with a `token` it says that it is the one of this token."""

    def __init__(self, options: dict[str, str], source: str, token: str = "") -> None:
        given = json.dumps({"options": options, "source": source, "token": token})
        self.process = subprocess.Popen(
            [sys.executable, "-m", "support.state_writer", given],
            cwd=_TESTS.parent,
            env={**os.environ, "PYTHONPATH": str(_TESTS), "ULTRACRAWL_LEASE_SECONDS": str(LEASE)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def answer(self) -> str:
        """Wait for its next line: `ok`, or why not."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def order(self, number: int) -> None:
        """Have it store the URL of a number, and flush; its answer is to be waited for. 0 closes the store."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()

    def flush(self, number: int) -> str:
        """Have it store the URL of a number; returns its answer."""
        self.order(number)
        return self.answer()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def __enter__(self) -> StateWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()


def _write(given: dict[str, Any]) -> None:
    from ultracrawl.errors import UltracrawlError
    from ultracrawl.stores import QueueEntry
    from ultracrawl.stores.postgresql.access import fencing
    from ultracrawl.stores.postgresql.engine import PostgresEngine

    if given["token"]:
        fencing.uuid4 = lambda: UUID(given["token"])
    with closing(PostgresEngine(given["options"]).open_store(Path(), given["source"])) as store:
        print("ok", flush=True)
        while number := int(sys.stdin.readline()):
            store.records.discover_url(QueueEntry(number, f"http://h/{number}", "h", 0, number), 1.0)
            store.links.note_depth_due(1, number.to_bytes(8, "little"))
            try:
                store.flush()
            except UltracrawlError as error:
                print(error, flush=True)
            else:
                print("ok", flush=True)
    print("closed", flush=True)


if __name__ == "__main__":
    _write(json.loads(sys.argv[1]))
