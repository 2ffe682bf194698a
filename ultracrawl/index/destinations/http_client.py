"""Requests to the server of a destination, repeated after failures that may pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import cast
from urllib.parse import urlsplit

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import UserError, WorkError
from ultracrawl.index.destinations.http_post import Poster, PostError, Response
from ultracrawl.index.engine import Json
from ultracrawl.rules.access.credentials import basic_answer
from ultracrawl.rules.boundary.addresses import AddressPolicy

FIRST_RETRY_PAUSE = 1.0
"""Seconds before a failed request is sent again; doubled for each further retry."""
LONGEST_RETRY_PAUSE = 30.0
FIRST_POLL_PAUSE = 0.05
"""Seconds before the server is asked for the first time what became of a request that it works on."""
TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Status codes after which the same request may succeed later."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The options of a destination that is a web server, with secrets resolved."""

    url: str
    headers: Mapping[str, str]
    user: str
    password: str
    documents: int
    size: int
    timeout: float
    retry: float
    networks: tuple[str, ...]
    key: str = field(default="", repr=False)
    collection: str = ""
    records: str = "documents"

    @classmethod
    def from_json(cls, options: Mapping[str, Json]) -> ServerOptions:
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
            key=str(options.get("key") or ""),
            collection=str(options.get("collection") or ""),
            records=str(options.get("records") or "documents"),
        )

    def header_lines(self, further: Mapping[str, str]) -> list[str]:
        """Return the headers of every request. Raises `UserError` for an invalid value."""
        headers = {name.lower(): (name, value) for name, value in further.items()}
        if self.user:
            headers["authorization"] = ("Authorization", basic_answer(self.user, self.password))
        headers |= {name.lower(): (name, value) for name, value in self.headers.items()}
        for name, value in headers.values():
            if not (value.isascii() and value.isprintable() and value.strip()):
                raise UserError(f"the value of the header {name} is not one line of plain ASCII text")
        return [f"{name}: {value}" for name, value in headers.values()]


class HttpClient:
    """Sends requests to one server, one after the other.

    After a transient failure (network errors, 429, 503 and the like) a request is sent again, after `Retry-After` or a
    pause that doubles, for `retry` seconds; then, and after any other status, the delivery fails. Redirects are not
    followed.
    """

    def __init__(
        self,
        name: str,
        options: ServerOptions,
        headers: Mapping[str, str],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Initialise; `headers` are sent with every request. Raises `UserError` for an invalid one."""
        self._options = options
        self._host = urlsplit(options.url).hostname or ""
        self._name = name
        self._clock = clock
        self._sleep = sleep
        self._not_before = float("-inf")
        """Time before which the server wants no request (Retry-After)."""
        policy = AddressPolicy.for_source((), options.networks)
        try:
            lines = options.header_lines(headers)
        except UserError as error:
            raise UserError(f"destination {name}: {error}") from None
        self._poster = Poster(options.url, lines, options.timeout, policy)

    def send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Iterable[str] = (),
        *,
        accept: Collection[int] = (),
    ) -> Response:
        """Send a request until its response has a status 2xx or one of `accept`. Raises `WorkError`."""
        deadline, pause = self._clock() + self._options.retry, FIRST_RETRY_PAUSE
        self._wait(
            self._not_before - self._clock(), deadline, "its Retry-After is longer than the option `retry`"
        )
        while True:
            response, wrong, wait = self._try(method, path, body, headers, accept)
            if response is not None:
                return response
            if wait is None:
                raise self.failure(wrong)
            self._not_before = self._clock() + wait
            self._wait(max(wait, pause), deadline, wrong)
            pause = min(2 * pause, LONGEST_RETRY_PAUSE)

    def pauses(self, why: str) -> Iterator[None]:
        """Yield after growing pauses, to ask the server again. Raises `WorkError` with `why` after `retry` seconds."""
        deadline, pause = self._clock() + self._options.retry, FIRST_POLL_PAUSE
        while True:
            self._wait(pause, deadline, why)
            yield
            pause = min(2 * pause, FIRST_RETRY_PAUSE)

    def failure(self, why: str) -> WorkError:
        """Return the error of a delivery, which names the server."""
        return WorkError(f"the destination {self._name} ({self._host}): {why}")

    def close(self) -> None:
        """Close the connection."""
        self._poster.close()

    def batches(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield lines in bodies of limited size; a longer line is alone."""
        waiting, size = list[bytes](), 0
        for line in lines:
            if waiting and (len(waiting) >= self._options.documents or size + len(line) > self._options.size):
                yield b"".join(waiting)
                waiting, size = [], 0
            waiting.append(line)
            size += len(line)
        if waiting:
            yield b"".join(waiting)

    def _try(
        self, method: str, path: str, body: bytes, headers: Iterable[str], accept: Collection[int]
    ) -> tuple[Response | None, str, float | None]:
        """Send a request once; return the response or the error, and the seconds to wait, None if permanent."""
        try:
            response = self._poster.send(method, path, body, headers)
        except PostError as error:
            return None, str(error), 0.0 if error.is_transient else None
        if response.is_success or response.status in accept:
            return response, "", None
        wait = response.retry_after if response.status in TRANSIENT_STATUSES else None
        return None, f"answered {response.status}", wait

    def _wait(self, seconds: float, deadline: float, why: str) -> None:
        if seconds <= 0:
            return
        if self._clock() + seconds > deadline:
            raise self.failure(why)
        self._sleep(seconds)
