"""Redirects: which are followed, the status code of the old URL, and the display URL of the target."""

from __future__ import annotations

from ultracrawl.dataclass import dataclass
from ultracrawl.model import Decision, LinkKind, StatusCode
from ultracrawl.model.candidate import Candidate
from ultracrawl.rules.boundary.boundary import Boundary

TEMPORARY = frozenset({302, 303, 307})
OUTSIDE_MESSAGE = 30040
"""Message number of a redirect that leads outside the boundary (Ultra Search 14.2)."""


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirect as received.

    `status` is the HTTP status, or 0 for a META refresh or a Refresh header. `target` is the canonical target URL,
    empty if it is not a usable URL, None if there is none (no Location).
    `display_url` is the display URL set by an earlier temporary redirect or a rewriter, else empty.
    `hops` is the number of redirects before `source`; `depth` is the depth of `source`.
    """

    status: int
    source: str
    target: str | None
    display_url: str = ""
    hops: int = 0
    depth: int = 0

    @property
    def is_refresh(self) -> bool:
        """Whether the page, not the server, redirects."""
        return self.status == 0

    @property
    def is_temporary(self) -> bool:
        """Whether the old URL remains the URL of the document."""
        return self.status in TEMPORARY

    @property
    def kind(self) -> LinkKind:
        """The link kind of its target."""
        return LinkKind.META_REFRESH if self.is_refresh else LinkKind.REDIRECT

    def __str__(self) -> str:
        return f"{self.source} --[{self.status or 'refresh'}]--> {self.target or 'nowhere'}"


@dataclass(frozen=True, slots=True)
class RedirectDecision:
    """The decision about a redirect.

    `code` is recorded for the old URL; 200 means that the page is processed as it is (it only reloads
    itself). `display_url` is the display URL of the target's document, empty if the redirect is not followed.
    `message` is 30040 for a refused target, else 0.
    """

    decision: Decision
    code: int
    display_url: str = ""
    message: int = 0

    @property
    def accept(self) -> bool:
        """Whether the target is to be fetched."""
        return self.decision.accept


@dataclass(frozen=True, slots=True)
class RedirectPolicy:
    """The rules of Ultra Search 9.6.

    302, 303 and 307 are followed even outside the boundary; 301, 308 and META refresh only inside it.
    `strict` checks all of them. Scheme and, if set, `fwdredirects` apply to all of them.
    """

    strict: bool = False
    max_hops: int = 10

    def decide(self, redirect: Redirect, boundary: Boundary) -> RedirectDecision:
        """Decide about a redirect; robots.txt and IP address of the target are checked later, as for every URL."""
        if redirect.target is None:
            return _refused(
                "redirect without Location", "the response has no Location header", StatusCode.NO_LOCATION
            )
        if not redirect.target:
            return _refused(
                "redirect to a bad URL", "the target is not a valid URL", StatusCode.BAD_RELATIVE_URL
            )
        if redirect.target == redirect.source:
            return _loop(redirect)
        if redirect.hops >= self.max_hops:
            reason = f"more than {self.max_hops} redirects in a row"
            return _refused("too many redirects", reason, StatusCode.HTTP_FAILURE)
        return self._decide_target(redirect, redirect.target, boundary)

    def candidate(self, redirect: Redirect) -> Candidate:
        """Return the target of a redirect as a candidate for the stages of the boundary."""
        return Candidate(
            redirect.target or "",
            redirect.depth,
            redirect.kind,
            redirect.source,
            hop=redirect.is_temporary and not self.strict,
        )

    def _decide_target(self, redirect: Redirect, target: str, boundary: Boundary) -> RedirectDecision:
        code = StatusCode.META_REDIRECT if redirect.is_refresh else StatusCode.HTTP_REDIRECT
        if redirect.is_temporary and not self.strict:
            refusal = boundary.rejects_redirect(target, redirect.source)
            reason = "a temporary redirect may leave the boundary"
        else:
            refusal = boundary.rejects(target, redirect.depth, kind=redirect.kind, parent=redirect.source)
            reason = "the target is inside the boundary"
        if refusal is not None:
            return RedirectDecision(
                Decision(False, "redirect", refusal, str(redirect)), code, message=OUTSIDE_MESSAGE
            )
        shown = redirect.display_url or (redirect.source if redirect.is_temporary else target)
        return RedirectDecision(
            Decision(True, "redirect", f"redirect {_name(redirect)}", reason), code, shown
        )


def _name(redirect: Redirect) -> str:
    return "META refresh" if redirect.is_refresh else str(redirect.status)


def _refused(rule: str, reason: str, code: StatusCode) -> RedirectDecision:
    return RedirectDecision(Decision(False, "redirect", rule, reason), code)


def _loop(redirect: Redirect) -> RedirectDecision:
    if redirect.is_refresh:
        return _refused(
            "refresh of the page itself", "the page reloads itself; it is no redirect", StatusCode.OK
        )
    return _refused("redirect to itself", "the URL redirects to itself", StatusCode.HTTP_FAILURE)
