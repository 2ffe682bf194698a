"""Decides when what is told: at once what is new, what repeats itself as a number, much as one message."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ultracrawl.service.notices.notice import Notice
from ultracrawl.sources.sections.notices import NoticeKind

GATHERED = 10.0
"""Seconds for which what happens together is gathered into one message."""


@dataclass(slots=True)
class _Told:
    at: float
    repeated: Notice | None = None
    """What happened again since."""


class NoticeDigest:
    """Takes notices, and gives them back when they are to be told: the same one (kind and source) once in `every`.

    A clock that is set back delays that by `every` at the most.
    """

    def __init__(self, every: float, gathered: float = GATHERED) -> None:
        self.every = every
        self._gathered = gathered
        self._waiting: dict[tuple[NoticeKind, str], Notice] = {}
        self._since = 0.0
        self._told: dict[tuple[NoticeKind, str], _Told] = {}

    def take_notice(self, notice: Notice) -> None:
        """Take note of something that happened."""
        key = notice.kind, notice.source
        told = self._told.get(key)
        if told is not None and abs(notice.at - told.at) < self.every:
            told.repeated = _again(told.repeated, notice)
            return
        if not self._waiting:
            self._since = notice.at
        self._waiting[key] = _again(self._waiting.get(key), notice)

    def due_notices(self, now: float) -> list[Notice]:
        """Return what is to be told now, in the order in which it happened; it counts as told."""
        for key, told in list(self._told.items()):
            if abs(now - told.at) >= self.every:
                del self._told[key]
                if told.repeated is not None:
                    self._since = self._since if self._waiting else now - self._gathered
                    self._waiting[key] = _again(told.repeated, self._waiting.get(key))
        if not self._waiting or abs(now - self._since) < self._gathered:
            return []
        due = sorted(self._waiting.values(), key=lambda one: one.at)
        self._waiting.clear()
        self._told |= {(one.kind, one.source): _Told(now) for one in due}
        return due


def _again(before: Notice | None, notice: Notice | None) -> Notice:
    """Return two notices of the same as one: the words of the later, and the sum of the times."""
    if before is None or notice is None:
        found = before or notice
        assert found is not None
        return found
    return replace(notice, times=before.times + notice.times)
