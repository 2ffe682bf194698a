"""The clock on the wall, where the supervisor looks for it."""

from __future__ import annotations

from ultracrawl.service.wall import WallClock

__all__ = ["WallClock"]
