"""The value type of notices."""

from __future__ import annotations

from typing import Any

from ultracrawl.dataclass import asdict, dataclass
from ultracrawl.model.dates import as_text
from ultracrawl.sources.sections.notices import NoticeKind


@dataclass(frozen=True, slots=True)
class Notice:  # word: what a person is told; it is no mistake in a definition
    """A one-line message about something that needs a person; `source` is empty for the machine or the service."""

    kind: NoticeKind
    source: str
    text: str
    at: float
    times: int = 1
    """Number of occurrences since it was sent last."""

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object that webhooks get."""
        return {**asdict(self), "kind": self.kind.value, "at": as_text(self.at)}

    def __str__(self) -> str:
        again = f" ({self.times} times)" if self.times > 1 else ""
        return f"{self.source or 'ultracrawl'}: {self.text}{again}"
