"""What makes a single domain rule or URI rule usable, checked before rules are compiled together."""

from __future__ import annotations

from ultracrawl.rules.boundary.expressions import check_expression
from ultracrawl.rules.boundary.masks import parse_mask
from ultracrawl.rules.boundary.rules import DomainRule, Kind, RuleError, UriRule
from ultracrawl.rules.urls.parts import host_of

MASK_KINDS = frozenset({Kind.IPMASK, Kind.IP6MASK})
URI_KINDS = frozenset({Kind.EXACT, Kind.PREFIX, Kind.SUFFIX, Kind.REGEXP})


def check_rule(rule: DomainRule | UriRule) -> None:
    """Raise `RuleError` (for an expression `PatternError`) if a rule cannot be used."""
    if not rule.text.strip():
        raise RuleError(f"{rule}: the rule has no text")
    if rule.kind is Kind.REGEXP:
        check_expression(rule.text.strip())
    elif isinstance(rule, UriRule):
        _check_uri(rule)
    elif rule.kind in MASK_KINDS:
        parse_mask(rule.text)
    elif "/" in rule.text:
        host = host_of(rule.text) or "the host"
        raise RuleError(f"{rule}: a domain rule is about host names; write {host} alone")


def _check_uri(rule: UriRule) -> None:
    if rule.kind not in URI_KINDS:
        raise RuleError(f"{rule}: a URI rule is exact, prefix, suffix or regexp")
    if rule.kind is Kind.EXACT and "://" not in rule.text:
        raise RuleError(
            f"{rule}: not an absolute URL; write it with its scheme, as https://www.example.com/a"
        )
