"""Compiles the URL policy (canonical form, rewriting, aliases), the boundary and the address guard of a source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import starmap

from ultracrawl.rules.boundary.addresses import AddressPolicy, IntranetHosts
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.matcher import Addresses, AreaRules, no_addresses
from ultracrawl.rules.boundary.rewriting.rewrite_rules import RewriteRule, RewriteRules
from ultracrawl.rules.boundary.rewriting.rewriting_policy import AliasPolicy, RewritingPolicy
from ultracrawl.rules.boundary.rules import (
    ANY_HOST,
    Action,
    BoundaryRules,
    Combine,
    CrawlMode,
    DomainRule,
    Kind,
    PathRules,
    PortRules,
    UriRule,
)
from ultracrawl.rules.urls.canonical import (
    DEFAULT_POLICY,
    DEFAULT_PORTS,
    UrlPolicy,
    host_of,
    same_site_ports,
    split,
)
from ultracrawl.rules.urls.normalise import NO_STEPS, Normaliser
from ultracrawl.rules.urls.registrable import is_public_suffix
from ultracrawl.rules.urls.site_table import SiteTable
from ultracrawl.sources.compilation.overrides import overlay_sources
from ultracrawl.sources.compilation.plugin_stages import plugin_stages
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.kinds import kind_schemes
from ultracrawl.sources.patterns import Pattern
from ultracrawl.sources.sections.scope.boundary import AreaSection

FOLD_WWW = RewriteRule(r"^(?i)([a-z]+://)www[0-9]+\.", r"\1www.")
"""The rewrite rule of `filters.fold_www`: `www1`, `www2`... become `www` (portal robot 12.2)."""
_WHOLE_HOST = re.compile(r"[a-z]+://[^/?#]+[/?#]", re.IGNORECASE)
"""The beginning of a URL up to the end of its host."""


def compile_url_policy(source: DataSource) -> UrlPolicy:
    """Return the policy that rewrites URLs of a source and makes them canonical."""
    policy = UrlPolicy(
        normaliser=_normaliser(source),
        own_normalisers=_own_normalisers(source),
        max_length=source.limits.url_length,
        keep_fragment="routes" if source.javascript.hash_routes else False,
        schemes=frozenset(source.boundary.schemes) | kind_schemes(source.type),
    )
    rules = (*source.urls.rewrite_rules, *([FOLD_WWW] if source.filters.fold_www else []))
    if rules:
        policy = RewritingPolicy(
            policy.normaliser,
            policy.max_length,
            policy.keep_fragment,
            policy.schemes,
            policy.own_normalisers,
            rules=RewriteRules(rules),
        )
    return AliasPolicy.around(policy, source.sites.aliases) if source.sites.aliases else policy


def _normaliser(source: DataSource) -> Normaliser:
    """Return the steps of a source; its start URLs say whether hosts have `www.`."""
    urls = source.urls
    if not (urls.normalise or urls.remove_params):
        return NO_STEPS
    hosts = map(host_of, canonical_urls(source.seed_urls, DEFAULT_POLICY)) if "www" in urls.normalise else ()
    return Normaliser(urls.normalise, urls.remove_params, hosts)


def _own_normalisers(source: DataSource) -> SiteTable[Normaliser] | None:
    """Return the steps of the sites that have their own."""
    own = {
        key: _normaliser(there)
        for key, (_, there, options) in overlay_sources(source).items()
        if any(option.startswith("urls.") for option in options)
    }
    return SiteTable(own) if own else None


def compile_boundary(source: DataSource, addresses: Addresses = no_addresses) -> Boundary:
    """Return the boundary of a source. Raises `RuleError`, or `UserError` for a stage of a plug-in."""
    section = source.boundary
    other_hosts = section.other_hosts
    rules = BoundaryRules(
        domains=tuple(domain_rules(source)),
        uris=tuple(_uri_rules(source)),
        paths=tuple(_path_rules(source)),
        ports=tuple(PortRules(host, rules.include, rules.exclude) for host, rules in section.ports.items()),
        usual_ports=usual_ports(source),
        schemes=frozenset(section.schemes) | kind_schemes(source.type),
        exclude_extensions=section.exclude_extensions,
        max_uri_recursion=source.urls.max_uri_recursion,
        mode=CrawlMode(source.depth, other_hosts.links, other_hosts.redirects, other_hosts.reset_depth),
        combine=Combine(section.combine),
        index_dynamic=section.index_dynamic,
        seeds_exempt=section.start_urls_exempt,
    )
    return Boundary(
        rules,
        policy=compile_url_policy(source).without_rewriting,
        addresses=addresses,
        areas=starmap(_area, section.elsewhere.items()),
        own=plugin_stages(section.stages, f"source {source.name!r}"),
    )


def _area(owner: str, area: AreaSection) -> AreaRules:
    hosts = () if any(pattern.every_host for pattern in area.hosts) else area.hosts
    return AreaRules(
        owner,
        tuple(DomainRule(pattern.kind, pattern.text) for pattern in hosts),
        tuple(UriRule(pattern.kind, pattern.text) for pattern in area.uris),
        tuple(DomainRule(pattern.kind, pattern.text) for pattern in area.except_hosts),
        tuple(UriRule(pattern.kind, pattern.text) for pattern in area.except_uris),
    )


def canonical_urls(urls: Iterable[str], policy: UrlPolicy) -> Iterator[str]:
    """Yield the canonical forms of URLs, skipping invalid URLs."""
    for url in urls:
        canonical = policy.canonical(url)
        if canonical is not None:
            yield canonical


def domain_rules(source: DataSource) -> Iterator[DomainRule]:
    """Yield the host rules of a source; without inclusions, the hosts of the seed URLs are included."""
    domains = source.boundary.domains
    include: Iterable[Pattern] = domains.include
    if not domains.include:
        hosts = dict.fromkeys(map(host_of, canonical_urls(source.seed_urls, compile_url_policy(source))))
        include = [Pattern(Kind.EXACT, host) for host in hosts]
    if not any(pattern.every_host for pattern in include):
        yield from (DomainRule(pattern.kind, pattern.text) for pattern in include)
    yield from (DomainRule(pattern.kind, pattern.text, Action.EXCLUDE) for pattern in domains.exclude)


def usual_ports(source: DataSource) -> frozenset[int]:
    """Return the ports that a source may crawl without a rule: those of its start URLs, and of its schemes.

    A page, a redirect or an editor could have the crawl try the ports of a host otherwise, of this machine as well. No
    ports for a source without start URLs: its lister, its class or another source names its URLs.
    """
    seeds = [*canonical_urls(source.seed_urls, compile_url_policy(source))]
    if not seeds:
        return frozenset()
    schemes = (DEFAULT_PORTS.get(scheme, 0) for scheme in source.boundary.schemes)
    return same_site_ports(DEFAULT_PORTS["http"]) | {*schemes} | {split(url).port for url in seeds}


def _path_rules(source: DataSource) -> Iterator[PathRules]:
    if source.only or source.exclude:
        yield PathRules(ANY_HOST, source.only, source.exclude, option="only")
    for host, rules in source.boundary.paths.items():
        yield PathRules(host, rules.include, rules.exclude, rules.follow_only)


def _uri_rules(source: DataSource) -> Iterator[UriRule]:
    uris = source.boundary.uris
    for action, patterns in (
        (Action.INCLUDE, uris.include),
        (Action.EXCLUDE, uris.exclude),
        (Action.FOLLOW_ONLY, uris.follow_only),
    ):
        yield from (UriRule(pattern.kind, pattern.text, action) for pattern in patterns)


def compile_addresses(source: DataSource, trusted_urls: Iterable[str]) -> AddressPolicy:
    """Return the addresses that may be connected to.

    Public ones, `networks`, addresses among trusted URLs, and with `intranet_hosts` private ones of named hosts.
    """
    networks = [str(network) for network in source.boundary.networks]
    policy = AddressPolicy.for_source([host_of(url) for url in trusted_urls], networks)
    return replace(policy, intranet=_intranet_hosts(source, trusted_urls))


def _intranet_hosts(source: DataSource, trusted_urls: Iterable[str]) -> IntranetHosts:
    """Return the hosts that a source names with `boundary.intranet_hosts`; none if it is off.

    A beginning, an expression or a mask names no host. A suffix means the names below it, whole labels only, and a
    public suffix none, because anybody can register a name there.
    """
    if not source.boundary.intranet_hosts:
        return IntranetHosts()
    included = [rule for rule in domain_rules(source) if rule.action is Action.INCLUDE]
    exact = {rule.text for rule in included if rule.kind is Kind.EXACT}
    exact.update(map(host_of, (*trusted_urls, *_named_urls(source))))
    domains = (rule.text.strip(".").lower() for rule in included if rule.kind in {Kind.SUFFIX, Kind.DOMAIN})
    own = dict.fromkeys(domain for domain in domains if domain and not is_public_suffix(domain))
    return IntranetHosts(frozenset(host.lower() for host in exact if host), tuple(own))


def _named_urls(source: DataSource) -> Iterator[str]:
    """Yield the URLs of log-ins, and those of which rules spell the whole host."""
    for login in source.logins.values():
        yield from (url for url in (login.preload, login.page, login.action) if url)
    for pattern in source.boundary.uris.include:
        if pattern.kind is Kind.EXACT or (
            pattern.kind is Kind.PREFIX and _WHOLE_HOST.match(pattern.text) is not None
        ):
            yield pattern.text
