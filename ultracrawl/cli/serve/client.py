"""Client of the API of `ultracrawl serve`; the token is sent to that server only."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request

from ultracrawl.cli.mistakes import Mistake
from ultracrawl.errors import UserError, WorkError
from ultracrawl.rules.boundary.masks import LOOPBACK_NAMES
from ultracrawl.service.json_client import JsonClient, UntrustedServerError

TOKEN, TOKEN_FILE = "ULTRACRAWL_TOKEN", "ULTRACRAWL_TOKEN_FILE"
TIMEOUT = 60.0
_MAX_PROBLEM_BYTES = 1 << 20
_USER_ERROR_CODES = frozenset({400, 401, 403, 404, 421, 422})


class ServiceClient:
    """A client of `ultracrawl serve`."""

    def __init__(self, url: str, token: str) -> None:
        """Raise `UserError` for an invalid address or token, and for http beyond the local machine."""
        try:
            parts = urlsplit(url)
        except ValueError:  # `http://[`
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise Mistake.BAD_SERVER.error(url=url)
        if parts.scheme == "http" and parts.hostname not in LOOPBACK_NAMES:
            raise Mistake.SERVER_WITHOUT_TLS.error(url=url)
        if not token.isascii() or not token.isprintable():
            raise Mistake.TOKEN_NOT_TEXT.error()
        self._url = url
        self._base = url.rstrip("/") + "/api/v1"
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._server = JsonClient(parts.hostname, self._base, "service", TIMEOUT)

    def get(self, *path: str, **params: object) -> Any:
        """Return the JSON response of a GET request; parameters that are None or empty are left out."""
        query = {name.rstrip("_"): value for name, value in params.items() if value not in (None, "", (), [])}
        return self._request("GET", path, urlencode(query, doseq=True), None)

    def post(self, *path: str, body: Mapping[str, object] | None = None) -> Any:
        """Return the JSON response of a POST request."""
        return self._request("POST", path, "", json.dumps(body or {}).encode())

    def _request(self, method: str, path: tuple[str, ...], query: str, body: bytes | None) -> Any:
        url = "/".join([self._base, *(quote(part, safe="") for part in path)]) + (
            f"?{query}" if query else ""
        )
        headers = {**self._headers, "Content-Type": "application/json"}
        request = Request(url, body, headers, method=method)  # noqa: S310 - http or https, by the constructor
        try:
            return self._server.read_json(request)
        except HTTPError as error:
            with error:
                raise self._translated(error) from None
        except UntrustedServerError as error:
            raise Mistake.SERVER_UNTRUSTED.failure(problem=error) from None
        except WorkError as error:
            raise Mistake.SERVER_UNREACHABLE.failure(problem=error) from None

    def _translated(self, error: HTTPError) -> Exception:
        """Return a `UserError` or `WorkError` with the detail of an error response."""
        try:
            problem = json.loads(error.read(_MAX_PROBLEM_BYTES))
            detail = str(problem.get("detail") or problem.get("title") or error.code)
        except (OSError, HTTPException, ValueError, AttributeError):
            return Mistake.NO_SERVICE.error(url=self._url, status=error.code)
        return (UserError if error.code in _USER_ERROR_CODES else WorkError)(detail)


def token_of_environment() -> str:
    """Return the token in the environment. Raises `UserError` if there is none."""
    if token := os.environ.get(TOKEN, "").strip():
        return token
    if file := os.environ.get(TOKEN_FILE):
        try:
            return Path(file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Mistake.FILE_UNREADABLE.error(file=f"${TOKEN_FILE}: {file}", problem=error) from None
    raise Mistake.NO_TOKEN.error(variable=TOKEN, file_variable=TOKEN_FILE)
