"""A URL policy with rewrite rules: every URL is rewritten before anything else is decided about it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ultracrawl.model import Decision
from ultracrawl.rules.boundary.rewriting.rewrite_rules import RewriteRules
from ultracrawl.rules.urls.canonical import Canonical, UrlPolicy

RULE = "rewrite_rules"
_LONGEST = 65_536
"""Characters of a URL as rules see it: more than a canonical one may have, as a rule may shorten it."""
_SCHEMES = frozenset({"http", "https", "ftp", "file"})


@dataclass(frozen=True)
class RewritingPolicy(UrlPolicy):
    """Rewrites every URL of a source: links, start URLs and redirect targets (FAST 5.1 B7, B8).

    A URL is brought into canonical form, without the parameters to remove, then rewritten, then brought into
    canonical form again; parameters are sorted, and length and scheme are looked at, after rewriting.
    """

    rules: RewriteRules = field(default_factory=RewriteRules)
    _given: UrlPolicy = field(init=False, repr=False, compare=False)
    """The form in which rules see a URL."""
    _final: UrlPolicy = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        given = UrlPolicy(False, self.remove_params, _LONGEST, self.keep_fragment, _SCHEMES)
        final = UrlPolicy(
            self.sort_query_params, self.remove_params, self.max_length, self.keep_fragment, self.schemes
        )
        object.__setattr__(self, "_given", given)
        object.__setattr__(self, "_final", final)

    @property
    def without_rewriting(self) -> UrlPolicy:
        """The policy that gives the canonical form and nothing else."""
        return self._final

    def canonical(self, href: str, base: str | None = None) -> str | None:
        """Return the rewritten canonical URL of a link, or None if it leads to nothing that can be fetched."""
        url = self._given.canonical(href, base)
        return None if url is None else self._final.canonical(self.rules.rewrite(url))

    def canonicalise(self, href: str, base: str | None = None) -> Canonical:
        """Return the rewritten URL with the decision that explains it; its stage is `rewrite` if a rule matched."""
        given = self._given.canonicalise(href, base)
        if given.url is None:
            return given
        rewritten = self.rules.rewrite(given.url)
        result = self._final.canonicalise(rewritten)
        if rewritten == given.url:
            return result
        refused = "" if result.decision.accept else f": {result.decision.rule}"
        reason = f"{given.url} becomes {result.url or rewritten}"
        return Canonical(result.url, Decision(result.decision.accept, "rewrite", f"{RULE}{refused}", reason))
