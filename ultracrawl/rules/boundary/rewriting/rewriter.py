"""The URL rewriter: a user class that may change or drop every link before it is queued (Ultra Search 10)."""

from __future__ import annotations

from enum import StrEnum
from logging import Logger

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import WorkError
from ultracrawl.model import Decision
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY, UrlPolicy


class UrlRewriteError(WorkError):
    """Raised by a rewriter that cannot handle a link: this link is dropped, the crawl goes on."""


class Candidate:
    """A link that a rewriter may change before it is queued.

    Before the call the display URL is the link itself, the access URL is None, and `discard` is False.
    """

    __slots__ = ("_url", "access_url", "discard", "display_url")

    def __init__(self, candidate_url: str) -> None:
        self._url = candidate_url
        self.display_url = candidate_url
        self.access_url: str | None = None
        self.discard = False

    @property
    def candidate_url(self) -> str:
        """The link, absolute and canonical; it does not change."""
        return self._url


class UrlRewriter:
    """Base class of rewriters; override what you need. This one changes nothing."""

    def open(self, log: Logger) -> None:
        """Prepare; called once before the first link. An exception here ends the crawl of the source."""

    def rewrite(self, candidate: Candidate) -> bool:
        """Look at one link; return True if its URLs were changed, False to keep the link as it is.

        Setting `candidate.discard` drops the link whatever is returned. An exception drops this link only.
        """
        return candidate.discard

    def close(self) -> None:
        """Release resources; called once after the last link."""


class RewriteOutcome(StrEnum):
    """The effect of a rewriter on a link."""

    KEPT = "kept"
    REWRITTEN = "rewritten"
    DROPPED = "dropped"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class RewriteResult:
    """The canonical URLs to queue, or why there are none; both are empty if nothing is queued.

    The access URL still has to pass the boundary.
    """

    outcome: RewriteOutcome
    display_url: str = ""
    access_url: str = ""
    reason: str = ""

    @property
    def decision(self) -> Decision:
        """The result as a decision of the stage `rewrite`."""
        accept = self.outcome in (RewriteOutcome.KEPT, RewriteOutcome.REWRITTEN)
        return Decision(accept, "rewrite", f"url rewriter {self.outcome}", self.reason or self.access_url)


def apply_rewriter(rewriter: UrlRewriter, url: str, policy: UrlPolicy = DEFAULT_POLICY) -> RewriteResult:
    """Apply a rewriter to a canonical URL; an exception that it raises becomes a result."""
    candidate = Candidate(url)
    try:
        changed = rewriter.rewrite(candidate)
    except Exception as error:  # the rewriter is the user's code: its failure costs one link, not the crawl
        return RewriteResult(RewriteOutcome.ERROR, reason=f"{type(error).__name__}: {error}")
    if candidate.discard:
        return RewriteResult(RewriteOutcome.DROPPED, reason="the rewriter discarded the link")
    if not changed:
        return RewriteResult(RewriteOutcome.KEPT, url, url)
    return _rewritten(candidate, policy)


def _rewritten(candidate: Candidate, policy: UrlPolicy) -> RewriteResult:
    display = _canonical(candidate.display_url, policy)
    if display is None:
        return _bad("display URL", candidate.display_url)
    if candidate.access_url is None:
        return RewriteResult(RewriteOutcome.REWRITTEN, display, display)
    access = _canonical(candidate.access_url, policy)
    if access is None:
        return _bad("access URL", candidate.access_url)
    return RewriteResult(RewriteOutcome.REWRITTEN, display, access)


def _canonical(url: object, policy: UrlPolicy) -> str | None:
    return policy.canonical(url) if isinstance(url, str) else None


def _bad(name: str, value: object) -> RewriteResult:
    return RewriteResult(RewriteOutcome.ERROR, reason=f"the {name} {value!r} is not an absolute URL")
