"""The boundary of a source: which URLs belong to it, and the rule that says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ultracrawl.model import Decision, LinkKind
from ultracrawl.model.candidate import Candidate, Stage
from ultracrawl.rules.boundary.matcher import Addresses, AreaRules, no_addresses
from ultracrawl.rules.boundary.rules import Action, BoundaryRules, DomainRule, Kind
from ultracrawl.rules.boundary.site import Site, SiteJudge
from ultracrawl.rules.boundary.stages import NO_RULE, REDIRECTS, LinkRule, Refusals, spelled_out
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY, UrlPolicy, host_of, path_of
from ultracrawl.rules.urls.recursion import repeats

SITES_KEPT = 20_000
"""Origins whose rules are remembered; when there are more, all are forgotten."""
_OF_THE_WAY = frozenset(LinkRule)


class Boundary(Refusals):
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
        super().__init__(rules, policy, addresses, areas)
        self._sites: dict[str, Site] = {}
        self.stages: tuple[Stage, ...] = spelled_out(self, self._site_of)
        """The stages in their order, spelled out; `rejects` is the same, compiled."""

    def admit(self, host: str) -> None:
        """Include a host, as if a domain rule did; rules that exclude it still hold."""
        self.rules = replace(self.rules, domains=(*self.rules.domains, DomainRule(Kind.EXACT, host)))
        self.judge = SiteJudge(self.rules, self._addresses)
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
        if self.extensions and (rule := self.extensions.find(path)) is not None:
            return rule
        if self.recursion and repeats(path, self.recursion):
            return f"max_uri_recursion {self.recursion}"
        if depth > self.max_depth:
            return self.depth_rule
        if (rule := self.domain_refusal(site, seed) or site.port_refusal) is not None:
            return rule
        if site.paths is not None and (rule := site.paths.refusal(path)) is not None:
            return rule
        if self.looks_at_uris and (rule := self.uri_refusal(site, url, seed)) is not None:
            return rule
        if self.areas and (rule := self.area_refusal(site, url)) is not None:
            return rule
        return self.link_refusal(site, kind, parent) if self.looks_at_links and parent and not seed else None

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
        return self.index_refusal(self._site_of(url), url)

    def exclusion(self, url: str) -> str | None:
        """Return the rule that excludes a URL or its scheme: what holds for sitemaps and parts of pages, too."""
        site, path = self._site_of(url), path_of(url)
        return (
            site.scheme_refusal
            or self.extensions.find(path)
            or site.excluded
            or site.excluded_port
            or (site.paths.exclusion(path) if site.paths is not None else None)
            or self.uri_exclusion(url)
        )

    def refuses_hop(self, url: str, parent: str) -> str | None:
        """Return the rule (scheme, `fwdredirects`) that holds even for redirects out of the boundary."""
        site = self._site_of(url)
        return site.scheme_refusal or self.link_refusal(site, LinkKind.REDIRECT, parent)

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
        return self.judge.asks_addresses or any(area.asks_addresses for area in self.areas)

    def depends_on_route(self, rule: str) -> bool:
        """Tell whether a refusal holds only for the route to the URL, so that it must not be remembered."""
        return rule in _OF_THE_WAY or rule == self.depth_rule

    def _site_of(self, url: str) -> Site:
        origin = url[: len(url) - len(path_of(url))]
        return self._sites.get(origin) or self._meet(origin, url)

    def _meet(self, origin: str, url: str) -> Site:
        if len(self._sites) >= SITES_KEPT:
            self._sites.clear()
        site = self._sites[origin] = self.judge.judge(url)
        return site
