"""Resolves links as written to URLs: canonical form, rewrite rules, and the rewriter of the source."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from ultracrawl.rules.boundary import UrlRewriter
from ultracrawl.rules.urls.canonical import UrlPolicy, UrlRule
from ultracrawl.rules.urls.joined import JoinedLinks
from ultracrawl.scheduler.candidates.rewriting import LinkRewriting

logger = logging.getLogger(__name__)

MAX_UNUSABLE = 20_000
"""Links without a URL that are remembered, so that each is counted once."""
TOO_LONG = "30054 excessively long URL"
MALFORMED = "30030 malformed URL"

Excluded = Callable[[str, str, str, str], None]
"""Called for a link that is excluded, with URL, rule, page, and number and text of the message."""


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
