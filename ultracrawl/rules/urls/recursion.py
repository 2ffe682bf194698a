"""Repeated path segments, a sign of a site that generates links to itself without end."""

from __future__ import annotations

from itertools import islice
from operator import eq


def repeats(path: str, limit: int) -> bool:
    """Return whether a sequence of path segments is followed by `limit` or more direct copies of itself.

    A query in `path` is ignored. A sequence is one or more whole segments: `/widget/widget`
    has one copy of a sequence of one, `/a/b/a/b/a/b` two copies of a sequence of two. A limit of 0 disables the
    check (FAST 5.1 B9).
    """
    if limit <= 0 or path.count("/") <= limit:
        return False
    segments = path.partition("?")[0].strip("/").split("/")
    count = len(segments)
    if count <= limit or len(set(segments)) == count:
        return False
    return any(_repeats_with_period(segments, period, limit) for period in range(1, count // (limit + 1) + 1))


def _repeats_with_period(segments: list[str], period: int, limit: int) -> bool:
    same = bytes(map(eq, segments, islice(segments, period, None)))
    return b"\x01" * (period * limit) in same
