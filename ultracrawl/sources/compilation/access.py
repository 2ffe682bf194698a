"""Compiles the access options: credentials, logins, proxies, headers, certificates. Reads the secrets in them."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ultracrawl.errors import UserError
from ultracrawl.rules.access.credentials import ClientCertificate, Credential, CredentialStore, basic_answer
from ultracrawl.rules.access.login import Login
from ultracrawl.rules.access.prefix import UrlPrefix
from ultracrawl.rules.access.proxies import Proxy, ProxyPool
from ultracrawl.rules.boundary.matcher import DomainTable
from ultracrawl.rules.boundary.rules import DomainRule
from ultracrawl.rules.urls.canonical import host_of, site_of
from ultracrawl.rules.urls.site_table import SiteTable, site_key
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.secrets import SecretReader
from ultracrawl.sources.sections.fetching.authentication import AuthenticationEntry, LoginEntry


def compile_credentials(source: DataSource, seeds: Iterable[str], secrets: SecretReader) -> CredentialStore:
    """Return the credentials of a source. Raises `UserError` for a secret that cannot be read."""
    return _credentials(source, seeds, secrets)


def compile_logins(source: DataSource, secrets: SecretReader) -> list[Login]:
    """Return the form logins of a source. Raises `UserError`."""
    return [
        _login(
            name,
            entry,
            {
                field: secrets.read(value, f"logins.{name}.fields.{field}")
                for field, value in entry.fields.items()
            },
        )
        for name, entry in source.logins.items()
    ]


def logins_without_values(source: DataSource) -> list[Login]:
    """Return the form logins of a source as far as they say where they are, without what is filled in."""
    return [_login(name, entry, {}) for name, entry in source.logins.items()]


def _login(name: str, entry: LoginEntry, values: Mapping[str, str]) -> Login:
    form = host_of(entry.page or entry.action or "")
    options = entry.model_dump(exclude={"sites", "fields"})
    return Login(name, frozenset(entry.sites or (form,)), tuple(values.items()), **options)


def compile_proxies(source: DataSource, secrets: SecretReader) -> tuple[ProxyPool, DomainTable]:
    """Return the proxies of a source, and the hosts that bypass them. Raises `UserError`."""
    section = source.proxy
    bypass = DomainTable(DomainRule(pattern.kind, pattern.text) for pattern in section.bypass)
    return ProxyPool(_proxies(source, secrets), section.rest), bypass


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


def compile_site_headers(
    source: DataSource, secrets: SecretReader
) -> list[tuple[UrlPrefix, Mapping[str, str]]]:
    """Return the headers for each URL prefix. Raises `UserError`, also for values that are invalid in headers."""
    return [
        (
            UrlPrefix.parse(entry.url),
            {
                header: _header_value(secrets.read(value, place), place)
                for header, value in entry.headers.items()
                for place in [f"site_headers.{name}.headers.{header}"]
            },
        )
        for name, entry in source.site_headers.items()
    ]


def _header_value(value: str, place: str) -> str:
    if not value.isprintable() or not value.isascii():
        raise UserError(
            f"{place}: the value cannot be sent in a header; it has to be one line of plain ASCII text"
        )
    return value


def compile_certificates(
    source: DataSource, seeds: Iterable[str], secrets: SecretReader
) -> dict[tuple[str, int], ClientCertificate]:
    """Return the client certificate of each https site, by host and port. Raises `UserError`."""
    if source.http.ca is not None:
        _check_roots(source.http.ca)
    sites = [site for site in sites_of(seeds) if site.scheme == "https"]
    found: dict[tuple[str, int], ClientCertificate] = {}
    for name, entry in source.client_certificates.items():
        place = f"client_certificates.{name}"
        password = secrets.read(entry.password, f"{place}.password") if entry.password else ""
        key = entry.key or entry.certificate
        made = ClientCertificate(str(entry.certificate), str(key), password)
        _check_pair(made, place)
        for site in [UrlPrefix.parse(entry.url)] if entry.url else sites:
            found.setdefault((site.host, site.port), made)
    return found


def _check_roots(file: Path) -> None:
    """Load root certificates once, so that a mistake in them is reported before the first handshake."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except FileNotFoundError:
        raise UserError(f"http.ca: {file} is not there") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or "it is no PEM file"
        raise UserError(f"http.ca: {file} cannot be used: {reason}") from None


def _check_pair(pair: ClientCertificate, place: str) -> None:
    """Load certificate and key once, so that a mistake in them is reported before the first handshake."""
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_cert_chain(pair.certificate, pair.key, lambda: pair.password)
    except FileNotFoundError:
        raise UserError(f"{place}: {pair.certificate} or {pair.key} is not there") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or "they are no PEM files"
        raise UserError(f"{place}: certificate and key cannot be used: {reason}") from None


def sites_of(seeds: Iterable[str]) -> tuple[UrlPrefix, ...]:
    """Return the http and https sites of canonical start URLs, each once."""
    return tuple(dict.fromkeys(UrlPrefix.parse(seed).site for seed in seeds if seed.startswith("http")))


def credentials_without_passwords(source: DataSource, seeds: Iterable[str]) -> CredentialStore:
    """Return the credentials of a source with empty passwords, to find the one for a URL without reading secrets."""
    return _credentials(source, seeds, None)


def _credentials(source: DataSource, seeds: Iterable[str], secrets: SecretReader | None) -> CredentialStore:
    own = [*seeds]
    sites = sites_of(own)
    whole, by_site = list[Credential](), dict[str, tuple[Credential, ...]]()
    for path, entry in source.password_entries:
        option = ".".join(map(str, path))
        url = entry.url if isinstance(entry, AuthenticationEntry) else None
        password = secrets.read(entry.password, f"{option}.password") if secrets else ""
        found = Credential(
            str(path[-1]),
            (UrlPrefix.parse(url),) if url else sites,
            entry.scheme,
            entry.user,
            password,
            entry.realm,
            by_realm=url is None,
            option=option,
        )
        if isinstance(entry, AuthenticationEntry):
            whole.append(found)
        elif (key := site_key(str(path[2]))) is not None:
            by_site[key] = (*by_site.get(key, ()), replace(found, prefixes=(), by_realm=False))
    plain = {site_of(url) for url in own if url.startswith("http:")}
    return CredentialStore(whole, SiteTable(by_site), plain)
