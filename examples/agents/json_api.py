"""Asks a JSON interface over HTTP, for the agents beside this file: waits where it is busy, fails where it is wrong."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from ultracrawl.agents import AgentError

BUSY = frozenset({429, 502, 503, 504})
LONGEST = 60.0
"""Seconds that a pause takes at most, whatever the server asks for."""


class JsonApi:
    """An interface below a URL."""

    def __init__(self, url: str, headers: Mapping[str, str], *, attempts: int = 4) -> None:
        self._url = url.rstrip("/")
        self._headers = headers
        self._attempts = attempts

    def ask(self, path: str = "", **query: object) -> Any:
        """Return the answer to a GET request. Raises `AgentError` if there is none, or no JSON."""
        where = f"{self._url}/{path}" if path else self._url
        request = Request(f"{where}?{urlencode(query)}", headers=dict(self._headers))  # noqa: S310 - as told
        for left in reversed(range(self._attempts)):
            try:
                with urlopen(request, timeout=30) as answer:  # noqa: S310
                    return json.load(answer)
            except HTTPError as error:
                with error:
                    if error.code not in BUSY or not left:
                        raise AgentError(f"{where} answers {error.code}: {error.reason}") from error
                    time.sleep(_pause(error.headers.get("Retry-After")))
            except (URLError, OSError, ValueError) as error:
                raise AgentError(f"{where} cannot be read: {error}") from error
        raise AgentError(f"{where} was not asked")


def _pause(asked: str | None) -> float:
    return min(float(asked), LONGEST) if asked and asked.isdigit() else 1.0
