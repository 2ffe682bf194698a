"""The decision with which a visit ends."""

from __future__ import annotations

from ultracrawl.dataclass import dataclass
from ultracrawl.model import NO_CAUSE, Cause, CauseCode, StatusCode, UrlOutcome


@dataclass(frozen=True, slots=True)
class Ending:
    """Outcome, status code and cause of a visit, for `Recorder.end_visit`."""

    outcome: UrlOutcome
    status: int = 0
    """Status code to record: of HTTP or from 900 on; 0 takes that of the response."""
    cause: Cause = NO_CAUSE
    """Reason, where there is more to say than the status code does."""
    requested: bool = True
    """Whether a request was sent; False if robots.txt or a filter forbade it."""
    filtered: bool = False
    """Whether the filters of the source deny the URL."""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.outcome.value, str(self.status or ""), str(self.cause))))


NOT_LET_IN = Ending(UrlOutcome.HTTP_ERROR, StatusCode.LOGIN_FAILED, Cause(CauseCode.LOGIN_FAILED))
"""The ending of a page that was read without its log-in: the document that the log-in had shown stays."""
