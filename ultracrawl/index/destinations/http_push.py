"""The `http` destination: POST requests of JSON lines to a web server."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from hashlib import sha256

from ultracrawl.index.destinations.destination import Batch, Destination
from ultracrawl.index.destinations.http_client import HttpClient, ServerOptions
from ultracrawl.index.destinations.json_lines import change_lines
from ultracrawl.index.engine import IndexDocument, Json


class HttpPush(Destination):
    """Posts documents and removals in requests of limited size, one after the other.

    A 2xx status confirms a request; others are repeated as by `HttpClient`, with the same `Idempotency-Key`.
    """

    def __init__(
        self,
        name: str,
        options: Mapping[str, Json],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        headers = {"Content-Type": "application/x-ndjson"}
        self._client = HttpClient(name, ServerOptions.from_json(options), headers, clock=clock, sleep=sleep)

    def deliver(self, batch: Batch) -> int:
        """Send a batch in as many requests as it takes; returns when the server has confirmed all."""
        for body in self._client.batches(change_lines(batch.changes)):
            key = sha256(batch.key.encode() + b"\n" + body).hexdigest()
            self._client.send("POST", "", body, (f"Idempotency-Key: {key}",))
        return sum(isinstance(change, IndexDocument) for change in batch.changes)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()
