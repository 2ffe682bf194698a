"""The boundary of a source: which URLs, redirects and addresses belong to it.

Rules as values: `DomainRule`, `UriRule`, `PathRules`, `PortRules`, `CrawlMode`, together `BoundaryRules`,
with `Kind`, `Action` and `Combine`; `parse_domain_lines`, `parse_uri_lines` and `plain_domain_rule` read
them from text (`ParsedLines`, `LineError`), `check_rule` checks one; mistakes are `RuleError` and
`PatternError`. Compiled: `Boundary` (which URLs), `RedirectPolicy` (`Redirect` in, `RedirectDecision` out),
`AddressPolicy` (which IP addresses), `RewriteRules` of `RewriteRule`s, which `RewritingPolicy` applies to every
URL, and `UrlRewriter`, the user's hook, with `Candidate`, `apply_rewriter`, `RewriteResult`, `RewriteOutcome`
and `UrlRewriteError`. `focus.FocusPolicy` keeps documents in some languages.
"""

from ultracrawl.rules.boundary.rewriting.rewriter import Candidate, UrlRewriteError, UrlRewriter

__all__ = ["Candidate", "UrlRewriteError", "UrlRewriter"]
