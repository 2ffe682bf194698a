"""The connections of the client, which tell when a busy server wants to be asked again."""

from __future__ import annotations

import time
from typing import Any

from opensearchpy import TransportError, Urllib3HttpConnection

from ultracrawl.rules.frontier.politeness.retry_after import retry_after

_LONGEST_WAIT = 3600.0


class Connection(Urllib3HttpConnection):
    """A connection whose errors have an attribute `retry_after`: the seconds of that header, 0 without it."""

    _wait = 0.0

    def perform_request(self, *words: Any, **options: Any) -> Any:
        """See the client. Raises `TransportError`."""
        self._wait = 0.0
        try:
            return super().perform_request(*words, **options)
        except TransportError as error:
            error.retry_after = self._wait  # type: ignore[attr-defined]  # this is where it gets it
            raise

    def get_response_headers(self, response: Any) -> dict[str, str]:
        """See the client, which asks for the headers of answers with an error."""
        headers: dict[str, str] = super().get_response_headers(response)
        self._wait = retry_after(headers.get("retry-after", ""), time.time(), _LONGEST_WAIT)
        return headers
