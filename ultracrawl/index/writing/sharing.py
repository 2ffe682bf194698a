"""Shares one index process between all crawls that feed an index.

The process that binds the address of an index owns it; other crawls connect to it. The address is an abstract Unix
socket of Linux, which is free again as soon as its process has ended in any way. On other systems nothing is shared:
each crawl has an index process, and they take turns.
"""

from __future__ import annotations

import hashlib
import os
import socket
import struct
import sys
from contextlib import suppress

from ultracrawl import __version__

_PEER = struct.Struct("3i")


class AddressTakenError(Exception):
    """Another process owns the index."""


def _address(config: str) -> str:
    """Return the socket address of an index with this configuration, for this user and version."""
    what = "\n".join((str(os.geteuid()), __version__, config))
    return "\0ultracrawl-index-" + hashlib.sha256(what.encode()).hexdigest()


def claim_index(config: str) -> socket.socket | None:
    """Bind the address of an index and listen; None where that is not possible. Raises `AddressTakenError`."""
    if not sys.platform.startswith("linux"):
        return None
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(_address(config))
        listener.listen()
    except OSError as error:
        listener.close()
        raise AddressTakenError(config) from error
    return listener


def connect_to_owner(config: str) -> socket.socket | None:
    """Return a connection to the process that owns an index; None if there is none of the same user."""
    if not sys.platform.startswith("linux"):
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with suppress(OSError):
        connection.connect(_address(config))
        if is_same_user(connection):
            return connection
    connection.close()
    return None


def is_same_user(connection: socket.socket) -> bool:
    """Whether the peer process has the same user: any user of the machine can bind the address."""
    _, user, _ = _PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return bool(user == os.geteuid())
