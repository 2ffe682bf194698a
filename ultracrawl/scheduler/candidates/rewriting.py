"""Applies the rewriter of a source to every link of a page."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from ultracrawl.rules.boundary import UrlRewriter
from ultracrawl.rules.boundary.rewriting.rewriter import RewriteOutcome, apply_rewriter
from ultracrawl.rules.urls.canonical import UrlPolicy

logger = logging.getLogger(__name__)

MAX_REMEMBERED = 50_000
"""Limit of refused links that are remembered, so that each is counted and logged once; then the memory is cleared."""

REFUSED = "link refused by the rewriter"


class LinkRewriting:
    """Returns the access URL of each link, and collects display URLs that differ in `shown` (Ultra Search 10).

    `shown` maps access URLs to display URLs, since it was last cleared.
    """

    def __init__(
        self,
        policy: UrlPolicy,
        rewriter: UrlRewriter,
        count_excluded: Callable[[str], None],
        excluded: Sequence[Callable[[str, str, str, str], None]] = (),
    ) -> None:
        self._canonical = policy.canonical
        self._form = policy.without_rewriting
        self._rewriter = rewriter
        self._count_excluded = count_excluded
        self._excluded = excluded
        self._refused: set[str] = set()
        self.shown: dict[str, str] = {}

    def canonical(self, href: str, base: str) -> str | None:
        """Return the URL to fetch for a link as written, or None if it has none or the rewriter dropped it."""
        url = self._canonical(href, base)
        if url is None:
            return None
        result = apply_rewriter(self._rewriter, url, self._form)
        if result.outcome is RewriteOutcome.KEPT:
            return url
        if result.outcome is not RewriteOutcome.REWRITTEN:
            self._refuse(url, result.decision.rule, result.reason, base)
            return None
        if result.display_url != result.access_url:
            self.shown.setdefault(result.access_url, result.display_url)
        return result.access_url

    def _refuse(self, url: str, rule: str, reason: str, base: str) -> None:
        if url in self._refused:
            return
        if len(self._refused) >= MAX_REMEMBERED:
            self._refused.clear()
        self._refused.add(url)
        self._count_excluded(rule)
        for on_excluded in self._excluded:
            on_excluded(url, rule, base, REFUSED)
        level = logging.WARNING if rule.endswith(RewriteOutcome.ERROR) else logging.INFO
        logger.log(level, "%s: %s: %s", rule, url, reason)
