"""The `http` destination: POST requests of JSON lines to a web server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import cast
from urllib.parse import urlsplit

from ultracrawl.errors import UserError, WorkError
from ultracrawl.index.destinations.destination import Batch, Destination
from ultracrawl.index.destinations.http_post import Poster, PostError, Response
from ultracrawl.index.destinations.json_lines import change_lines
from ultracrawl.index.engine import IndexDocument, Json
from ultracrawl.rules.access.credentials import basic_answer
from ultracrawl.rules.boundary.addresses import AddressPolicy

FIRST_RETRY_PAUSE = 1.0
"""Seconds before a failed request is sent again; doubled for each further retry."""
LONGEST_RETRY_PAUSE = 30.0
_TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Status codes after which the same request may succeed later."""


@dataclass(frozen=True, slots=True)
class PushOptions:
    """The options of an `http` destination, with secrets resolved."""

    url: str
    headers: Mapping[str, str]
    user: str
    password: str
    documents: int
    size: int
    timeout: float
    retry: float
    networks: tuple[str, ...]

    @classmethod
    def from_json(cls, options: Mapping[str, Json]) -> PushOptions:
        """Return the options from those of the definition."""
        headers = cast(dict[str, str], options.get("headers") or {})
        return cls(
            url=str(options["url"]),
            headers=headers,
            user=str(options.get("user") or ""),
            password=str(options.get("password") or ""),
            documents=cast(int, options["documents"]),
            size=cast(int, options["size"]),
            timeout=cast(float, options["timeout"]),
            retry=cast(float, options["retry"]),
            networks=tuple(map(str, cast(list[str], options.get("networks") or ()))),
        )

    def header_lines(self) -> list[str]:
        """Return the headers of every request. Raises `UserError` for an invalid value."""
        headers = {"content-type": ("Content-Type", "application/x-ndjson")}
        if self.user:
            headers["authorization"] = ("Authorization", basic_answer(self.user, self.password))
        headers |= {name.lower(): (name, value) for name, value in self.headers.items()}
        for name, value in headers.values():
            if not (value.isascii() and value.isprintable() and value.strip()):
                raise UserError(f"the value of the header {name} is not one line of plain ASCII text")
        return [f"{name}: {value}" for name, value in headers.values()]


class HttpPush(Destination):
    """Posts documents and removals in requests of limited size, one after the other.

    A 2xx status confirms a request. After a transient failure (network errors, 429, 503 and the like) the request is
    sent again, after `Retry-After` or a pause that doubles, for `retry` seconds; then, and after any other status, the
    delivery fails. Redirects are not followed. A repeated request has the same `Idempotency-Key`.
    """

    def __init__(
        self,
        name: str,
        options: Mapping[str, Json],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._options = PushOptions.from_json(options)
        self._host = urlsplit(self._options.url).hostname or ""
        self._name = name
        self._clock = clock
        self._sleep = sleep
        self._not_before = float("-inf")
        """Time before which the server wants no request (Retry-After)."""
        policy = AddressPolicy.for_source((), self._options.networks)
        try:
            lines = self._options.header_lines()
        except UserError as error:
            raise UserError(f"destination {name}: {error}") from None
        self._poster = Poster(self._options.url, lines, self._options.timeout, policy)

    def deliver(self, batch: Batch) -> int:
        """Send a batch in as many requests as it takes; returns when the server has confirmed all."""
        for body in self._bodies(change_lines(batch.changes)):
            key = sha256(batch.key.encode() + b"\n" + body).hexdigest()
            self._send(body, key)
        return sum(isinstance(change, IndexDocument) for change in batch.changes)

    def close(self) -> None:
        """Close the connection."""
        self._poster.close()

    def _bodies(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        waiting, size = list[bytes](), 0
        for line in lines:
            if waiting and (len(waiting) >= self._options.documents or size + len(line) > self._options.size):
                yield b"".join(waiting)
                waiting, size = [], 0
            waiting.append(line)
            size += len(line)
        if waiting:
            yield b"".join(waiting)

    def _send(self, body: bytes, key: str) -> None:
        """Send a request until it is confirmed. Raises `WorkError`."""
        deadline, pause = self._clock() + self._options.retry, FIRST_RETRY_PAUSE
        self._wait(
            self._not_before - self._clock(), deadline, "its Retry-After is longer than the option `retry`"
        )
        while True:
            wrong, wait = self._try(body, key)
            if not wrong:
                return
            if wait is None:
                raise self._failure(wrong)
            self._not_before = self._clock() + wait
            self._wait(max(wait, pause), deadline, wrong)
            pause = min(2 * pause, LONGEST_RETRY_PAUSE)

    def _try(self, body: bytes, key: str) -> tuple[str, float | None]:
        """Send a request once; return the error, empty for success, and the seconds to wait, None if permanent."""
        try:
            response = self._poster.post(body, key)
        except PostError as error:
            return str(error), 0.0 if error.is_transient else None
        if response.is_success:
            return "", None
        return f"answered {response.status}", _retry_delay(response)

    def _wait(self, seconds: float, deadline: float, why: str) -> None:
        if seconds <= 0:
            return
        if self._clock() + seconds > deadline:
            raise self._failure(why)
        self._sleep(seconds)

    def _failure(self, why: str) -> WorkError:
        return WorkError(f"the destination {self._name} ({self._host}): {why}")


def _retry_delay(response: Response) -> float | None:
    """Return the seconds after which the request may be sent again, None if the status is permanent."""
    return response.retry_after if response.status in _TRANSIENT_STATUSES else None
