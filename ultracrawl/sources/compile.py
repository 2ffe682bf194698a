"""From a data source to the compiled rules that its crawl asks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from ultracrawl.attributes import AttributeMap, attribute_schema
from ultracrawl.boundary.addresses import AddressPolicy
from ultracrawl.boundary.boundary import Boundary
from ultracrawl.boundary.redirects import RedirectPolicy
from ultracrawl.boundary.rewrite_rules import RewriteRules
from ultracrawl.boundary.rewriting_policy import RewritingPolicy
from ultracrawl.boundary.rules import (
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
from ultracrawl.boundary.site import Addresses, no_addresses
from ultracrawl.content import Acceptance, IndexPermission, PageReader
from ultracrawl.duplicates import Fingerprints
from ultracrawl.robots.policy import RobotsPolicy
from ultracrawl.sources import extraction
from ultracrawl.sources.definition import DataSource, Project
from ultracrawl.sources.patterns import Pattern
from ultracrawl.sources.sections import LimitsSection
from ultracrawl.urls import UrlPolicy, host_of


@dataclass(frozen=True, slots=True)
class CompiledSource:
    """The rules of one source, each an object that answers."""

    name: str
    seeds: tuple[str, ...]
    """Canonical start URLs, each once, in their order; texts that are no URL are left out."""
    url_policy: UrlPolicy
    """How URLs as written become those that are fetched, rewrite rules included."""
    boundary: Boundary
    redirects: RedirectPolicy
    addresses: AddressPolicy
    robots: RobotsPolicy
    attributes: AttributeMap
    acceptance: Acceptance
    """Which answers become pages."""
    reader: PageReader
    permission: IndexPermission
    """Which wishes of pages about the index are obeyed."""
    fingerprints: Fingerprints | None
    """What of a page is compared with other pages; None if duplicates are indexed like all documents."""
    limits: LimitsSection
    depth_limit: int | None
    """Most link steps from a seed; None is no limit."""
    headers: Mapping[str, str]
    """Headers of every request."""
    scope: str
    """Changes if and only if the definition lets other URLs in than before."""
    recipe: str
    """Changes when the definition makes other documents of the same pages than before."""


def compile_source(
    source: DataSource, project: Project | None = None, addresses: Addresses = no_addresses
) -> CompiledSource:
    """Compile a source; `project` adds its own search attributes, `addresses` looks up hosts for address masks.

    Raises `RuleError` for a rule that cannot be used; what was loaded without fatal findings compiles.
    """
    policy = compile_url_policy(source)
    seeds = tuple(dict.fromkeys(_canonical(source, policy)))
    schema = project.schema_attributes if project else attribute_schema()
    return CompiledSource(
        name=source.name,
        seeds=seeds,
        url_policy=policy,
        boundary=compile_boundary(source, addresses),
        redirects=RedirectPolicy(strict=source.redirects == "strict", max_hops=source.limits.redirects),
        addresses=compile_addresses(source, seeds),
        robots=compile_robots(source),
        attributes=AttributeMap(
            extraction.mapping(source.attributes, source.extract, schema),
            schema,
            source.description_fallback,
            source.default_language,
            extraction.made_values(source.extract),
        ),
        acceptance=compile_acceptance(source),
        reader=PageReader(
            link_kinds=source.links.kinds,
            link_types=source.links.types,
            robots_name=source.robots.name,
            default_charset=source.default_charset,
            picks=extraction.page_picks(source.extract),
        ),
        permission=IndexPermission(source.robots.meta, frozenset(source.robots.obey_reservations)),
        fingerprints=compile_fingerprints(source),
        limits=source.limits,
        depth_limit=source.depth,
        headers={
            "User-Agent": source.user_agent,
            "Accept": _accept((*source.types, *source.follow_only_types)),
        },
        scope=_scope(source),
        recipe=_recipe(source),
    )


def compile_url_policy(source: DataSource) -> UrlPolicy:
    """Return how URLs of a source are rewritten and become canonical."""
    policy = UrlPolicy(
        sort_query_params=source.urls.sort_query_params,
        remove_params=source.urls.removed_names,
        max_length=source.limits.url_length,
        schemes=frozenset(source.boundary.schemes),
    )
    if not source.urls.rewrite_rules:
        return policy
    return RewritingPolicy(
        policy.sort_query_params,
        policy.remove_params,
        policy.max_length,
        schemes=policy.schemes,
        rules=RewriteRules(source.urls.rewrite_rules),
    )


def compile_boundary(source: DataSource, addresses: Addresses = no_addresses) -> Boundary:
    """Return the boundary of a source. Raises `RuleError`."""
    section = source.boundary
    other_hosts = section.other_hosts
    rules = BoundaryRules(
        domains=tuple(_domain_rules(source)),
        uris=tuple(_uri_rules(source)),
        paths=tuple(
            PathRules(host, rules.include, rules.exclude, rules.follow_only)
            for host, rules in section.paths.items()
        ),
        ports=tuple(PortRules(host, rules.include, rules.exclude) for host, rules in section.ports.items()),
        schemes=frozenset(section.schemes),
        exclude_extensions=section.exclude_extensions,
        max_uri_recursion=source.urls.max_uri_recursion,
        mode=CrawlMode(source.depth, other_hosts.links, other_hosts.redirects, other_hosts.reset_depth),
        combine=Combine(section.combine),
        index_dynamic=section.index_dynamic,
        seeds_exempt=section.start_urls_exempt,
    )
    return Boundary(rules, policy=compile_url_policy(source).without_rewriting, addresses=addresses)


def compile_robots(source: DataSource) -> RobotsPolicy:
    """Return how a source follows robots.txt."""
    robots = source.robots
    return RobotsPolicy(
        obey=robots.obey,
        name=robots.name,
        ttl=robots.ttl,
        timeout=robots.timeout,
        auth_ignore=robots.auth_ignore,
        timeout_ignore=robots.timeout_ignore,
        obey_delay=robots.obey_delay,
    )


def compile_acceptance(source: DataSource) -> Acceptance:
    """Return which answers become pages. Raises `PatternError`."""
    return Acceptance(
        source.types,
        follow_only=source.follow_only_types,
        detect=source.detect_types,
        cut_off=source.cut_off,
        truncate=source.truncate,
        exclude_headers=source.exclude_headers,
    )


def compile_fingerprints(source: DataSource) -> Fingerprints | None:
    """Return how pages of a source are compared, None if they are not."""
    section = source.duplicates
    if not section.detect:
        return None
    return Fingerprints(section.by == "text", section.meta, section.cut_off, section.near, section.near_words)


def compile_addresses(source: DataSource, seeds: Iterable[str]) -> AddressPolicy:
    """Return which addresses may be connected to: public ones, own networks, seeds that are addresses."""
    networks = [str(network) for network in source.boundary.networks]
    return AddressPolicy.for_source([host_of(seed) for seed in seeds], networks)


def _canonical(source: DataSource, policy: UrlPolicy) -> Iterator[str]:
    for url in source.start_urls:
        canonical = policy.canonical(url)
        if canonical is not None:
            yield canonical


def _domain_rules(source: DataSource) -> Iterator[DomainRule]:
    domains = source.boundary.domains
    include: Iterable[Pattern] = domains.include
    if not domains.include:
        hosts = dict.fromkeys(map(host_of, _canonical(source, compile_url_policy(source))))
        include = [Pattern(Kind.EXACT, host) for host in hosts]
    if not any(pattern.every_host for pattern in include):
        yield from (DomainRule(pattern.kind, pattern.text) for pattern in include)
    yield from (DomainRule(pattern.kind, pattern.text, Action.EXCLUDE) for pattern in domains.exclude)


def _uri_rules(source: DataSource) -> Iterator[UriRule]:
    uris = source.boundary.uris
    for action, patterns in (
        (Action.INCLUDE, uris.include),
        (Action.EXCLUDE, uris.exclude),
        (Action.FOLLOW_ONLY, uris.follow_only),
    ):
        yield from (UriRule(pattern.kind, pattern.text, action) for pattern in patterns)


def _accept(types: Iterable[str]) -> str:
    return ", ".join([*types, "*/*;q=0.1"])


def _scope(source: DataSource) -> str:
    """Digest everything that decides which URLs are inside; the start URLs count by the hosts they let in."""
    section = source.boundary.model_dump(mode="json", exclude={"networks"})
    urls = source.urls.model_dump(mode="json")
    section["ports"] = {
        host: [sorted(rules.include), sorted(rules.exclude)] for host, rules in source.boundary.ports.items()
    }
    hosts = [] if source.boundary.domains.include else sorted(str(rule) for rule in _domain_rules(source))
    text = json.dumps([section, urls, hosts, source.depth, source.limits.url_length], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:32]


_NO_RECIPE = {
    "name",
    "start_urls",
    "boundary",
    "urls",
    "depth",
    "redirects",
    "sitemaps",
    "politeness",
    "limits",
    "user_agent",
    "settings",
    "log",
    "storage",
}
"""What decides which pages are fetched and how, but not what becomes of them; a new option is not among these."""


_NO_RECIPE_ROBOTS = {"obey_delay", "ttl", "timeout", "timeout_ignore", "auth_ignore"}
"""The same among the options about robots."""


def _recipe(source: DataSource) -> str:
    text = source.model_dump_json(exclude={**dict.fromkeys(_NO_RECIPE, True), "robots": _NO_RECIPE_ROBOTS})
    return sha256(text.encode()).hexdigest()[:32]
