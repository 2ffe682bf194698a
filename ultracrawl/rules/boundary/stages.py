"""The stages of a boundary: the refusals of each, and its decisions for `explain` and reports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from enum import StrEnum

from ultracrawl.model import Decision, LinkKind
from ultracrawl.model.candidate import Candidate
from ultracrawl.rules.boundary.matcher import Addresses, Area, AreaRules, UriTable, by_action
from ultracrawl.rules.boundary.origin import CLOSED_DOMAINS, Origin, OriginJudge
from ultracrawl.rules.boundary.paths import ExtensionTable
from ultracrawl.rules.boundary.rules import Action, BoundaryRules, Combine
from ultracrawl.rules.urls.canonical import UrlPolicy, host_of, path_of
from ultracrawl.rules.urls.recursion import repeats

CLOSED_URIS = "no include uri matches"
CLOSED_BOTH = "no include domain or uri matches"
DYNAMIC = "dynamic pages are not indexed"
NO_RULE = "no rule refuses it"
REDIRECTS = frozenset({LinkKind.REDIRECT, LinkKind.META_REFRESH})
RULE_STAGES = frozenset({"domain", "path", "uri", "area"})
"""The stages that candidates with `rules_hold` False skip. As to ports, only the limit to usual ones holds for them."""
TEMPORARY_REDIRECT_STAGES = frozenset({"scheme", "port", "link"})
"""The stages that apply to redirects that may leave the boundary; as to ports see `RULE_STAGES`."""


class LinkRule(StrEnum):
    """Rules that refuse a link rather than its URL."""

    FWDLINKS = "fwdlinks no"
    FWDREDIRECTS = "fwdredirects no"


class StageRules:
    """The compiled rules of a boundary by stage; each method returns the rule that refuses, or None."""

    def __init__(
        self, rules: BoundaryRules, policy: UrlPolicy, addresses: Addresses, areas: Iterable[AreaRules]
    ) -> None:
        self.judge = judge = OriginJudge(rules, addresses)
        """Replaced when a further host is admitted."""
        self.rules = rules
        self._addresses = addresses
        self.scheme_rule = judge.scheme_rule
        self.areas = tuple(Area(area, policy) for area in areas)
        self.extensions = ExtensionTable(rules.exclude_extensions)
        self.recursion = rules.max_uri_recursion
        self.max_depth = sys.maxsize if rules.mode.depth is None else rules.mode.depth
        self.depth_rule = f"depth {self.max_depth}"
        self._excluded_uri = UriTable(by_action(rules.uris, Action.EXCLUDE), policy, excludes=True)
        self._included_uri = UriTable(by_action(rules.uris, Action.INCLUDE), policy)
        followed = by_action(rules.uris, Action.FOLLOW_ONLY)
        self._followed_uri = UriTable(followed, policy)
        self._unindexed_uri = UriTable(followed, policy, excludes=True)
        self._any = rules.combine is Combine.ANY
        self._uris_closed = not self._included_uri.empty
        self._domains_closed = judge.closed and not self._any
        both_closed = self._any and judge.closed
        self.has_uri_rules = not self._excluded_uri.empty or self._uris_closed or both_closed
        self.has_link_rules = not (rules.mode.fwdlinks and rules.mode.fwdredirects)
        self.has_index_rules = (
            any(rule.action is Action.FOLLOW_ONLY for rule in rules.domains)
            or any(rule.action is Action.FOLLOW_ONLY for rule in rules.uris)
            or any(rule.follow_only for rule in rules.paths)
            or not rules.index_dynamic
        )

    def is_exempt(self, seed: bool) -> bool:
        """Return whether domain rules do not apply: for seeds, unless the definition says otherwise."""
        return seed and self.rules.seeds_exempt

    def domain_refusal(self, origin: Origin, seed: bool) -> str | None:
        """Return the domain rule that refuses an origin."""
        if origin.excluded is None and not (self._domains_closed and origin.included is None):
            return None
        return None if self.is_exempt(seed) else origin.excluded or CLOSED_DOMAINS

    def uri_refusal(self, origin: Origin, url: str, seed: bool) -> str | None:
        """Return the URI rule that refuses a URL; with `Combine.ANY` an inclusion of its host is enough."""
        rule = self.uri_exclusion(url)
        if rule is not None or (self._any and (origin.included is not None or self.is_exempt(seed))):
            return rule
        both_closed = self._any and self.judge.closed
        if (self._uris_closed or both_closed) and self.uri_inclusion(url) is None:
            return CLOSED_BOTH if both_closed else CLOSED_URIS
        return None

    def area_refusal(self, origin: Origin, url: str) -> str | None:
        """Return the rule by which a URL belongs to another source."""
        rules = (area.rule for area in self.areas if area.covers(origin.host, url, self._addresses))
        return next(rules, None)

    def uri_exclusion(self, url: str) -> str | None:
        """Return the URI rule that excludes a URL."""
        return self._excluded_uri.find(url)

    def uri_inclusion(self, url: str) -> str | None:
        """Return the URI rule that includes a URL."""
        return self._included_uri.find(url) or self._followed_uri.find(url)

    def link_refusal(self, origin: Origin, kind: LinkKind, parent: str) -> str | None:
        """Return the rule that refuses a link or redirect from another host."""
        is_redirect = kind in REDIRECTS
        allowed = self.rules.mode.fwdredirects if is_redirect else self.rules.mode.fwdlinks
        if allowed or host_of(parent) == origin.host:
            return None
        return (LinkRule.FWDREDIRECTS if is_redirect else LinkRule.FWDLINKS).value

    def index_refusal(self, origin: Origin, url: str) -> str | None:
        """Return the rule that keeps an admitted URL out of the index although its links are followed."""
        rule = origin.follow_only or self._unindexed_uri.find(url)
        if rule is None and origin.paths is not None:
            rule = origin.paths.follow_only(path_of(url))
        if rule is None and not self.rules.index_dynamic and "?" in url:
            rule = DYNAMIC
        return rule


class BoundaryStage:
    """One stage of a boundary."""

    __slots__ = ("_decide", "_origin_of", "name")

    def __init__(
        self,
        name: str,
        origin_of: Callable[[str], Origin],
        decide: Callable[[Origin, Candidate], Decision | None],
    ) -> None:
        self.name = name
        self._origin_of = origin_of
        self._decide = decide

    def judge(self, candidate: Candidate) -> Decision | None:
        """Return the decision about a candidate; None if the stage does not apply to it."""
        if not candidate.rules_hold and self.name in RULE_STAGES:
            return None
        if candidate.hop and self.name not in TEMPORARY_REDIRECT_STAGES:
            return None
        return self._decide(self._origin_of(candidate.url), candidate)


def build_stages(rules: StageRules, origin_of: Callable[[str], Origin]) -> tuple[BoundaryStage, ...]:
    """Return the stages of a boundary in their order, without those that have no rules."""
    decisions = _StageDecisions(rules)
    stages = (
        (True, "scheme", decisions.scheme),
        (rules.extensions, "extension", decisions.extension),
        (rules.recursion, "recursion", decisions.recursion),
        (True, "depth", decisions.depth),
        (True, "domain", decisions.domain),
        (True, "port", decisions.port),
        (True, "path", decisions.path),
        (rules.has_uri_rules, "uri", decisions.uri),
        (rules.areas, "area", decisions.area),
        (rules.has_link_rules, "link", decisions.link),
        (True, "index", decisions.index),
    )
    return tuple(BoundaryStage(name, origin_of, decide) for has_rules, name, decide in stages if has_rules)


class _StageDecisions:
    """The decision of each stage."""

    def __init__(self, rules: StageRules) -> None:
        self._rules = rules

    def scheme(self, origin: Origin, _: Candidate) -> Decision:
        return _decision("scheme", origin.scheme_refusal, self._rules.scheme_rule)

    def extension(self, _: Origin, candidate: Candidate) -> Decision:
        refusal = self._rules.extensions.find(path_of(candidate.url))
        return _decision("extension", refusal, "excluded extensions")

    def recursion(self, _: Origin, candidate: Candidate) -> Decision:
        limit = self._rules.recursion or 0
        rule = f"max_uri_recursion {limit}"
        return _decision("recursion", rule if repeats(path_of(candidate.url), limit) else None, rule)

    def depth(self, _: Origin, candidate: Candidate) -> Decision:
        depth, limit = candidate.depth, self._rules.max_depth
        steps = f"{depth} step{'' if depth == 1 else 's'} from a seed"
        if limit == sys.maxsize:
            return Decision(True, "depth", "no depth limit", steps)
        return Decision(depth <= limit, "depth", self._rules.depth_rule, f"{steps}; allowed: {limit}")

    def domain(self, origin: Origin, candidate: Candidate) -> Decision:
        is_exempt = self._rules.is_exempt(candidate.seed) and (origin.excluded or origin.included is None)
        acceptance = "seed" if is_exempt else origin.included or NO_RULE
        return _decision("domain", self._rules.domain_refusal(origin, candidate.seed), acceptance)

    def port(self, origin: Origin, candidate: Candidate) -> Decision:
        holds = candidate.rules_hold and not candidate.hop
        return _decision("port", origin.port_refusal if holds else origin.unusual_port, "ports")

    def path(self, origin: Origin, candidate: Candidate) -> Decision | None:
        if origin.paths is None:
            return None
        path = path_of(candidate.url)
        return _decision("path", origin.paths.refusal(path), origin.paths.inclusion(path) or NO_RULE)

    def uri(self, origin: Origin, candidate: Candidate) -> Decision:
        included = self._rules.uri_inclusion(candidate.url) or NO_RULE
        return _decision("uri", self._rules.uri_refusal(origin, candidate.url, candidate.seed), included)

    def area(self, origin: Origin, candidate: Candidate) -> Decision:
        return _decision("area", self._rules.area_refusal(origin, candidate.url), NO_RULE)

    def link(self, origin: Origin, candidate: Candidate) -> Decision | None:
        if not candidate.parent or candidate.seed:
            return None
        refusal = self._rules.link_refusal(origin, candidate.kind, candidate.parent)
        return _decision("link", refusal, "fwdlinks, fwdredirects")

    def index(self, origin: Origin, candidate: Candidate) -> Decision | None:
        rule = self._rules.index_refusal(origin, candidate.url)
        if rule is None:
            return None
        return Decision(True, "index", rule, "its links are followed, it is not indexed", index=False)


def _decision(stage: str, refusal: str | None, acceptance: str) -> Decision:
    if refusal is not None:
        return Decision(False, stage, refusal, f"outside the boundary ({stage})")
    return Decision(True, stage, acceptance, "passes")
