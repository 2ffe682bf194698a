"""Exports the hosts of a source as site definitions, with rules for their paths and ports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.matcher import normalise_host
from ultracrawl.rules.boundary.rules import ANY_HOST, DomainRule, Kind, PathRules, PortRules
from ultracrawl.rules.filters.matching import By, Match
from ultracrawl.rules.filters.rules import FilterRule, SiteDefinition, SiteHost, SiteKind, StartingPoint, Use
from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.sources.dialects.portal_robot.export.expressions import (
    ANYTHING,
    host_expression,
    path_expression,
    path_text,
    urls_of_ports,
)

_ALL = Match("url", By.REGEX, ANYTHING)


class SiteMaker:
    """Creates a site for each included host and domain; hosts with rules of their own get a site before their domain.

    The rules of a site are: its exclusions; its inclusions, if there are any; then the exclusion of everything else.
    """

    def __init__(self, boundary: Boundary, include: Sequence[DomainRule], seeds: Iterable[str]) -> None:
        self._boundary = boundary
        self._rules = rules = boundary.rules
        self.rules: list[FilterRule] = []
        """The filter rules of the sites."""
        domains = [_name(rule) for rule in include if rule.kind is Kind.DOMAIN]
        exact = dict.fromkeys(_name(rule) for rule in include if rule.kind is Kind.EXACT)
        own = [*(rule.host for rule in rules.paths), *(rule.host for rule in rules.ports)]
        for host in map(normalise_host, own):
            if any(host == domain or host.endswith(f".{domain}") for domain in domains):
                exact.setdefault(host)
        self.sites = [self._site(host, SiteKind.SERVER) for host in exact if host != ANY_HOST]
        self.sites += [self._site(domain, SiteKind.DOMAIN) for domain in dict.fromkeys(domains)]
        for url in seeds:
            self._start(url)
        self.sites = [_with_start(site) for site in self.sites]

    def _site(self, name: str, kind: SiteKind) -> SiteDefinition:
        own = name if kind is SiteKind.SERVER else ANY_HOST
        paths = [rule for rule in self._rules.paths if normalise_host(rule.host) in (own, ANY_HOST)]
        ports = self._ports_of(own)
        hosts = host_expression(DomainRule(Kind.EXACT if own == name else Kind.DOMAIN, name))
        label = name if kind is SiteKind.SERVER else f"{name} and below"
        uses = [*self._excluding(label, hosts, paths, ports), *self._including(label, hosts, paths, ports)]
        return SiteDefinition(
            label, kind, hosts=(SiteHost(name.strip("[]")),), uses=tuple(Use(rule.name) for rule in uses)
        )

    def _ports_of(self, host: str) -> list[PortRules]:
        """Return the port rules of a host; those for every host if it has none."""
        own = [rule for rule in self._rules.ports if normalise_host(rule.host) == host]
        return own or [rule for rule in self._rules.ports if rule.host == ANY_HOST]

    def _excluding(
        self, label: str, hosts: str, paths: Sequence[PathRules], ports: Sequence[PortRules]
    ) -> list[FilterRule]:
        matches = [
            Match("path", By.BEGINS_WITH, path_text(prefix)) for rule in paths for prefix in rule.exclude
        ]
        closed = {port for rule in ports for port in rule.exclude}
        if closed:
            matches.append(Match("url", By.REGEX, urls_of_ports(hosts, closed)))
        return [self._rule(f"{label}: outside", matches)] if matches else []

    def _including(
        self, label: str, hosts: str, paths: Sequence[PathRules], ports: Sequence[PortRules]
    ) -> list[FilterRule]:
        opened = [rule for rule in ports if rule.include]
        prefixes = [prefix for rule in paths for prefix in (*rule.include, *rule.follow_only)]
        if not any(rule.include for rule in paths):
            prefixes = []
        if not opened and not prefixes:
            return []
        path = path_expression(prefixes) if prefixes else f"/{ANYTHING}"
        matches = [Match("url", By.REGEX, urls_of_ports(hosts, rule.include, path)) for rule in opened]
        if not opened:
            matches = [Match("path", By.BEGINS_WITH, path_text(prefix)) for prefix in prefixes]
        return [
            self._rule(f"{label}: inside", matches, includes=True),
            self._rule(f"{label}: all else", [_ALL]),
        ]

    def _rule(self, name: str, matches: Iterable[Match], *, includes: bool = False) -> FilterRule:
        rule = FilterRule(name, tuple(matches), default=False, includes=includes)
        self.rules.append(rule)
        return rule

    def _start(self, url: str) -> None:
        """Add a starting point to the first site with its host, else a new site that includes nothing else."""
        host = host_of(url).strip("[]")
        for number, site in enumerate(self.sites):
            (own,) = site.hosts
            if host == own.name or (site.kind is SiteKind.DOMAIN and host.endswith(f".{own.name}")):
                self.sites[number] = replace(site, starts=(*site.starts, StartingPoint(url)))
                return
        rules = [self._rule(f"start {url}: all else", [_ALL])]
        if self._boundary.rejects(url, seed=True) is None:
            rules.insert(0, self._rule(f"start {url}", [Match("url", By.IS, url)], includes=True))
        uses = tuple(Use(rule.name) for rule in rules)
        self.sites.append(
            SiteDefinition(host, hosts=(SiteHost(host),), starts=(StartingPoint(url),), uses=uses)
        )


def _name(rule: DomainRule) -> str:
    return normalise_host(rule.text.strip().removeprefix("*").removeprefix("."))


def _with_start(site: SiteDefinition) -> SiteDefinition:
    """Return the site with a disabled starting point if it has none; otherwise it would begin at `http://name/`."""
    if site.starts:
        return site
    start = StartingPoint(f"http://{site.hosts[0].name}/", enabled=False)
    return replace(site, starts=(start,))
