"""The boundary of a source: which URLs, redirects and addresses belong to it.

Rules as values: `DomainRule`, `UriRule`, `PathRules`, `PortRules`, `CrawlMode`, together `BoundaryRules`,
with `Kind`, `Action` and `Combine`; `parse_domain_lines`, `parse_uri_lines` and `plain_domain_rule` read
them from text (`ParsedLines`, `LineError`), `check_rule` checks one; mistakes are `RuleError` and
`PatternError`. Compiled: `Boundary` (which URLs), `RedirectPolicy` (`Redirect` in, `RedirectDecision` out),
`AddressPolicy` (which IP addresses), `RewriteRules` of `RewriteRule`s, which `RewritingPolicy` applies to every
URL, and `UrlRewriter`, the user's hook, with `Candidate`, `apply_rewriter`, `RewriteResult`, `RewriteOutcome`
and `UrlRewriteError`. `focus.FocusPolicy` keeps documents in some languages.
"""

from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.lines import (
    LineError,
    ParsedLines,
    parse_domain_lines,
    parse_uri_lines,
    plain_domain_rule,
)
from ultracrawl.rules.boundary.redirects import Redirect, RedirectDecision, RedirectPolicy
from ultracrawl.rules.boundary.rewriting.rewrite_rules import RewriteRule, RewriteRules
from ultracrawl.rules.boundary.rewriting.rewriter import (
    Candidate,
    RewriteOutcome,
    RewriteResult,
    UrlRewriteError,
    UrlRewriter,
    apply_rewriter,
)
from ultracrawl.rules.boundary.rewriting.rewriting_policy import RewritingPolicy
from ultracrawl.rules.boundary.rules import (
    Action,
    BoundaryRules,
    Combine,
    CrawlMode,
    DomainRule,
    Kind,
    PathRules,
    PatternError,
    PortRules,
    RuleError,
    UriRule,
)
from ultracrawl.rules.boundary.validity import check_rule

__all__ = [
    "Action",
    "AddressPolicy",
    "Boundary",
    "BoundaryRules",
    "Candidate",
    "Combine",
    "CrawlMode",
    "DomainRule",
    "Kind",
    "LineError",
    "ParsedLines",
    "PathRules",
    "PatternError",
    "PortRules",
    "Redirect",
    "RedirectDecision",
    "RedirectPolicy",
    "RewriteOutcome",
    "RewriteResult",
    "RewriteRule",
    "RewriteRules",
    "RewritingPolicy",
    "RuleError",
    "UriRule",
    "UrlRewriteError",
    "UrlRewriter",
    "apply_rewriter",
    "check_rule",
    "parse_domain_lines",
    "parse_uri_lines",
    "plain_domain_rule",
]
