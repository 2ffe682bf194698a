"""Sends requests to the servers, and turns their failures into errors of the index."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from ultracrawl.errors import IndexStoreError, MissingExtraError, UserError
from ultracrawl.index.engine import Json, unlimited

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

logger = logging.getLogger(__name__)

DEFAULT_SECONDS = 60.0
"""The options `timeout` and `retry`, if they are not given."""
BULK_BYTES = 5 << 20
"""Bytes of one bulk request; a larger document is sent alone."""
_FIRST_PAUSE = 0.5
_FIRST_SEARCH_PAUSE = 0.1
_LONGEST_PAUSE = 15.0
"""Seconds between two attempts, unless the server asks for more (`Retry-After`)."""
_LEAST_SECONDS = 0.001
"""The least time limit of a request: 0 would be none."""
_LEASE_PAUSE = 0.2
"""Seconds between two looks whether a crawl has renewed its lease."""
_CHECK_SERVER = "check that it runs, and `url` of the index"
_CHECK_CERTIFICATE = "its certificate is not trusted: name the file of its authority with `ca`"
_OLDEST = (2, 19)
"""The first version that is supported."""
_BUSY = frozenset({429, 502, 503, 504})
"""Status codes after which the same request may succeed later."""
_NEWER = 409
"""The status code of a change whose document has a higher version."""
_BLOCK = "cluster_block_exception"
"""The type of the error of an index that takes no changes, as on a full disk, or of servers without a manager."""
_MISSING = "index_not_found_exception"
"""The type of the error of an index that does not exist: nothing makes it by writing to it."""
_REPLACED = "FORBIDDEN/8/"
"""The block of an index that another one is about to replace."""

Answer = Mapping[str, Any]


class StatusError(IndexStoreError):
    """The servers answered with an error."""

    def __init__(self, message: str, status: int, kind: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        """The type of the error, as the servers call it."""

    @property
    def is_busy(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status in _BUSY


class GoneError(IndexStoreError):
    """The index, or the alias by which it was written to, does not exist any more."""


class Servers:
    """The servers of one index. Options are those of the definition; no message contains the password."""

    def __init__(
        self,
        options: Mapping[str, Json],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        given = options.get("url")
        self._urls = [str(one) for one in (given if isinstance(given, list) else [given]) if one]
        if not self._urls:
            raise UserError("the index engine opensearch needs `url`: the address of a server")
        if options.get("auth") == "aws" and find_spec("botocore") is None:
            raise MissingExtraError("`auth: aws` of the index engine opensearch", "s3")
        self._options = options
        self._clock = clock
        self._sleep = sleep
        self.version = ""
        """The version of the servers; empty until they were asked something."""
        self._not_before = float("-inf")
        """Time before which a busy server wants no requests."""
        self.name = str(options.get("name") or "ultracrawl")
        """The alias that searches and writers use."""

    @property
    def where(self) -> str:
        """The index and its first server, for messages."""
        return f"index {self.name} at {urlsplit(self._urls[0]).netloc.rpartition('@')[2]}"

    @cached_property
    def _client(self) -> OpenSearch:
        # It is slow to import, and a definition may name an index that is not used.
        from ultracrawl.index.opensearch.connections import connect  # noqa: PLC0415 - see above

        logging.getLogger("opensearch").setLevel(logging.CRITICAL)  # our errors say what failed
        return connect(self._urls, self._options, self._seconds("timeout"), self._note_busy)

    def _seconds(self, option: str) -> float:
        return float(str(self._options.get(option, DEFAULT_SECONDS)))

    def _note_busy(self, seconds: float) -> None:
        if seconds > 0:
            self._not_before = self._clock() + seconds

    def ask(self, method: str, path: str, body: object = None, **parameters: Json) -> Answer:
        """Return the answer to a request. Raises `IndexStoreError`, `StatusError` if the server answers an error.

        The parameter `until` is the time of `now` at which it is given up, instead of after the option `timeout`.
        """
        if not self.version:
            self.version = self._require_version(self._answer("GET", "/").get("version"))
        return self._answer(method, path, body, parameters)

    def now(self) -> float:
        """Return the time in seconds, by a clock that is never set back."""
        return self._clock()

    def pause(self, seconds: float) -> None:
        """Wait before the next request."""
        self._sleep(seconds)

    @property
    def patience(self) -> float:
        """Seconds for which servers that are busy or gone are asked again (the option `retry`)."""
        return self._seconds("retry")

    def ask_patiently(
        self, method: str, path: str, body: object, *, until: float, **parameters: Json
    ) -> Answer:
        """Return the answer to a request, which is sent again `until` a time of `now` while servers are busy.

        Pauses grow, or are those that a server names. Raises `IndexStoreError`, see `ask`.
        """
        pause = _FIRST_SEARCH_PAUSE
        while True:
            try:
                return self.ask(method, path, body, **parameters)
            except StatusError as error:
                if not error.is_busy:
                    raise
                wait = max(pause, self._not_before - self._clock())
                if self._clock() + wait > until:
                    raise IndexStoreError(f"{error}; try again later") from None
                self._sleep(wait)
                pause *= 2

    def _answer(
        self, method: str, path: str, body: object = None, parameters: Mapping[str, Json] | None = None
    ) -> Answer:
        from opensearchpy import exceptions  # noqa: PLC0415 - see above

        until, asked = (parameters or {}).get("until"), self._clock()
        try:
            found = self._first_answer(method, path, body, dict(parameters or {}))
        except exceptions.ConnectionTimeout:
            seconds = until - asked if isinstance(until, float) else self._seconds("timeout")
            raise IndexStoreError(f"{self.where} gives no answer within {seconds:.3g} s") from None
        except exceptions.ConnectionError as error:  # without a status
            instead = _CHECK_CERTIFICATE if isinstance(error, exceptions.SSLError) else _CHECK_SERVER
            raise IndexStoreError(f"{self.where} cannot be reached; {instead}") from None
        except exceptions.TransportError as error:
            message = f"{self.where} answers {error.status_code}: {reason_of(error.info)}"
            raise StatusError(message, int(error.status_code), _kind(error.info)) from None
        except exceptions.OpenSearchException as error:
            raise IndexStoreError(f"{self.where} cannot be used: {type(error).__name__}") from None
        return cast(Answer, found if isinstance(found, Mapping) else {})

    def _first_answer(self, method: str, path: str, body: object, parameters: dict[str, Json]) -> object:
        """Return the answer of the first server that can be reached; the client leaves out the others for a while."""
        from opensearchpy import exceptions  # noqa: PLC0415 - see above
        from urllib3 import Timeout  # noqa: PLC0415 - see above

        others = len(self._urls) - 1
        until, timeout = parameters.pop("until", None), cast(Any, None)
        while True:
            try:
                if isinstance(until, float):
                    limit = max(until - self._clock(), _LEAST_SECONDS)
                    # A number would be the limit of each of its steps: connecting, sending, reading.
                    timeout = Timeout(total=limit)
                    # The server does not wait longer either, as for a shard that is gone.
                    parameters["timeout"] = f"{limit * 1000:.0f}ms"
                return self._client.transport.perform_request(
                    method, path, params=parameters, body=body, timeout=timeout
                )
            except exceptions.ConnectionError as error:
                if isinstance(error, exceptions.ConnectionTimeout) or not others:
                    raise
                others -= 1

    def find(self, method: str, path: str, body: object = None, **parameters: Json) -> Answer | None:
        """Return the answer to a request; None if what it names does not exist."""
        try:
            return self.ask(method, path, body, **parameters)
        except StatusError as error:
            if error.status != 404:
                raise
            return None

    def close(self) -> None:
        """Close the connections."""
        if "_client" in vars(self):
            self._client.close()

    def write(
        self,
        pieces: list[bytes],
        *,
        by_alias: bool = False,
        seconds_left: Callable[[], float] = unlimited,
    ) -> None:
        """Send the pieces of bulk requests in order; `by_alias`: their index has to be an alias.

        Each answer has a status for each of its documents. What a busy server refused is sent again, after
        `Retry-After` or a pause that doubles; another refusal of a document is a warning, and holds up no other. Raises
        `IndexStoreError` if documents are refused for longer than the option `retry`, and at once if the server asks
        for a longer pause, or if the index is blocked: a full disk is not freed in a minute. `seconds_left` returns how
        long a request may last that begins now; with 0 none begins, and the error is raised if that lasts.
        """
        deadline, pause = self._clock() + self.patience, _FIRST_PAUSE
        self._wait(self._not_before - self._clock(), deadline, "it asked for a longer pause (Retry-After)")
        while pieces:
            taken, size = 0, 0
            while taken < len(pieces) and (not taken or size + len(pieces[taken]) <= BULK_BYTES):
                size += len(pieces[taken])
                taken += 1
            until = self._await_lease(seconds_left, deadline)
            refused, reason = self._write_once(pieces[:taken], until, by_alias=by_alias)
            pieces = refused + pieces[taken:]
            if refused:
                self._wait(max(pause, self._not_before - self._clock()), deadline, reason)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def change(
        self, path: str, body: Callable[[], Json], seconds_left: Callable[[], float] = unlimited
    ) -> Answer:
        """Return the answer to a request with the body that a function makes, anew for each attempt.

        It is sent again as those of `write` are, under the same conditions. Raises `IndexStoreError`.
        """
        deadline, pause = self._clock() + self.patience, _FIRST_PAUSE
        while True:
            until = self._await_lease(seconds_left, deadline)
            try:
                return self.ask("POST", path, body(), until=until)
            except StatusError as error:
                if error.kind == _BLOCK:
                    raise IndexStoreError(f"{error}{self._fullest_disk()}") from None
                if not error.is_busy:
                    raise
                self._wait(max(pause, self._not_before - self._clock()), deadline, str(error))
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _wait(self, seconds: float, deadline: float, reason: str) -> None:
        """Wait before documents are sent again. Raises `IndexStoreError` if that would be too long."""
        if seconds <= 0:
            return
        if self._clock() + seconds > deadline:
            is_replaced = _REPLACED in reason  # sentence: the code of a block of the server
            advice = "; if that was interrupted: `ultracrawl index rebuild`" if is_replaced else ""
            raise IndexStoreError(f"{self.where} does not take documents: {reason}{advice}")
        self._sleep(seconds)

    def _await_lease(self, seconds_left: Callable[[], float], deadline: float) -> float | None:
        """Return the time at which a request that begins now has to end; None if it is not limited."""
        while (left := seconds_left()) <= 0:
            if self._clock() >= deadline:
                raise IndexStoreError(
                    f"{self.where} gets no changes: their crawl has not renewed its lease of the source in time"
                )
            self._sleep(_LEASE_PAUSE)
        return None if math.isinf(left) else self._clock() + min(left, self._seconds("timeout"))

    def _write_once(
        self, pieces: list[bytes], until: float | None, *, by_alias: bool
    ) -> tuple[list[bytes], str]:
        """Return the pieces that were refused for now, and why."""
        try:
            body, alias = b"".join(pieces).decode(), str(by_alias).lower()
            answer = self.ask("POST", "/_bulk", body, require_alias=alias, until=until)
        except StatusError as error:
            if error.kind == _BLOCK:
                raise IndexStoreError(f"{error}{self._fullest_disk()}") from None
            if error.status in _BUSY:
                return pieces, str(error)
            raise
        refused, reason = [], ""
        for piece, item in zip(pieces, answer["items"], strict=True):
            (result,) = item.values()
            if result["status"] == _NEWER:
                continue  # a change of a higher version was earlier: this one is done
            if _kind(result) == _BLOCK and _REPLACED not in str(result):
                raise IndexStoreError(
                    f"{self.where} takes no changes: {reason_of(result)}{self._fullest_disk()}"
                )
            if _kind(result) == _MISSING:
                raise GoneError(f"{self.where} was removed meanwhile: {reason_of(result)}")
            if result["status"] in _BUSY or _REPLACED in str(result):
                refused.append(piece)
                reason = reason_of(result)
            elif "error" in result:
                logger.warning("%s does not take a document: %s", self.where, reason_of(result))
        return refused, reason

    def _fullest_disk(self) -> str:
        """Return which node has the least space, for messages; empty if the servers do not say."""
        with suppress(IndexStoreError, KeyError, TypeError, ValueError):
            nodes = self.ask("GET", "/_nodes/stats/fs")["nodes"].values()
            name, total = min(((one["name"], one["fs"]["total"]) for one in nodes), key=_free_share)
            free, size = total["available_in_bytes"], total["total_in_bytes"]
            return f"; the disk of its node {name} has {free / 1e9:,.1f} of {size / 1e9:,.1f} GB left"
        return ""

    def _require_version(self, found: object) -> str:
        """Return the version; raise an error for a server that is not supported."""
        given = found if isinstance(found, Mapping) else {}
        number = str(given.get("number", ""))
        version = tuple(int(part) for part in number.split(".")[:2] if part.isdecimal())
        product = str(given.get("distribution") or "Elasticsearch") if version else "a server without version"
        if product != "opensearch" or version < _OLDEST:
            needed = ".".join(map(str, _OLDEST))
            raise UserError(
                f"{self.where} is {product} {number}".rstrip()
                + f", and OpenSearch {needed} or newer is needed"
            )
        return number


def _free_share(node: tuple[str, Mapping[str, Any]]) -> float:
    _, total = node
    return float(total["available_in_bytes"] / total["total_in_bytes"])


def _kind(info: object) -> str:
    """Return the type of an error, as the server calls it; empty if there is none."""
    error = info.get("error") if isinstance(info, Mapping) else None
    return str(error.get("type", "")) if isinstance(error, Mapping) else ""


def reason_of(info: object) -> str:
    """Return why the server refused something, in one line."""
    error = info.get("error", info) if isinstance(info, Mapping) else info
    if isinstance(error, Mapping):
        causes = error.get("root_cause") or [error]
        words = (causes[0].get(name) for name in ("reason", "type", "message", "Message"))
        error = next(filter(None, words), error.get("type"))
    return " ".join(str(error).split())[:200]
