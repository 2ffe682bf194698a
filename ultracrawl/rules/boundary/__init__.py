"""The boundary of a source: which URLs, redirects and IP addresses belong to it.

* `rules`: the rules of a definition (`BoundaryRules` with `DomainRule`, `UriRule`, `PathRules`, `PortRules`,
  `CrawlMode`); `lines` reads them from text
* `boundary.Boundary`: the compiled rules
* `redirects.RedirectPolicy`, `addresses.AddressPolicy`, `focus.FocusPolicy`: redirects, IP addresses, languages
* `rewriting`: rewrite rules, host aliases, and `UrlRewriter`, the hook for user code
"""

from ultracrawl.rules.boundary.rewriting.rewriter import Candidate, UrlRewriteError, UrlRewriter

__all__ = ["Candidate", "UrlRewriteError", "UrlRewriter"]
