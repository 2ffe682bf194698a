"""Tells systemd how the service stands, if it was started by it (`sd_notify`)."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress


def tell_systemd(state: str) -> None:
    """Send a state (`READY=1`, `STOPPING=1`, `WATCHDOG=1`, `STATUS=…`); without systemd do nothing."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        sender.setblocking(False)  # who does not listen must not hold up the service
        sender.connect("\0" + address[1:] if address.startswith("@") else address)
        sender.send(state.encode())


def tell_reloading() -> None:
    """Say that definitions are read anew; `READY=1` says that this is over."""
    tell_systemd(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")


def watchdog_seconds() -> float | None:
    """Return how often systemd wants to hear that the service lives; None if it does not."""
    for_us = os.environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    wanted = os.environ.get("WATCHDOG_USEC", "")
    return int(wanted) / 1e6 / 2 if for_us and wanted.isdigit() and int(wanted) else None
