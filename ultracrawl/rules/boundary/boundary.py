"""`Boundary`: decides which URLs belong to a source, and names the rule that decides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ultracrawl.model import Decision, LinkKind
from ultracrawl.model.candidate import Candidate, Stage
from ultracrawl.rules.boundary.matcher import Addresses, AreaRules, no_addresses
from ultracrawl.rules.boundary.origin import Origin, OriginJudge
from ultracrawl.rules.boundary.rules import Action, BoundaryRules, DomainRule, Kind, PortRules
from ultracrawl.rules.boundary.stages import NO_RULE, REDIRECTS, LinkRule, StageRules, build_stages
from ultracrawl.rules.urls.canonical import (
    DEFAULT_POLICY,
    UrlPolicy,
    host_of,
    path_of,
    same_site_ports,
    split,
)
from ultracrawl.rules.urls.recursion import repeats

MAX_ORIGINS = 20_000
"""Origins whose verdicts are cached; when there are more, the cache is cleared."""
_LINK_RULES = frozenset(LinkRule)


class Boundary(StageRules):
    """The compiled boundary rules of one source.

    The stages, in this order: scheme, extension, recursion, depth, domain, port, path,
    uri, area (URLs of other sources), link (`fwdlinks`, `fwdredirects`), index (follow only, dynamic
    pages). The first refusal decides. Within a stage exclusion wins. With `Combine.ANY` an inclusion in one of the
    stages domain and uri is enough; the uri stage decides then.
    """

    def __init__(
        self,
        rules: BoundaryRules | None = None,
        *,
        policy: UrlPolicy = DEFAULT_POLICY,
        addresses: Addresses = no_addresses,
        areas: Iterable[AreaRules] = (),
        own: Iterable[Stage] = (),
    ) -> None:
        """Initialise; `own` are the stages of the source itself, which are asked last."""
        rules = rules or BoundaryRules()
        super().__init__(rules, policy, addresses, areas)
        self._origins: dict[str, Origin] = {}
        self._own = tuple(own)
        self.stages: tuple[Stage, ...] = (*build_stages(self, self._origin_of), *self._own)
        """The stages in their order, each with its decision; `rejects` is the fast form without decisions."""

    def admit(self, host: str, port: int) -> None:
        """Include a host like a domain rule; rules that exclude it still apply.

        If the boundary names the ports of any host, of this host the port is included, and no other one. Else the port
        becomes one of the usual ones, if there are any.
        """
        usual = self.rules.usual_ports
        domains, ports = (*self.rules.domains, DomainRule(Kind.EXACT, host)), self.rules.ports
        if any(rule.include for rule in ports):
            ports = (*ports, PortRules(host, same_site_ports(port)))
        elif usual:
            usual |= same_site_ports(port)
        self.rules = replace(self.rules, domains=domains, ports=ports, usual_ports=usual)
        self.judge = OriginJudge(self.rules, self._addresses, self.judge.left_ports)
        self._origins.clear()

    def rejects(
        self, url: str, depth: int = 0, *, kind: LinkKind = LinkKind.A, parent: str = "", seed: bool = False
    ) -> str | None:
        """Return the rule that refuses a canonical URL, or None if it belongs to the source; the hot path.

        `parent` is the URL of the page or redirect that it was found in, `kind` the kind of link.
        """
        end = url.find("/", url.find(":") + 3)
        name = url[:end] if end >= 0 else url
        origin = self._origins.get(name) or self._judge_origin(name, url)
        if origin.scheme_refusal is not None:
            return origin.scheme_refusal
        path = url[end:] if end >= 0 else "/"
        if self.extensions and (rule := self.extensions.find(path)) is not None:
            return rule
        if self.recursion and repeats(path, self.recursion):
            return f"max_uri_recursion {self.recursion}"
        if depth > self.max_depth:
            return self.depth_rule
        if (rule := self.domain_refusal(origin, seed) or origin.port_refusal) is not None:
            return rule
        if origin.paths is not None and (rule := origin.paths.refusal(path)) is not None:
            return rule
        if self.has_uri_rules and (rule := self.uri_refusal(origin, url, seed)) is not None:
            return rule
        if self.areas and (rule := self.area_refusal(origin, url)) is not None:
            return rule
        if self.has_link_rules and parent and not seed and (rule := self.link_refusal(origin, kind, parent)):
            return rule
        return self._own_refusal(Candidate(url, depth, kind, parent, seed)) if self._own else None

    def check(
        self, url: str, depth: int = 0, *, kind: LinkKind = LinkKind.A, parent: str = "", seed: bool = False
    ) -> Decision:
        """Return the first refusal, or an acceptance that names the including rule.

        `index` is False in an acceptance by a follow-only rule.
        """
        decisions = self.decisions(url, depth, kind=kind, parent=parent, seed=seed)
        refusal = next((decision for decision in decisions if not decision.accept), None)
        if refusal is not None:
            return refusal
        followed = next((decision for decision in decisions if not decision.index), None)
        included = [decision for decision in decisions if decision.rule.startswith(Action.INCLUDE)]
        return followed or (
            included[-1] if included else Decision(True, "boundary", NO_RULE, "inside the boundary")
        )

    def decisions(
        self, url: str, depth: int = 0, *, kind: LinkKind = LinkKind.A, parent: str = "", seed: bool = False
    ) -> list[Decision]:
        """Return the decisions of all stages in order, including those after a refusal."""
        candidate = Candidate(url, depth, kind, parent, seed)
        decisions = (stage.judge(candidate) for stage in self.stages)
        return [decision for decision in decisions if decision is not None]

    def rejects_exempt(self, url: str, depth: int = 0, parent: str = "") -> str | None:
        """Return the rule that refuses a URL exempt from rules about domains, ports, paths and URIs, or None.

        The limit to usual ports holds for it, too.
        """
        candidate = Candidate(url, depth, parent=parent, rules_hold=False)
        decisions = (stage.judge(candidate) for stage in self.stages)
        return next((d.rule for d in decisions if d is not None and not d.accept), None)

    def follow_only(self, url: str) -> str | None:
        """Return the rule that keeps an admitted URL out of the index although its links are followed, or None."""
        return self.index_refusal(self._origin_of(url), url)

    def exclusion(self, url: str) -> str | None:
        """Return the rule that excludes a URL or its scheme, or None; applies to sitemaps and parts of pages too."""
        origin, path = self._origin_of(url), path_of(url)
        return (
            origin.scheme_refusal
            or self.extensions.find(path)
            or origin.excluded
            or self._left_port(origin, url)
            or origin.excluded_port
            or (origin.paths.exclusion(path) if origin.paths is not None else None)
            or self.uri_exclusion(url)
        )

    def rejects_redirect(self, url: str, parent: str) -> str | None:
        """Return the rule (scheme, port, `fwdredirects`) that refuses even a redirect that may leave the boundary."""
        origin = self._origin_of(url)
        return (
            origin.scheme_refusal
            or self._left_port(origin, url)
            or self.link_refusal(origin, LinkKind.REDIRECT, parent)
        )

    def link_depth(self, url: str, parent: str, parent_depth: int, kind: LinkKind = LinkKind.A) -> int:
        """Return the depth of a URL found in a page at `parent_depth`: a redirect adds nothing.

        With `reset_level` a link to another host name resets the depth to 0.
        """
        if kind in REDIRECTS:
            return parent_depth
        if self.rules.mode.reset_level and host_of(url) != host_of(parent):
            return 0
        return parent_depth + 1

    def has_unusual_port(self, url: str) -> bool:
        """Return whether nothing is requested of the port of a URL because no start URL and no rule names it."""
        return self._origin_of(url).unusual_port is not None

    @property
    def left_ports(self) -> list[str]:
        """Some ports of hosts inside, as `host:port`, that were left because no start URL and no rule names them."""
        return list(self.judge.left_ports)

    @property
    def needs_addresses(self) -> bool:
        """Whether rules match the IP addresses of hosts, so that a new host may need a DNS look-up."""
        return self.judge.needs_addresses or any(area.needs_addresses for area in self.areas)

    def depends_on_route(self, rule: str) -> bool:
        """Return whether a refusal depends on depth or referrer of the URL, so that it must not be cached."""
        return rule in _LINK_RULES or rule == self.depth_rule

    def _left_port(self, origin: Origin, url: str) -> str | None:
        """Return why nothing is requested of the port of a URL, and note it also if its host is outside; or None."""
        if origin.unusual_port is not None:
            self.judge.leave(origin.host, split(url).port)
        return origin.unusual_port

    def _own_refusal(self, candidate: Candidate) -> str | None:
        decisions = (stage.judge(candidate) for stage in self._own)
        return next((d.rule for d in decisions if d is not None and not d.accept), None)

    def _origin_of(self, url: str) -> Origin:
        name = url[: len(url) - len(path_of(url))]
        return self._origins.get(name) or self._judge_origin(name, url)

    def _judge_origin(self, name: str, url: str) -> Origin:
        if len(self._origins) >= MAX_ORIGINS:
            self._origins.clear()
        origin = self._origins[name] = self.judge.judge(url)
        return origin
