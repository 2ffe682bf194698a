"""Ways in which disks and people damage files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def flip(path: Path) -> None:
    """Turn every bit of each 61st byte."""
    data = bytearray(path.read_bytes())
    for place in range(0, len(data), 61):
        data[place] ^= 0xFF
    path.write_bytes(data)


def cut(path: Path) -> None:
    """Cut it in the middle."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def zeros(path: Path) -> None:
    """Let it have its size and hold nothing, as some file systems leave it after a power failure."""
    path.write_bytes(bytes(path.stat().st_size))


def garbage(path: Path) -> None:
    """Put something else in its place."""
    path.write_bytes(b"\x00garbage\xff" * 20)


def nul(path: Path) -> None:
    """Put some NULs in its place."""
    path.write_bytes(bytes(16))


def empty(path: Path) -> None:
    """Leave nothing but its name."""
    path.write_bytes(b"")


DAMAGES: dict[str, Callable[[Path], None]] = {
    "flip": flip,
    "cut": cut,
    "zeros": zeros,
    "garbage": garbage,
    "nul": nul,
    "empty": empty,
    "delete": Path.unlink,
}
