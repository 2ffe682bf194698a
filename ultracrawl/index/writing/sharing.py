"""One index process for all crawls that feed an index: who has its address owns the index, the others join it.

The address is a name in the kernel (an abstract socket of Linux), which is free again as soon as the process that has
it is gone, however it went. Elsewhere nothing is shared: each crawl has an index process, and they take turns.
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
    """Return the address for an index with this configuration, of this user and this version."""
    what = "\n".join((str(os.geteuid()), __version__, config))
    return "\0ultracrawl-index-" + hashlib.sha256(what.encode()).hexdigest()


def claim_index(config: str) -> socket.socket | None:
    """Take the address of an index, and listen there. Raises `AddressTakenError`; None where nothing can be shared."""
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
    """Return a connection to the process that owns an index, None if none does that is ours."""
    if not sys.platform.startswith("linux"):
        return None
    joined = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with suppress(OSError):
        joined.connect(_address(config))
        if is_same_user(joined):
            return joined
    joined.close()
    return None


def is_same_user(joined: socket.socket) -> bool:
    """Whether the process at the other end is of this user: the address is open to all of the machine."""
    _, user, _ = _PEER.unpack(joined.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return bool(user == os.geteuid())
