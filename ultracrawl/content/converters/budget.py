"""What one conversion may use, shared by a document and everything inside it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from ultracrawl.content.converters.errors import LimitReachedError


class ConversionLimits(NamedTuple):
    """Bounds of one conversion that its converter keeps by itself; process limits hold besides."""

    text: int = 5_000_000
    """Most characters of text."""
    unpacked: int = 200 << 20
    """Most bytes that are unfolded from the document and everything inside it."""
    members: int = 1000
    """Most files that are read inside a document."""
    nesting: int = 3
    """Most documents inside each other."""
    seconds: float = 50.0
    """Time after which a converter ends at the next page or member, with what it has."""


class Budget:
    """Counts what a conversion uses; every method raises `LimitReachedError` when a limit is reached."""

    def __init__(self, limits: ConversionLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._clock = clock
        self._end = clock() + limits.seconds
        self._text = limits.text
        self._unpacked = limits.unpacked
        self._members = limits.members

    def check_time(self, progress: str = "") -> None:
        """End the conversion when its time is over; `progress` says how far it came ("12 of 90 pages")."""
        if self._clock() > self._end:
            what = f"only {progress} were read" if progress else "the document was not read to its end"
            raise LimitReachedError(f"{what} (conversion.timeout)")

    def take_text(self, characters: int) -> int:
        """Return how many of so many characters may be kept."""
        granted = min(characters, self._text)
        self._text -= granted
        return granted

    @property
    def unpacked_left(self) -> int:
        """Bytes that may still be unfolded."""
        return self._unpacked

    def take_unpacked(self, size: int) -> None:
        """Account for bytes that were unfolded."""
        self._unpacked -= size
        if self._unpacked < 0:
            limit = self.limits.unpacked
            raise LimitReachedError(f"it unfolds to more than {limit} bytes (conversion.unpacked)")

    def take_member(self) -> None:
        """Account for a file inside the document that is read."""
        self._members -= 1
        if self._members < 0:
            limit = self.limits.members
            raise LimitReachedError(f"only the first {limit} files in it were read (conversion.members)")
        self.check_time()
