"""Compiles the sections `politeness`, `sites` and `priority` for the frontier."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ultracrawl.rules.boundary.matcher import Addresses, DomainTable, UriTable, no_addresses
from ultracrawl.rules.boundary.rules import DomainRule, Kind, UriRule
from ultracrawl.rules.frontier.grouping import Grouping
from ultracrawl.rules.frontier.level_rules import LevelRule, LevelRules
from ultracrawl.rules.frontier.levels import LevelSelector
from ultracrawl.rules.frontier.politeness.backoff import BackOff
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.frontier.politeness.windows import Span, Week
from ultracrawl.rules.urls.canonical import UrlPolicy
from ultracrawl.rules.urls.registrable import widest_own_domain
from ultracrawl.rules.urls.site_table import NO_SITES, SiteTable
from ultracrawl.sources.compilation.sites import SiteOverlay
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.patterns import Pattern


def compile_pace(source: DataSource, overlays: SiteTable[SiteOverlay] = NO_SITES) -> Pace:
    """Return the politeness rules of a source; `overlays` has those of single sites."""
    section = source.politeness
    spans = (
        Span.parse(name, None if delay == "suspend" else delay)
        for name, delay in section.variable_delay.items()
    )
    concurrency = min(section.concurrency, source.limits.pages_per_site or section.concurrency)
    return Pace(
        section.delay,
        concurrency,
        per_address=section.per_address,
        week=Week(spans),
        backoff=BackOff(section.backoff.longest, section.backoff.limit),
        longest_retry_after=section.longest_retry_after,
        throttle=section.throttle,
        overlays=SiteTable({key: _named(overlay) for key, overlay in overlays.values.items()}),
    )


def _named(overlay: SiteOverlay) -> Pace:
    """Return the politeness rules of single sites; what decided their delay is the overlay only if it sets one."""
    return (
        replace(overlay.pace, origin=str(overlay)) if "politeness.delay" in overlay.options else overlay.pace
    )


def compile_levels(
    source: DataSource,
    seeds: Collection[str],
    policy: UrlPolicy,
    addresses: Addresses = no_addresses,
) -> LevelRules:
    """Return the rules that assign the URLs of a source to queue levels. Raises `RuleError`."""
    section, form = source.priority, policy.without_rewriting
    rules = (
        LevelRule(
            number,
            DomainTable(map(_host_rule, level.hosts)),
            UriTable((UriRule(pattern.kind, pattern.text) for pattern in level.uris), form),
        )
        for number, level in section.level.items()
    )
    return LevelRules(
        section.levels,
        default=section.default,
        start=section.start,
        rules=rules if section.put_scheme == "include" else (),
        seeds=seeds,
        addresses=addresses,
    )


def compile_level_selector(source: DataSource) -> LevelSelector:
    """Return the selector of the next queue level; it is stateful, so each crawl needs its own."""
    section = source.priority
    shares = [
        section.level[number].share if number in section.level else 1
        for number in range(1, section.levels + 1)
    ]
    return LevelSelector(section.levels, section.pop_scheme, shares)


def compile_grouping(source: DataSource) -> Grouping:
    """Return the rules that group hosts of a source (shared cookies)."""
    sites = source.sites
    return Grouping(sites.clusters, widest_own_domain if sites.domain_clustering else None)


def _host_rule(pattern: Pattern) -> DomainRule:
    return DomainRule(Kind.REGEXP, ".*") if pattern.every_host else DomainRule(pattern.kind, pattern.text)
