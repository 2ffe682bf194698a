"""The stages of a boundary: what each refuses, and its answer spelled out, also behind a refusal of another."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from enum import StrEnum

from ultracrawl.model import Decision, LinkKind
from ultracrawl.model.candidate import Candidate
from ultracrawl.rules.boundary.matcher import Addresses, Area, AreaRules, UriTable, by_action
from ultracrawl.rules.boundary.paths import ExtensionTable
from ultracrawl.rules.boundary.rules import Action, BoundaryRules, Combine
from ultracrawl.rules.boundary.site import CLOSED_DOMAINS, Site, SiteJudge
from ultracrawl.rules.urls.canonical import UrlPolicy, host_of, path_of
from ultracrawl.rules.urls.recursion import repeats

CLOSED_URIS = "no include uri matches"
CLOSED_BOTH = "no include domain or uri matches"
DYNAMIC = "dynamic pages are not indexed"
NO_RULE = "no rule refuses it"
REDIRECTS = frozenset({LinkKind.REDIRECT, LinkKind.META_REFRESH})
RULE_STAGES = frozenset({"domain", "port", "path", "uri", "area"})
"""Stages that ask what is said about hosts and URLs, beside schemes, extensions, depth and the way there."""
HOP_STAGES = frozenset({"scheme", "link"})
"""The stages that hold even for redirects out of the boundary."""


class LinkRule(StrEnum):
    """Rules that refuse the way to a URL, and not the URL."""

    FWDLINKS = "fwdlinks no"
    FWDREDIRECTS = "fwdredirects no"


class Refusals:
    """The rules of a boundary by stage: each gives the rule that refuses, or None."""

    def __init__(
        self, rules: BoundaryRules, policy: UrlPolicy, addresses: Addresses, areas: Iterable[AreaRules]
    ) -> None:
        self.judge = judge = SiteJudge(rules, addresses)
        """Judges hosts; another one takes its place when the rules let a further host in."""
        self.rules = rules
        self._addresses = addresses
        self.scheme_rule = judge.scheme_rule
        self.areas = tuple(Area(one, policy) for one in areas)
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
        self._closed_domains = judge.closed and not self._any
        closed_both = self._any and judge.closed
        self.looks_at_uris = not self._excluded_uri.empty or self._uris_closed or closed_both
        self.looks_at_links = not (rules.mode.fwdlinks and rules.mode.fwdredirects)

    def exempt(self, seed: bool) -> bool:
        """Whether rules about domains do not hold: for start URLs, unless the definition says otherwise."""
        return seed and self.rules.seeds_exempt

    def domain_refusal(self, site: Site, seed: bool) -> str | None:
        """Return the domain rule that refuses a site."""
        if site.excluded is None and not (self._closed_domains and site.included is None):
            return None
        return None if self.exempt(seed) else site.excluded or CLOSED_DOMAINS

    def uri_refusal(self, site: Site, url: str, seed: bool) -> str | None:
        """Return the rule about URIs that refuses a URL; an inclusion of its site may be enough."""
        rule = self.uri_exclusion(url)
        if rule is not None or (self._any and (site.included is not None or self.exempt(seed))):
            return rule
        closed_both = self._any and self.judge.closed
        if (self._uris_closed or closed_both) and self.uri_inclusion(url) is None:
            return CLOSED_BOTH if closed_both else CLOSED_URIS
        return None

    def area_refusal(self, site: Site, url: str) -> str | None:
        """Return the rule by which a URL belongs to another source."""
        found = (area.rule for area in self.areas if area.covers(site.host, url, self._addresses))
        return next(found, None)

    def uri_exclusion(self, url: str) -> str | None:
        """Return the rule about URIs that excludes a URL."""
        return self._excluded_uri.find(url)

    def uri_inclusion(self, url: str) -> str | None:
        """Return the rule about URIs that includes a URL."""
        return self._included_uri.find(url) or self._followed_uri.find(url)

    def link_refusal(self, site: Site, kind: LinkKind, parent: str) -> str | None:
        """Return the rule that refuses the way from a page or a redirect of another host."""
        is_redirect = kind in REDIRECTS
        allowed = self.rules.mode.fwdredirects if is_redirect else self.rules.mode.fwdlinks
        if allowed or host_of(parent) == site.host:
            return None
        return (LinkRule.FWDREDIRECTS if is_redirect else LinkRule.FWDLINKS).value

    def index_refusal(self, site: Site, url: str) -> str | None:
        """Return the rule that keeps an admitted URL out of the index, though its links are followed."""
        rule = site.follow_only or self._unindexed_uri.find(url)
        if rule is None and site.paths is not None:
            rule = site.paths.follow_only(path_of(url))
        if rule is None and not self.rules.index_dynamic and "?" in url:
            rule = DYNAMIC
        return rule


class BoundaryStage:
    """One stage of a boundary: what the rules of its name say of a URL of a site."""

    __slots__ = ("_answer", "_site_of", "name")

    def __init__(
        self,
        name: str,
        site_of: Callable[[str], Site],
        answer: Callable[[Site, Candidate], Decision | None],
    ) -> None:
        self.name = name
        self._site_of = site_of
        self._answer = answer

    def judge(self, candidate: Candidate) -> Decision | None:
        """Return whether a candidate is inside as far as this stage goes; None if it does not concern it."""
        if not candidate.rules_hold and self.name in RULE_STAGES:
            return None
        if candidate.hop and self.name not in HOP_STAGES:
            return None
        return self._answer(self._site_of(candidate.url), candidate)


def spelled_out(refusals: Refusals, site_of: Callable[[str], Site]) -> tuple[BoundaryStage, ...]:
    """Return the stages of a boundary in their order; those without rules are left out."""
    answers = _Answers(refusals)
    stages = (
        (True, "scheme", answers.scheme),
        (refusals.extensions, "extension", answers.extension),
        (refusals.recursion, "recursion", answers.recursion),
        (True, "depth", answers.depth),
        (True, "domain", answers.domain),
        (True, "port", answers.port),
        (True, "path", answers.path),
        (refusals.looks_at_uris, "uri", answers.uri),
        (refusals.areas, "area", answers.area),
        (refusals.looks_at_links, "link", answers.link),
        (True, "index", answers.index),
    )
    return tuple(BoundaryStage(name, site_of, answer) for there, name, answer in stages if there)


class _Answers:
    """The decision of each stage, refusal or not."""

    def __init__(self, refusals: Refusals) -> None:
        self._refusals = refusals

    def scheme(self, site: Site, _: Candidate) -> Decision:
        return _answer("scheme", site.scheme_refusal, self._refusals.scheme_rule)

    def extension(self, _: Site, candidate: Candidate) -> Decision:
        return _answer(
            "extension", self._refusals.extensions.find(path_of(candidate.url)), "excluded extensions"
        )

    def recursion(self, _: Site, candidate: Candidate) -> Decision:
        most = self._refusals.recursion or 0
        rule = f"max_uri_recursion {most}"
        return _answer("recursion", rule if repeats(path_of(candidate.url), most) else None, rule)

    def depth(self, _: Site, candidate: Candidate) -> Decision:
        depth, most = candidate.depth, self._refusals.max_depth
        if most == sys.maxsize:
            return Decision(True, "depth", "no depth limit", f"{depth} steps from a seed")
        reason = f"{depth} steps from a seed; {most} are allowed"
        return Decision(depth <= most, "depth", self._refusals.depth_rule, reason)

    def domain(self, site: Site, candidate: Candidate) -> Decision:
        exempt = self._refusals.exempt(candidate.seed) and (site.excluded or site.included is None)
        acceptance = "seed" if exempt else site.included or NO_RULE
        return _answer("domain", self._refusals.domain_refusal(site, candidate.seed), acceptance)

    def port(self, site: Site, _: Candidate) -> Decision:
        return _answer("port", site.port_refusal, "ports")

    def path(self, site: Site, candidate: Candidate) -> Decision | None:
        if site.paths is None:
            return None
        path = path_of(candidate.url)
        return _answer("path", site.paths.refusal(path), site.paths.inclusion(path) or NO_RULE)

    def uri(self, site: Site, candidate: Candidate) -> Decision:
        included = self._refusals.uri_inclusion(candidate.url) or NO_RULE
        return _answer("uri", self._refusals.uri_refusal(site, candidate.url, candidate.seed), included)

    def area(self, site: Site, candidate: Candidate) -> Decision:
        return _answer("area", self._refusals.area_refusal(site, candidate.url), NO_RULE)

    def link(self, site: Site, candidate: Candidate) -> Decision | None:
        if not candidate.parent or candidate.seed:
            return None
        refusal = self._refusals.link_refusal(site, candidate.kind, candidate.parent)
        return _answer("link", refusal, "fwdlinks, fwdredirects")

    def index(self, site: Site, candidate: Candidate) -> Decision | None:
        followed = self._refusals.index_refusal(site, candidate.url)
        if followed is None:
            return None
        return Decision(True, "index", followed, "its links are followed, it is not indexed", index=False)


def _answer(stage: str, refusal: str | None, acceptance: str) -> Decision:
    if refusal is not None:
        return Decision(False, stage, refusal, f"outside the boundary ({stage})")
    return Decision(True, stage, acceptance, "passes")
