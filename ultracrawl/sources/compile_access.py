"""From the options about access to what a crawl asks; secrets are read here, when a crawl begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ultracrawl.access import Credential, CredentialBook, UrlPrefix
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.secrets import SecretReader


def compile_credentials(source: DataSource, seeds: Iterable[str], secrets: SecretReader) -> CredentialBook:
    """Return the credentials of a source. Raises `UserError` for a secret that cannot be read."""
    return CredentialBook(_credentials(source, sites_of(seeds), secrets))


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
