"""Rate-limits notices: new ones are sent soon, repeated ones are counted, simultaneous ones are combined."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ultracrawl.service.notices.notice import Notice
from ultracrawl.sources.sections.notices import NoticeKind

GATHER_SECONDS = 10.0
"""Seconds for which notices are gathered into one message."""


@dataclass(slots=True)
class _Sent:
    at: float
    repeated: Notice | None = None
    """The repetitions since then, combined."""


class NoticeDigest:
    """Collects notices and returns those that are due: the same kind and source at most once in `every` seconds.

    A clock that is set back delays notices by at most `every` seconds.
    """

    def __init__(self, every: float, gather_seconds: float = GATHER_SECONDS) -> None:
        self.every = every
        self._gather_seconds = gather_seconds
        self._waiting: dict[tuple[NoticeKind, str], Notice] = {}
        self._since = 0.0
        self._sent: dict[tuple[NoticeKind, str], _Sent] = {}

    def add_notice(self, notice: Notice) -> None:
        """Add a notice."""
        key = notice.kind, notice.source
        sent = self._sent.get(key)
        if sent is not None and abs(notice.at - sent.at) < self.every:
            sent.repeated = _combined(sent.repeated, notice)
            return
        if not self._waiting:
            self._since = notice.at
        self._waiting[key] = _combined(self._waiting.get(key), notice)

    def due_notices(self, now: float) -> list[Notice]:
        """Return the notices to send now, in the order of their times; they count as sent."""
        for key, sent in list(self._sent.items()):
            if abs(now - sent.at) >= self.every:
                del self._sent[key]
                if sent.repeated is not None:
                    self._since = self._since if self._waiting else now - self._gather_seconds
                    self._waiting[key] = _combined(sent.repeated, self._waiting.get(key))
        if not self._waiting or abs(now - self._since) < self._gather_seconds:
            return []
        due = sorted(self._waiting.values(), key=lambda notice: notice.at)
        self._waiting.clear()
        self._sent |= {(notice.kind, notice.source): _Sent(now) for notice in due}
        return due


def _combined(before: Notice | None, notice: Notice | None) -> Notice:
    """Return two notices of the same kind and source as one: the later text, and the sum of the counts."""
    if before is None or notice is None:
        single = before or notice
        assert single is not None
        return single
    return replace(notice, times=before.times + notice.times)
