"""From links as written to URLs: canonical form, rewrite rules, and the source's own rewriter."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from ultracrawl.rules.boundary import UrlRewriter
from ultracrawl.rules.urls.canonical import UrlPolicy, UrlRule
from ultracrawl.rules.urls.joined import JoinedLinks
from ultracrawl.scheduler.candidates.rewriting import LinkRewriting

logger = logging.getLogger(__name__)

UNUSABLE = 20_000
"""Links without a URL that are remembered, so that each is looked at once."""
TOO_LONG = "30054 excessively long URL"
MALFORMED = "30030 malformed URL"

Excluded = Callable[[str, str, str, str], None]
"""Called for a link that is excluded, with URL, rule, page, and number and text of the message."""


class LinkUrls:
    """Gives the URL of each link; one without a URL is counted once under the rule that it breaks."""

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
        """Hashes of links that lead to no URL: some hold whole pictures (`data:`)."""
        self.shown: Mapping[str, str] = self._rewriting.shown if self._rewriting else {}
        """The display URL, by access URL, of the links located last, where that is another one."""

    def located(self, hrefs: Iterable[str], base: str) -> dict[str, str]:
        """Return the URL of each link that has one, by link as written."""
        if self._rewriting:
            self._rewriting.shown.clear()
            rewritten = self._rewriting.canonical
            found = {href: rewritten(href, base) for href in dict.fromkeys(hrefs)}
        else:
            found = self._joined.joined(hrefs, base)
        if None not in found.values():
            return cast("dict[str, str]", found)
        for href in [href for href, url in found.items() if url is None and hash(href) not in self._unusable]:
            self._count_unusable(href, base)
        return {href: url for href, url in found.items() if url is not None}

    def _count_unusable(self, href: str, base: str) -> None:
        """Count a link that leads to no URL; links of other schemes (`mailto:`) are not counted."""
        if len(self._unusable) >= UNUSABLE:
            self._unusable.clear()
        self._unusable.add(hash(href))
        decision = self._policy.canonicalise(href, base).decision
        if decision.accept or decision.rule == UrlRule.SCHEME:
            return
        self._count_excluded(decision.rule)
        message = TOO_LONG if decision.rule == UrlRule.LENGTH else MALFORMED
        for told in self._excluded:
            told(href, decision.rule, base, message)
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s: %.200r in %s", message, href, base)
