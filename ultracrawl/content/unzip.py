"""Bounded decompression of gzip data that arrives as a document (sitemaps)."""

from __future__ import annotations

import zlib

MAX_UNZIPPED = 50 * 1024 * 1024
"""Bytes a compressed document may unfold to; the sitemap protocol's own limit."""

_GZIP = zlib.MAX_WBITS | 16
_MAX_MEMBERS = 1000


def is_gzip(data: bytes) -> bool:
    """Return whether `data` begins like a gzip stream."""
    return data.startswith(b"\x1f\x8b")


def unzip(data: bytes, limit: int = MAX_UNZIPPED) -> tuple[bytes, bool]:
    """Return the unfolded data, at most `limit` bytes, and whether anything was cut off or broken.

    What could be unfolded before an error is kept.
    """
    pieces: list[bytes] = []
    left = limit
    for _ in range(_MAX_MEMBERS):
        stream = zlib.decompressobj(_GZIP)
        try:
            piece = stream.decompress(data, left)
        except zlib.error:
            return b"".join(pieces), True
        pieces.append(piece)
        left -= len(piece)
        if not stream.eof or left <= 0:
            return b"".join(pieces), True
        data = stream.unused_data
        if not is_gzip(data):
            break
    return b"".join(pieces), False
