"""Signing in to a server of shares: what is asked for before anything is sent."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from ultracrawl.agents.file.remote.locations import parse_location
from ultracrawl.agents.file.remote.port import RemoteAccess
from ultracrawl.agents.file.remote.section import ConnectionSection
from ultracrawl.agents.file.remote.smb.session import SmbSession
from ultracrawl.errors import UserError, WorkError
from ultracrawl.sources.secrets import SecretReader


def access_to(port: int, **options: Any) -> RemoteAccess:
    known = {"password": "${FILES_PASSWORD}", "user": "reader", "timeout": 2, **options}
    section = ConnectionSection(**{name: one for name, one in known.items() if one is not None})
    location = parse_location(f"smb://127.0.0.1:{port}/files")
    return RemoteAccess(location, section, "c", SecretReader({"FILES_PASSWORD": "long-words-7"}), Path("/"))


@pytest.mark.parametrize("missing", ["user", "password"])
def test_no_guest_signs_in(missing: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with pytest.raises(UserError):
            SmbSession.open(access_to(server.getsockname()[1], **{missing: None}))
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0\0\x40" + bytes(64)])
def test_another_server_is_no_server_of_shares(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with pytest.raises(WorkError):
            SmbSession.open(access_to(server.getsockname()[1]))
        thread.join(20)
