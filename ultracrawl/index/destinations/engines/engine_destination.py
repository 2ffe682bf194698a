"""What destinations that are search engines have in common: the order of requests."""

from __future__ import annotations

import json
import logging
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar

from ultracrawl.index.changes import last_changes
from ultracrawl.index.destinations.destination import Batch, Destination
from ultracrawl.index.destinations.engines.records import DOCUMENTS, document_key, records_of
from ultracrawl.index.destinations.http_client import HttpClient, ServerOptions
from ultracrawl.index.engine import Deletion, IndexDocument, Json

logger = logging.getLogger(__name__)

JSON, LINES = ("Content-Type: application/json",), ("Content-Type: application/x-ndjson",)
"""Headers of a request whose body is a value, or a value a line."""
KEYS_PER_REQUEST = 100
"""Documents that one request removes; some engines take them in the URL."""


class EngineServer(Destination):
    """A collection (index, core) of a search engine over HTTP.

    Before the first delivery the collection is made, or checked to be one that this destination can write to. Records
    of a document are removed before new ones are put if it can have several. Anchor texts are not sent: they are for
    the ranking of our own index. A record that the engine refuses for good is left out, with a warning; everything else
    that fails is `WorkError`, after which the batch is delivered again.
    """

    KEY_HEADER: ClassVar[tuple[str, str]] = ("Authorization", "Bearer {}")
    """The header with the API key."""

    def __init__(
        self,
        name: str,
        options: Mapping[str, Json],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        given = ServerOptions.from_json(options)
        self._options = server = replace(given, url=given.url.rstrip("/"))
        self._name = name
        self.collection, self.form = server.collection, server.records
        header, form = self.KEY_HEADER
        key = {header: form.format(server.key)} if server.key else {}
        self.client = HttpClient(name, server, key, clock=clock, sleep=sleep)
        self._is_prepared = False

    def deliver(self, batch: Batch) -> int:
        """Send a batch; returns when the engine has stored all of it."""
        if not self._is_prepared:
            self.prepare_collection()
            self._is_prepared = True
        changes = last_changes(batch.changes).values()
        documents = [change for change in changes if isinstance(change, IndexDocument)]
        gone: list[Deletion | IndexDocument] = [one for one in changes if isinstance(one, Deletion)]
        if self.form != DOCUMENTS:
            gone += documents
        keys = iter([document_key(one.source, one.url) for one in gone])
        while some := list(islice(keys, KEYS_PER_REQUEST)):
            self.remove_documents(some)
        self.put_records(record for one in documents for record in records_of(one, self.form))
        self.finish()
        return len(documents)

    def close(self) -> None:
        """Close the connection."""
        self.client.close()

    # ---- what an engine defines

    @abstractmethod
    def prepare_collection(self) -> None:
        """Make the collection, or check that it is one of ours. Raises `WorkError`."""

    @abstractmethod
    def remove_documents(self, keys: Sequence[str]) -> None:
        """Remove all records of documents. Raises `WorkError`."""

    @abstractmethod
    def put_records(self, records: Iterable[dict[str, Json]]) -> None:
        """Add records, or replace those of the same `id`. Raises `WorkError`."""

    def finish(self) -> None:
        """Wait until what was sent is stored. Raises `WorkError`."""

    # ---- for engines

    def request(
        self, method: str, path: str, value: object = None, *, accept: Sequence[int] = ()
    ) -> tuple[int, Any]:
        """Send JSON, and return the status and the JSON of the response, None for other bodies."""
        body = b"" if value is None else _encoded(value)
        response = self.client.send(method, path, body, JSON, accept=accept)
        try:
            return response.status, json.loads(response.body)
        except ValueError:
            return response.status, None

    def send_lines(self, path: str, lines: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Post lines of JSON in bodies of limited size, and yield each body with that of its response."""
        for body in self.client.batches(lines):
            yield body, self.client.send("POST", path, body, LINES).body

    def leave_out(self, record: str, why: object) -> None:
        """Warn that the engine has refused a record."""
        logger.warning("the destination %s refuses the record %s: %s", self._name, record, why)


def line_of(value: object) -> bytes:
    """Return a value as a line of JSON."""
    return _encoded(value) + b"\n"


def _encoded(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode(errors="replace")
