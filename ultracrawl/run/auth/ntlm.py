"""NTLM, which authenticates a connection instead of a request: each connection is reserved for one user."""

from __future__ import annotations

import asyncio
import binascii
import logging
import os
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ultracrawl.rules.access.challenge import challenges_in
from ultracrawl.rules.access.credentials import Credential, Scheme
from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.run.transport.headers import values_of
from ultracrawl.run.transport.outgoing import CONNECTION, NEW_CONNECTION, REPEATABLE, Send, send_with

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from spnego import ContextProxy

MAX_CONNECTIONS = 4
"""Connections of one user to one site."""
_UNAUTHORISED = 401
_LEVEL = "LM_COMPAT_LEVEL"
"""Environment variable from which pyspnego, like gss-ntlmssp, reads the NTLM versions to use."""
_LEVELS = {Scheme.NTLM_V1: "2"}
"""Version 1 with the session security of version 2 if the server supports it, never LAN Manager responses."""
_VERSION_2 = "3"


def ntlm_installed() -> bool:
    """Whether the extra `ntlm` is installed."""
    return find_spec("spnego") is not None


class NtlmConnections:
    """The connections of one user to one site, at most `MAX_CONNECTIONS`."""

    def __init__(self, credential: Credential, site: str) -> None:
        self._credential = credential
        self._site = site
        self._connections: list[_NtlmConnection] = []

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request on a connection of the user; the response is 401 if the server refuses the user."""
        free = next((connection for connection in self._connections if not connection.lock.locked()), None)
        if free is None and len(self._connections) < MAX_CONNECTIONS:
            lane = f"{self._credential.name} {self._site} {len(self._connections)}"
            free = _NtlmConnection(self._credential, lane)
            self._connections.append(free)
        chosen = free or min(self._connections, key=lambda connection: connection.waiting)
        return await chosen.fetch(request, send)


class _NtlmConnection:
    """One connection, authenticated from its first handshake until either side closes it."""

    def __init__(self, credential: Credential, lane: str) -> None:
        self._credential = credential
        self._lane = lane
        self._authenticated = False
        self.lock = asyncio.Lock()
        self.waiting = 0

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request, after a handshake if needed; requests of one connection are sent one at a time."""
        self.waiting += 1
        try:
            async with self.lock:
                if self._authenticated and request.method in REPEATABLE:
                    response = await self._send_token(request, send, b"")
                    if response.status != _UNAUTHORISED:
                        return response
                return await self._handshake(request, send)
        finally:
            self.waiting -= 1

    async def _handshake(self, request: Request, send: Send) -> Response:
        from spnego.exceptions import SpnegoError  # noqa: PLC0415 - an extra

        context = _context(self._credential, host_of(request.url))
        fresh = request.method not in REPEATABLE
        response = await self._send_token(request, send, context.step() or b"", fresh=fresh)
        token = _token(response)
        if response.status == _UNAUTHORISED and token:
            try:
                answer = context.step(token) or b""
            except (SpnegoError, ValueError):  # the token of the server is invalid
                return response
            response = await self._send_token(request, send, answer)
        self._authenticated = response.status != _UNAUTHORISED
        return response

    async def _send_token(
        self, request: Request, send: Send, token: bytes, *, fresh: bool = False
    ) -> Response:
        headers = {"Authorization": f"NTLM {b64encode(token).decode()}"} if token else {}
        return await send_with(request, send, headers, {CONNECTION: self._lane, NEW_CONNECTION: fresh})


def _context(credential: Credential, host: str) -> ContextProxy:
    """Return the client context of a handshake with a host."""
    import spnego  # noqa: PLC0415 - an extra

    # At level DEBUG the library logs the messages, from which the password can be recovered.
    logging.getLogger("spnego").setLevel(logging.INFO)
    with _level(_LEVELS.get(credential.scheme, _VERSION_2)):
        return spnego.client(
            credential.user, credential.password, hostname=host, service="http", protocol="ntlm"
        )


@contextmanager
def _level(level: str) -> Iterator[None]:
    """Set the NTLM level for contexts created in the block; the library reads it only from the environment."""
    before = os.environ.get(_LEVEL)
    os.environ[_LEVEL] = level
    try:
        yield
    finally:
        if before is None:
            del os.environ[_LEVEL]
        else:
            os.environ[_LEVEL] = before


def _token(response: Response) -> bytes:
    """Return the token of the server after the first step; empty if there is none."""
    offered = challenges_in(values_of(response)("WWW-Authenticate"))
    text = next((challenge.token for challenge in offered if challenge.scheme == "ntlm"), "")
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
