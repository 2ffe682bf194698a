"""Exports the boundary of a source as site definitions with rules, and as directives of both filters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.expressions import compile_pattern
from ultracrawl.rules.boundary.matcher import MASK_KINDS
from ultracrawl.rules.boundary.rules import (
    ANY_HOST,
    Action,
    Combine,
    DomainRule,
    Kind,
    PathRules,
    PatternError,
    PortRules,
)
from ultracrawl.rules.filters.rules import FilterRule, SiteDefinition
from ultracrawl.rules.urls.canonical import UrlPolicy
from ultracrawl.sources.dialects.portal_robot.export.expressions import (
    ANYTHING,
    any_of,
    extension_expression,
    host_expression,
    literal,
    open_ports,
    path_expression,
    urls_of_host,
    urls_of_ports,
    urls_of_rule,
)
from ultracrawl.sources.dialects.portal_robot.export.sites import SiteMaker
from ultracrawl.sources.dialects.portal_robot.export.writing import line

ADVICE = "keep the definition in YAML, or write a function of your own"


@dataclass
class Bounds:
    """The boundary of a source as site definitions, filter rules and directives of a portal robot."""

    sites: list[SiteDefinition] = field(default_factory=list)
    rules: list[FilterRule] = field(default_factory=list)
    both: list[str] = field(default_factory=list)
    """MetaData directives of both filters."""
    generation: list[str] = field(default_factory=list)
    """MetaData directives of the generation filter only: resources that are followed but not described."""
    omissions: list[tuple[str, str, str]] = field(default_factory=list)
    """Option, problem and advice for each rule that cannot be expressed."""


class BoundsWriter:
    """Translates boundary rules. With `sites`, hosts become site definitions where possible."""

    def __init__(self, boundary: Boundary, policy: UrlPolicy, seeds: Iterable[str], *, sites: bool) -> None:
        self._boundary = boundary
        self._rules = rules = boundary.rules
        self._policy = policy
        self._seeds = tuple(seeds)
        self._bounds = Bounds()
        self._include = list(self._hosts(Action.INCLUDE))
        named = all(rule.kind in (Kind.EXACT, Kind.DOMAIN) for rule in self._include)
        self._by_sites = sites and bool(self._include) and named and rules.combine is Combine.ALL

    def translate(self) -> Bounds:
        """Return the translated boundary."""
        self._schemes()
        if self._rules.exclude_extensions:
            self._deny(extension_expression(self._rules.exclude_extensions), source="path")
        self._excluded_hosts()
        if self._by_sites:
            maker = SiteMaker(self._boundary, self._include, self._seeds)
            self._bounds.sites, self._bounds.rules = maker.sites, maker.rules
        else:
            self._included_hosts()
            self._paths()
            self._ports()
        self._uris()
        self._followed()
        return self._bounds

    def _schemes(self) -> None:
        """Translate the schemes; a robot follows FTP if one of its starting points is on an FTP server."""
        usual = {"http", "https", *(["ftp"] if any(url.startswith("ftp:") for url in self._seeds) else [])}
        if not self._rules.schemes <= usual:
            self._omit("boundary.schemes", "`ftp` without a starting point on an FTP server")
        if not usual <= self._rules.schemes:
            self._allow(any_of(sorted(self._rules.schemes)), source="protocol")

    def _hosts(self, action: Action) -> Iterator[DomainRule]:
        for rule in self._rules.domains:
            if rule.action is not action:
                continue
            if rule.kind in MASK_KINDS:
                self._omit("boundary.domains", f"the rule for addresses `{rule.text}`")
            elif not (rule.kind is Kind.REGEXP and rule.text.strip() == ANYTHING):
                yield rule

    def _urls(self, rules: Iterable[DomainRule]) -> tuple[str, str]:
        """Return an expression for hosts, and the filter source that it applies to."""
        several = list(rules)
        hosts = any_of(map(host_expression, several))
        if any(rule.kind is Kind.REGEXP for rule in several):
            return hosts, "host"
        return urls_of_host(hosts), "url"

    def _excluded_hosts(self) -> None:
        excluded = list(self._hosts(Action.EXCLUDE))
        if excluded:
            self._deny(*self._urls(excluded))

    def _included_hosts(self) -> None:
        open_to_all = len(self._include) < sum(
            rule.action is Action.INCLUDE and rule.kind not in MASK_KINDS for rule in self._rules.domains
        )
        if self._rules.combine is Combine.ANY or open_to_all or not self._include:
            return
        expression, source = self._urls(self._include)
        seeds = list(map(literal, self._seeds)) if self._rules.seeds_exempt else []
        if source == "url":
            expression = any_of([expression, *seeds])
        self._allow(expression, source=source)

    def _paths(self) -> None:
        for rule in self._rules.paths:
            host = _host_of(rule)
            if rule.exclude:
                self._deny(urls_of_host(host, path_expression(rule.exclude)))
            if rule.follow_only:
                self._deny(urls_of_host(host, path_expression(rule.follow_only)), to=self._bounds.generation)
        including = [rule for rule in self._rules.paths if rule.include or rule.follow_only]
        if any(rule.include for rule in including):
            if all(rule.host == ANY_HOST for rule in including):
                prefixes = [prefix for rule in including for prefix in (*rule.include, *rule.follow_only)]
                self._allow(path_expression(prefixes), source="path")
            else:
                self._omit("boundary.paths", "paths to include, for single hosts")

    def _ports(self) -> None:
        if len({rule.host == ANY_HOST for rule in self._rules.ports}) > 1:
            self._omit("boundary.ports", "ports of single hosts beside those for every host")
            return
        for rule in self._rules.ports:
            if rule.exclude:
                self._deny(urls_of_ports(_host_of(rule), rule.exclude))
        including = [rule for rule in self._rules.ports if rule.include]
        if including and all(rule.host == ANY_HOST for rule in self._rules.ports):
            ports = {port for rule in including for port in rule.include}
            self._allow(urls_of_ports("[^/:]*", ports))
        elif including and not open_ports(including):
            self._omit("boundary.ports", "ports to include, for single hosts")

    def _uris(self) -> None:
        found = {action: self._uri_expressions(action) for action in Action}
        if found[Action.EXCLUDE]:
            self._deny(any_of(found[Action.EXCLUDE]))
        included = [*found[Action.INCLUDE], *found[Action.FOLLOW_ONLY]]
        if self._rules.combine is Combine.ANY and self._include:
            expression, source = self._urls(self._include)
            if source == "host":
                self._omit("boundary.combine", "expressions for hosts beside rules for URLs")
                return
            self._allow(any_of([expression, *included, *map(literal, self._seeds)]))
        elif found[Action.INCLUDE]:
            exempt = self._rules.combine is Combine.ANY and self._rules.seeds_exempt
            self._allow(any_of([*included, *(map(literal, self._seeds) if exempt else ())]))

    def _uri_expressions(self, action: Action) -> list[str]:
        return [urls_of_rule(rule, self._policy) for rule in self._rules.uris if rule.action is action]

    def _followed(self) -> None:
        """Deny resources in the generation filter that are only followed."""
        uris = self._uri_expressions(Action.FOLLOW_ONLY)
        if uris:
            self._deny(any_of(uris), to=self._bounds.generation)
        if not self._rules.index_dynamic:
            self._deny(r".*\?.*", to=self._bounds.generation)
        if self._by_sites:
            for rule in self._rules.paths:
                if rule.follow_only:
                    expression = urls_of_host(_host_of(rule), path_expression(rule.follow_only))
                    self._deny(expression, to=self._bounds.generation)

    # ---- directives

    def _allow(self, expression: str, source: str = "url") -> None:
        self._bounds.both.append(self._test("allow", expression, source))

    def _deny(self, expression: str, source: str = "url", to: list[str] | None = None) -> None:
        (self._bounds.both if to is None else to).append(self._test("deny", expression, source))

    def _test(self, verb: str, expression: str, source: str) -> str:
        """Return a directive, even if robots refuse its expression: without it more would be crawled."""
        try:
            compile_pattern(expression)
        except PatternError:
            problem = f"the robot does not accept the expression `{expression[:200]}`, and does not start"
            instead = "write it without look-around and back-references"
            self._bounds.omissions.append(("boundary", problem, instead))
        return line("MetaData", ("fn", "filter-by-regex"), ("src", source), (verb, expression))

    def _omit(self, option: str, what: str) -> None:
        self._bounds.omissions.append((option, f"{what} cannot be converted", ADVICE))


def _host_of(rule: PathRules | PortRules) -> str:
    if rule.host == ANY_HOST:
        return "[^/:]*"
    return host_expression(DomainRule(Kind.EXACT, rule.host))
