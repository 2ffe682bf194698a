"""How single requests outside a crawl are bounded: by the same rules as the crawl of their source."""

from __future__ import annotations

from ultracrawl.crawl.transport.host_addresses import seed_addresses
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.service.asking import ProbeClient
from ultracrawl.sources import DataSource, Project, compile_source


def probe_client_of(source: DataSource, project: Project) -> ProbeClient:
    """Return the client for single requests of a source: with its headers, and only to addresses that it may reach."""
    rules = compile_source(source, project)
    networks = [str(network) for network in source.boundary.networks]
    policy = AddressPolicy.for_source(seed_addresses(rules.own), networks)
    return ProbeClient(policy, rules.headers, source.limits.timeout)
