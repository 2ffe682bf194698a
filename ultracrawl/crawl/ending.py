"""How a visit ends, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from ultracrawl.model import NO_CAUSE, Cause, UrlOutcome


@dataclass(frozen=True, slots=True)
class Ending:
    """The one outcome of a visit: made by whoever decides it, carried out and recorded by the `Recorder`."""

    outcome: UrlOutcome
    status: int = 0
    """The status code to be recorded, HTTP's or one of ours; 0 is that of the answer."""
    cause: Cause = NO_CAUSE
    """Why it ended so, where more than the code is known."""
    asked: bool = True
    """Whether a request was made for it; not where robots.txt or a filter forbade that."""
    filtered: bool = False
    """Whether the filters of the source deny its URL."""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.outcome.value, str(self.status or ""), str(self.cause))))
