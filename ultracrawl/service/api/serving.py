"""Serves the API with uvicorn in the event loop of the service, on loopback by default."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from ultracrawl.errors import UserError, WorkError
from ultracrawl.service.api.connections import BoundedConnection

_BACKLOG = 100
"""Connections that the system holds for the service, and that it accepts at once."""
_HANDSHAKE_TIMEOUT = 10.0
"""Seconds for the TLS handshake of a connection."""
_SHUTDOWN_TIMEOUT = 5
"""Seconds for requests in progress when the service ends."""


class ApiServer(uvicorn.Server):
    """A server that leaves signals to the service; `should_exit` ends it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen on the sockets, as uvicorn does, but with a time limit for TLS handshakes."""
        await self.lifespan.startup()
        assert not self.lifespan.should_exit, "the application has started"
        config, loop = self.config, asyncio.get_running_loop()

        def connect() -> asyncio.Protocol:
            return BoundedConnection(config, self.server_state, self.lifespan.state)

        limit = _HANDSHAKE_TIMEOUT if config.ssl else None
        self.servers = [
            await loop.create_server(
                connect, sock=one, ssl=config.ssl, backlog=_BACKLOG, ssl_handshake_timeout=limit
            )
            for one in sockets or ()
        ]
        self.started = True


def open_socket(host: str, port: int) -> socket.socket:
    """Return the socket of the API, already listening. Raises `UserError`, `WorkError`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol: asyncio sends the parts of an answer at once (TCP_NODELAY) only where a socket names it.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen(_BACKLOG)
    except (socket.gaierror, OverflowError) as error:
        opened.close()
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"--host {host} --port {port}: {reason}") from None
    except OSError as error:
        opened.close()
        raise WorkError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    return opened


def is_loopback(host: str) -> bool:
    """Return whether a host is a loopback address or name."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def own_hosts(opened: socket.socket, host: str) -> set[str]:
    """Return the host that a socket was bound to, as written and as an address; none for all of a machine."""
    address = str(opened.getsockname()[0])
    return set() if ipaddress.ip_address(address.partition("%")[0]).is_unspecified else {host, address}


def check_exposure(host: str, certificate: Path | None, *, behind_proxy: bool) -> None:
    """Raise `UserError` if tokens would be sent over a network without TLS."""
    if not (is_loopback(host) or certificate or behind_proxy):
        raise UserError(
            f"--host {host} is reachable from other machines, and tokens would be sent unencrypted: give --certificate "
            "and --key, or --behind-proxy if a proxy in front of it speaks TLS"
        )


def make_server(app: FastAPI, certificate: Path | None = None, key: Path | None = None) -> ApiServer:
    """Return a server for the application; `await server.serve([open_socket(…)])` runs it.

    Raises `UserError` for a certificate or a key that cannot be used.
    """
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT,
        h11_max_incomplete_event_size=64 << 10,
        ws="none",
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    try:
        config.load()
    except ssl.SSLError:
        raise UserError(
            f"--certificate {certificate} and --key {key or certificate} are not a certificate and its key in PEM"
        ) from None
    except OSError as error:
        raise UserError(f"--certificate {certificate}: {error.strerror or error}") from None
    return ApiServer(config)
