"""The boundary of a source: which URLs belong to it, and the rule that says so."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from enum import StrEnum

from ultracrawl.model import Decision, LinkKind
from ultracrawl.model.candidate import Candidate, Stage
from ultracrawl.rules.boundary.areas import Area, AreaRules
from ultracrawl.rules.boundary.matcher import UriTable, by_action
from ultracrawl.rules.boundary.paths import ExtensionTable
from ultracrawl.rules.boundary.rules import Action, BoundaryRules, Combine, DomainRule, Kind
from ultracrawl.rules.boundary.site import CLOSED_DOMAINS, Addresses, Site, SiteJudge, no_addresses
from ultracrawl.rules.boundary.stages import BoundaryStage, boundary_answer
from ultracrawl.rules.urls import DEFAULT_POLICY, UrlPolicy, host_of, path_of, repeats

SITES_KEPT = 20_000
CLOSED_URIS = "no include uri matches"
CLOSED_BOTH = "no include domain or uri matches"
DYNAMIC = "dynamic pages are not indexed"
NO_RULE = "no rule refuses it"
REDIRECTS = frozenset({LinkKind.REDIRECT, LinkKind.META_REFRESH})


class LinkRule(StrEnum):
    """Rules that refuse the way to a URL, and not the URL."""

    FWDLINKS = "fwdlinks no"
    FWDREDIRECTS = "fwdredirects no"


_OF_THE_WAY = frozenset(LinkRule)


class Boundary:
    """The compiled boundary rules of one source.

    A canonical URL meets the stages in this order: scheme, extension, recursion, depth, domain, port, path,
    uri, area (what belongs to other sources), link (`fwdlinks`, `fwdredirects`), index (follow only, dynamic
    pages). The first refusal ends it.
    Within a stage exclusion wins. With `Combine.ANY` an inclusion in one of the stages domain and uri is
    enough, and the uri stage says so.
    """

    def __init__(
        self,
        rules: BoundaryRules | None = None,
        *,
        policy: UrlPolicy = DEFAULT_POLICY,
        addresses: Addresses = no_addresses,
        areas: Iterable[AreaRules] = (),
    ) -> None:
        rules = rules or BoundaryRules()
        self.rules = rules
        self._areas = tuple(Area(one, policy) for one in areas)
        self._addresses = addresses
        self._judge = SiteJudge(rules, addresses)
        self._sites: dict[str, Site] = {}
        self._extensions = ExtensionTable(rules.exclude_extensions)
        self._recursion = rules.max_uri_recursion
        self._max_depth = sys.maxsize if rules.mode.depth is None else rules.mode.depth
        self._depth_rule = f"depth {self._max_depth}"
        self._excluded_uri = UriTable(by_action(rules.uris, Action.EXCLUDE), policy, excludes=True)
        self._included_uri = UriTable(by_action(rules.uris, Action.INCLUDE), policy)
        followed = by_action(rules.uris, Action.FOLLOW_ONLY)
        self._followed_uri = UriTable(followed, policy)
        self._unindexed_uri = UriTable(followed, policy, excludes=True)
        self._any = rules.combine is Combine.ANY
        self._uris_closed = not self._included_uri.empty
        self._closed_domains = self._judge.closed and not self._any
        self._looks_at_uris = (
            not self._excluded_uri.empty or self._uris_closed or (self._any and self._judge.closed)
        )
        self._looks_at_links = not (rules.mode.fwdlinks and rules.mode.fwdredirects)
        self.stages: tuple[Stage, ...] = tuple(self._made_stages())
        """The stages in their order, spelled out; `rejects` is the same, compiled."""

    def admit(self, host: str) -> None:
        """Let a host in, as if a domain rule included it; what excludes it still does."""
        self.rules = replace(self.rules, domains=(*self.rules.domains, DomainRule(Kind.EXACT, host)))
        self._judge = SiteJudge(self.rules, self._addresses)
        self._sites.clear()

    def rejects(
        self, url: str, depth: int = 0, *, kind: LinkKind = LinkKind.A, parent: str = "", seed: bool = False
    ) -> str | None:
        """Return the rule that refuses a canonical URL, or None if it belongs to the source; the hot path.

        `parent` is the URL of the page (or redirect) that it was found in, `kind` how it was.
        """
        end = url.find("/", url.find(":") + 3)
        origin = url[:end] if end >= 0 else url
        site = self._sites.get(origin) or self._meet(origin, url)
        if site.scheme_refusal is not None:
            return site.scheme_refusal
        path = url[end:] if end >= 0 else "/"
        if self._extensions and (rule := self._extensions.find(path)) is not None:
            return rule
        if self._recursion and repeats(path, self._recursion):
            return f"max_uri_recursion {self._recursion}"
        if depth > self._max_depth:
            return self._depth_rule
        if (rule := self._domain_refusal(site, seed) or site.port_refusal) is not None:
            return rule
        if site.paths is not None and (rule := site.paths.refusal(path)) is not None:
            return rule
        if self._looks_at_uris and (rule := self._uri_refusal(site, url, seed)) is not None:
            return rule
        if self._areas and (rule := self._area_refusal(site, url)) is not None:
            return rule
        return (
            self._link_refusal(site, kind, parent) if self._looks_at_links and parent and not seed else None
        )

    def check(
        self, url: str, depth: int = 0, *, kind: LinkKind = LinkKind.A, parent: str = "", seed: bool = False
    ) -> Decision:
        """Return the first refusal, or the acceptance that names the including rule.

        `index` is False in an acceptance when a rule lets the URL be followed only.
        """
        decisions = self.decisions(url, depth, kind=kind, parent=parent, seed=seed)
        refusal = next((decision for decision in decisions if not decision.accept), None)
        if refusal is not None:
            return refusal
        followed = next((decision for decision in decisions if not decision.index), None)
        named = [decision for decision in decisions if decision.rule.startswith(Action.INCLUDE)]
        return followed or (
            named[-1] if named else Decision(True, "boundary", NO_RULE, "inside the boundary")
        )

    def decisions(
        self, url: str, depth: int = 0, *, kind: LinkKind = LinkKind.A, parent: str = "", seed: bool = False
    ) -> list[Decision]:
        """Return the answer of every stage, in order, also of those behind a refusal."""
        candidate = Candidate(url, depth, kind, parent, seed)
        answers = (stage.judge(candidate) for stage in self.stages)
        return [answer for answer in answers if answer is not None]

    def rejects_anyway(self, url: str, depth: int = 0, parent: str = "") -> str | None:
        """Return what refuses a URL that rules about domains, ports, paths and URIs do not hold for."""
        candidate = Candidate(url, depth, parent=parent, rules_hold=False)
        answers = (stage.judge(candidate) for stage in self.stages)
        return next((one.rule for one in answers if one is not None and not one.accept), None)

    def follow_only(self, url: str) -> str | None:
        """Return the rule that keeps an admitted URL out of the index, though its links are followed."""
        site = self._site_of(url)
        rule = site.follow_only or self._unindexed_uri.find(url)
        if rule is None and site.paths is not None:
            rule = site.paths.follow_only(path_of(url))
        if rule is None and not self.rules.index_dynamic and "?" in url:
            rule = DYNAMIC
        return rule

    def refuses_hop(self, url: str, parent: str) -> str | None:
        """Return the rule (scheme, `fwdredirects`) that holds even for redirects out of the boundary."""
        site = self._site_of(url)
        return site.scheme_refusal or self._link_refusal(site, LinkKind.REDIRECT, parent)

    def link_depth(self, url: str, parent: str, parent_depth: int, kind: LinkKind = LinkKind.A) -> int:
        """Return the depth of a URL found in a page at `parent_depth`: a redirect is no step.

        With `reset_level` a link to another host name starts at 0 again.
        """
        if kind in REDIRECTS:
            return parent_depth
        if self.rules.mode.reset_level and host_of(url) != host_of(parent):
            return 0
        return parent_depth + 1

    @property
    def asks_addresses(self) -> bool:
        """Whether rules look at the addresses of hosts, so that meeting a host may need a look-up of its name."""
        return self._judge.asks_addresses or any(area.asks_addresses for area in self._areas)

    def depends_on_route(self, rule: str) -> bool:
        """Tell whether a refusal holds only for the route to the URL, so that it must not be remembered."""
        return rule in _OF_THE_WAY or rule == self._depth_rule

    def _site_of(self, url: str) -> Site:
        origin = url[: len(url) - len(path_of(url))]
        return self._sites.get(origin) or self._meet(origin, url)

    def _meet(self, origin: str, url: str) -> Site:
        if len(self._sites) >= SITES_KEPT:
            self._sites.clear()
        site = self._sites[origin] = self._judge.judge(url)
        return site

    def _exempt(self, seed: bool) -> bool:
        return seed and self.rules.seeds_exempt

    def _domain_refusal(self, site: Site, seed: bool) -> str | None:
        if site.excluded is None and not (self._closed_domains and site.included is None):
            return None
        return None if self._exempt(seed) else site.excluded or CLOSED_DOMAINS

    def _uri_refusal(self, site: Site, url: str, seed: bool) -> str | None:
        rule = self._excluded_uri.find(url)
        if rule is not None or (self._any and (site.included is not None or self._exempt(seed))):
            return rule
        if (self._uris_closed or (self._any and self._judge.closed)) and self._uri_inclusion(url) is None:
            return CLOSED_BOTH if self._any and self._judge.closed else CLOSED_URIS
        return None

    def _area_refusal(self, site: Site, url: str) -> str | None:
        found = (area.rule for area in self._areas if area.covers(site.host, url, self._addresses))
        return next(found, None)

    def _uri_inclusion(self, url: str) -> str | None:
        return self._included_uri.find(url) or self._followed_uri.find(url)

    def _link_refusal(self, site: Site, kind: LinkKind, parent: str) -> str | None:
        is_redirect = kind in REDIRECTS
        allowed = self.rules.mode.fwdredirects if is_redirect else self.rules.mode.fwdlinks
        if allowed or host_of(parent) == site.host:
            return None
        return (LinkRule.FWDREDIRECTS if is_redirect else LinkRule.FWDLINKS).value

    # ---- the stages, spelled out

    def _made_stages(self) -> Iterator[BoundaryStage]:
        yield self._stage("scheme", lambda site, _: site.scheme_refusal, self._judge.scheme_rule)
        if self._extensions:
            find = self._extensions.find
            yield self._stage("extension", lambda _, one: find(path_of(one.url)), "excluded extensions")
        if most := self._recursion:
            rule = f"max_uri_recursion {most}"
            yield self._stage(
                "recursion", lambda _, one: rule if repeats(path_of(one.url), most) else None, rule
            )
        yield BoundaryStage("depth", self._site_of, self._depth_answer)
        yield BoundaryStage("domain", self._site_of, self._domain_answer)
        yield self._stage("port", lambda site, _: site.port_refusal, "ports")
        yield BoundaryStage("path", self._site_of, self._path_answer)
        if self._looks_at_uris:
            yield BoundaryStage("uri", self._site_of, self._uri_answer)
        if self._areas:
            yield self._stage("area", lambda site, one: self._area_refusal(site, one.url), NO_RULE)
        if self._looks_at_links:
            yield BoundaryStage("link", self._site_of, self._link_answer)
        yield BoundaryStage("index", self._site_of, self._index_answer)

    def _stage(
        self, name: str, refusal: Callable[[Site, Candidate], str | None], acceptance: str
    ) -> BoundaryStage:
        return BoundaryStage(
            name, self._site_of, lambda site, one: boundary_answer(name, refusal(site, one), acceptance)
        )

    def _depth_answer(self, _: Site, candidate: Candidate) -> Decision:
        depth = candidate.depth
        if self._max_depth == sys.maxsize:
            return Decision(True, "depth", "no depth limit", f"{depth} steps from a seed")
        reason = f"{depth} steps from a seed; {self._max_depth} are allowed"
        return Decision(depth <= self._max_depth, "depth", self._depth_rule, reason)

    def _domain_answer(self, site: Site, candidate: Candidate) -> Decision:
        exempt = self._exempt(candidate.seed) and (site.excluded or site.included is None)
        acceptance = "seed" if exempt else site.included or NO_RULE
        return boundary_answer("domain", self._domain_refusal(site, candidate.seed), acceptance)

    def _path_answer(self, site: Site, candidate: Candidate) -> Decision | None:
        if site.paths is None:
            return None
        path = path_of(candidate.url)
        return boundary_answer("path", site.paths.refusal(path), site.paths.inclusion(path) or NO_RULE)

    def _uri_answer(self, site: Site, candidate: Candidate) -> Decision:
        included = self._uri_inclusion(candidate.url) or NO_RULE
        return boundary_answer("uri", self._uri_refusal(site, candidate.url, candidate.seed), included)

    def _link_answer(self, site: Site, candidate: Candidate) -> Decision | None:
        if not candidate.parent or candidate.seed:
            return None
        refusal = self._link_refusal(site, candidate.kind, candidate.parent)
        return boundary_answer("link", refusal, "fwdlinks, fwdredirects")

    def _index_answer(self, _: Site, candidate: Candidate) -> Decision | None:
        followed = self.follow_only(candidate.url)
        if followed is None:
            return None
        return Decision(True, "index", followed, "its links are followed, it is not indexed", index=False)
