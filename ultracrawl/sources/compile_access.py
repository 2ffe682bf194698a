"""From the options about access to what a crawl asks; secrets are read here, when a crawl begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ultracrawl.access import Credential, CredentialBook, UrlPrefix, basic_answer
from ultracrawl.access.proxies import Proxy, ProxyRoster
from ultracrawl.boundary.matcher import DomainTable
from ultracrawl.boundary.rules import DomainRule
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.secrets import SecretReader


def compile_credentials(source: DataSource, seeds: Iterable[str], secrets: SecretReader) -> CredentialBook:
    """Return the credentials of a source. Raises `UserError` for a secret that cannot be read."""
    return CredentialBook(_credentials(source, sites_of(seeds), secrets))


def compile_proxies(source: DataSource, secrets: SecretReader) -> tuple[ProxyRoster, DomainTable]:
    """Return the proxies of a source, and which hosts are reached without. Raises `UserError`."""
    section = source.proxy
    bypass = DomainTable(DomainRule(pattern.kind, pattern.text) for pattern in section.bypass)
    return ProxyRoster(_proxies(source, secrets), section.rest), bypass


def proxy_addresses(source: DataSource) -> Iterator[str]:
    """Yield the URL of each proxy of a source."""
    return (server.url for server in source.proxy.servers.values())


def _proxies(source: DataSource, secrets: SecretReader) -> Iterator[Proxy]:
    for name, server in source.proxy.servers.items():
        answer = ""
        if server.password is not None:
            password = secrets.read(server.password, f"proxy.servers.{name}.password")
            answer = basic_answer(server.user, password)
        yield Proxy(name, server.url, answer, server.connections)


def sites_of(seeds: Iterable[str]) -> tuple[UrlPrefix, ...]:
    """Return the sites of canonical start URLs, each once."""
    return tuple(dict.fromkeys(UrlPrefix.parse(seed).site for seed in seeds))


def _credentials(
    source: DataSource, sites: tuple[UrlPrefix, ...], secrets: SecretReader
) -> Iterator[Credential]:
    for name, entry in source.authentication.items():
        yield Credential(
            name,
            (UrlPrefix.parse(entry.url),) if entry.url else sites,
            entry.scheme,
            entry.user,
            secrets.read(entry.password, f"authentication.{name}.password"),
            entry.realm,
            by_realm=entry.url is None,
        )
