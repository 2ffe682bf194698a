"""Resolves links as written to URLs: canonical form, rewrite rules, and the rewriter of the source."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from ultracrawl.rules.boundary import UrlRewriter
from ultracrawl.rules.boundary.rewriting.rewriter import RewriteOutcome, apply_rewriter
from ultracrawl.rules.urls.canonical import UrlPolicy, UrlRule
from ultracrawl.rules.urls.joined import JoinedLinks

logger = logging.getLogger(__name__)

Excluded = Callable[[str, str, str, str], None]
"""Called for a link that is excluded, with URL, rule, page, and number and text of the message."""

MAX_REMEMBERED = 50_000
"""Limit of refused links that are remembered, so that each is counted and logged once; then the memory is cleared."""
MAX_UNUSABLE = 20_000
"""Links without a URL that are remembered, so that each is counted once."""

REFUSED = "link refused by the rewriter"
TOO_LONG = "30054 excessively long URL"
MALFORMED = "30030 malformed URL"


class LinkRewriting:
    """Returns the access URL of each link, and collects display URLs that differ in `shown` (Ultra Search 10).

    `shown` maps access URLs to display URLs, since it was last cleared.
    """

    def __init__(
        self,
        policy: UrlPolicy,
        rewriter: UrlRewriter,
        count_excluded: Callable[[str], None],
        excluded: Sequence[Excluded] = (),
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


class LinkUrls:
    """Resolves links to URLs; a link without a URL is counted once, under the rule that it breaks."""

    def __init__(
        self,
        policy: UrlPolicy,
        count_excluded: Callable[[str], None],
        rewriter: UrlRewriter | None = None,
        excluded: Sequence[Excluded] = (),
    ) -> None:
        self._policy = policy
        self._count_excluded = count_excluded
        self._excluded = excluded
        self._rewriting = LinkRewriting(policy, rewriter, count_excluded, excluded) if rewriter else None
        self._joined = JoinedLinks(policy)
        self._unusable: set[int] = set()
        """Hashes of links without a URL: some contain whole images (`data:`)."""
        self.shown: Mapping[str, str] = self._rewriting.shown if self._rewriting else {}
        """The display URLs that differ, by access URL, of the links of the latest call of `resolve`."""

    def resolve(self, hrefs: Iterable[str], base: str) -> dict[str, str]:
        """Return the URL of each link that has one, by link as written."""
        if self._rewriting:
            self._rewriting.shown.clear()
            rewritten = self._rewriting.canonical
            url_by_href = {href: rewritten(href, base) for href in dict.fromkeys(hrefs)}
        else:
            url_by_href = self._joined.joined(hrefs, base)
        if None not in url_by_href.values():
            return cast("dict[str, str]", url_by_href)
        for href in [
            href for href, url in url_by_href.items() if url is None and hash(href) not in self._unusable
        ]:
            self._count_unusable(href, base)
        return {href: url for href, url in url_by_href.items() if url is not None}

    def _count_unusable(self, href: str, base: str) -> None:
        """Count and report a link without a URL, except those of other schemes (`mailto:`)."""
        if len(self._unusable) >= MAX_UNUSABLE:
            self._unusable.clear()
        self._unusable.add(hash(href))
        decision = self._policy.canonicalise(href, base).decision
        if decision.accept or decision.rule == UrlRule.SCHEME:
            return
        self._count_excluded(decision.rule)
        message = TOO_LONG if decision.rule == UrlRule.LENGTH else MALFORMED
        for on_excluded in self._excluded:
            on_excluded(href, decision.rule, base, message)
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s: %.200r in %s", message, href, base)
