"""Asks the API of a service: one request at a time, with a token that goes there and nowhere else."""

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

from ultracrawl.errors import UserError, WorkError
from ultracrawl.rules.boundary.masks import LOOPBACK_NAMES
from ultracrawl.service.json_server import JsonServer

TOKEN, TOKEN_FILE = "ULTRACRAWL_TOKEN", "ULTRACRAWL_TOKEN_FILE"
TIMEOUT = 60.0
_LARGEST_PROBLEM = 1 << 20
_MISTAKES = frozenset({400, 401, 403, 404, 421, 422})


class ServiceClient:
    """Speaks with `ultracrawl serve`."""

    def __init__(self, url: str, token: str) -> None:
        """Raise `UserError` for what is no address of a service, or would show the token to a network."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise UserError(f"--server {url}: write the address of a service, as https://crawls.example.com")
        if parts.scheme == "http" and parts.hostname not in LOOPBACK_NAMES:
            raise UserError(f"--server {url}: the token would go over the network in clear; use https")
        if not token.isascii() or not token.isprintable():
            raise UserError("the token is not one line of plain text")
        self._base = url.rstrip("/") + "/api/v1"
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._server = JsonServer(parts.hostname, self._base, "service", TIMEOUT)

    def get(self, *path: str, **params: object) -> Any:
        """Return what is answered to a question; parameters that are None or empty are left out."""
        given = {name.rstrip("_"): value for name, value in params.items() if value not in (None, "", (), [])}
        return self._ask("GET", path, urlencode(given, doseq=True), None)

    def post(self, *path: str, body: Mapping[str, object] | None = None) -> Any:
        """Give an order and return what is answered."""
        return self._ask("POST", path, "", json.dumps(body or {}).encode())

    def _ask(self, method: str, path: tuple[str, ...], query: str, body: bytes | None) -> Any:
        url = "/".join([self._base, *(quote(part, safe="") for part in path)]) + (
            f"?{query}" if query else ""
        )
        headers = {**self._headers, "Content-Type": "application/json"}
        request = Request(url, body, headers, method=method)  # noqa: S310 - http or https, by the constructor
        try:
            return self._server.read_answer(request)
        except HTTPError as error:
            with error:
                raise _refusal(error) from None


def _refusal(error: HTTPError) -> Exception:
    """Return what a service said instead of an answer."""
    try:
        problem = json.loads(error.read(_LARGEST_PROBLEM))
        told = str(problem.get("detail") or problem.get("title") or error.code)
    except (OSError, HTTPException, ValueError, AttributeError):
        told = f"the server answered {error.code}"
    return (UserError if error.code in _MISTAKES else WorkError)(told)


def token_of_environment() -> str:
    """Return the token of who asks. Raises `UserError` if there is none."""
    if token := os.environ.get(TOKEN, "").strip():
        return token
    if file := os.environ.get(TOKEN_FILE):
        try:
            return Path(file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{TOKEN_FILE}: {file} cannot be read: {error}") from None
    raise UserError(f"--server needs a token in ${TOKEN}, or in a file that ${TOKEN_FILE} names")
