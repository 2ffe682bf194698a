"""Notifies systemd of the state of the service (`sd_notify`)."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress


def notify_systemd(state: str) -> None:
    """Send a state (`READY=1`, `STOPPING=1`, `WATCHDOG=1`, `STATUS=…`); does nothing without systemd."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        sender.setblocking(False)  # a full socket must not block the service
        sender.connect("\0" + address[1:] if address.startswith("@") else address)
        sender.send(state.encode())


def notify_reloading() -> None:
    """Announce a reload of the definitions; `READY=1` announces its end."""
    notify_systemd(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")


def watchdog_seconds() -> float | None:
    """Return the interval for `WATCHDOG=1` messages, half the timeout of systemd; None if it wants none."""
    for_us = os.environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    wanted = os.environ.get("WATCHDOG_USEC", "")
    return int(wanted) / 1e6 / 2 if for_us and wanted.isdigit() and int(wanted) else None
