"""Whether a new version of a source reaches more of private networks, or sends passwords to more sites."""

from __future__ import annotations

from collections.abc import Iterator

from ultracrawl.rules.boundary.masks import parse_address
from ultracrawl.rules.urls.canonical import host_of, split
from ultracrawl.run.transport.host_addresses import addresses_of
from ultracrawl.sources import CompiledSource, DataSource, Project, compile_source

_NOT_SENT = frozenset({"cookies.enabled"})
"""Login options that send nothing to a site that it has not sent itself."""


def wider_reach(project: Project, before: DataSource, after: DataSource) -> Iterator[str]:
    """Yield why a new version must be written into its file: start URLs are trusted, and names in the boundary may be.

    Start URLs may have private addresses, and passwords without a URL are sent to their sites. So the sites of new ones
    must be public, and there must be no such password.
    """
    was, now = compile_source(before, project), compile_source(after, project)
    secrets = [name for name in after.login_options if name not in _NOT_SENT]
    if secrets and (added := sorted(_sites(now) - _sites(was))):
        yield f"`{secrets[0]}` might be sent to {added[0]}, which is no site of a start URL yet"
    for host in sorted(_hosts(now) - _hosts(was)):
        addresses = (host.strip("[]"),) if parse_address(host) else addresses_of(host)
        if not addresses:
            yield f"{host} has no address: a new host of a start URL has to be public"
        elif refusal := next(filter(None, (was.addresses.refuses(one, host) for one in addresses)), None):
            yield f"{host} is not public ({refusal})"
    more = set(now.addresses.intranet) - set(was.addresses.intranet)
    if more - _hosts(now):
        yield f"{min(more - _hosts(now))} might have private addresses (`boundary.intranet_hosts`)"


def other_machines(before: Project, after: Project) -> Iterator[str]:
    """Yield why new schedules must be written into their file: on which machine a source is crawled stays."""
    for name in after.sources:
        if after.profile_of(name) != before.profile_of(name):
            yield f"`{name}` would be crawled on another machine (`profile` of its schedule)"
        if name in before.sources and after.node_of(name) != before.node_of(name):
            yield f"`{name}` would be crawled by another node (`node`)"


def _hosts(rules: CompiledSource) -> set[str]:
    return {host_of(url) for url in rules.trusted_urls}


def _sites(rules: CompiledSource) -> set[str]:
    """Return scheme, host and port of all trusted URLs: passwords that go by https do not go by http."""
    parts = (split(url) for url in rules.trusted_urls)
    return {f"{one.scheme}://{one.host}:{one.port}" for one in parts}
