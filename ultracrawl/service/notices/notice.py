"""What needs a person, in one line."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ultracrawl.model.dates import as_text
from ultracrawl.sources.sections.notices import NoticeKind


@dataclass(frozen=True, slots=True)
class Notice:  # word: what a person is told; it is no mistake in a definition
    """Something that needs a person, in one line; `source` is empty for the machine or the service."""

    kind: NoticeKind
    source: str
    text: str
    at: float
    times: int = 1
    """How often it happened since it was told last."""

    def as_json(self) -> dict[str, Any]:
        """Return it as webhooks get it."""
        return {**asdict(self), "kind": self.kind.value, "at": as_text(self.at)}

    def __str__(self) -> str:
        again = f" ({self.times} times)" if self.times > 1 else ""
        return f"{self.source or 'ultracrawl'}: {self.text}{again}"
