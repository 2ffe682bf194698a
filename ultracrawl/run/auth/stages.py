"""Describes the credentials, headers and proxies of a request for `explain`, without reading secrets."""

from __future__ import annotations

from collections.abc import Iterator

from ultracrawl.model import Decision
from ultracrawl.rules.access.credentials import Scheme
from ultracrawl.rules.access.prefix import UrlPrefix
from ultracrawl.rules.boundary.matcher import DomainTable
from ultracrawl.rules.boundary.rules import DomainRule
from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.sources import CompiledSource, DataSource
from ultracrawl.sources.compilation.access import credentials_without_passwords, sites_of

_STAGE = "access"


def access_stages(source: DataSource, rules: CompiledSource, url: str) -> Iterator[Decision]:
    """Yield a decision for each login, header, credential, certificate and proxy that a request for a URL would use."""
    yield from _logins(source, url)
    yield from _headers(source, url)
    yield from _credentials(source, rules, url)
    yield from _certificates(source, rules, url)
    yield from _proxies(source, url)


def _decision(option: str, reason: str) -> Decision:
    return Decision(True, _STAGE, option, reason)


def _logins(source: DataSource, url: str) -> Iterator[Decision]:
    host = host_of(url)
    for name, entry in source.logins.items():
        if host in (entry.sites or (host_of(entry.page or entry.action or ""),)):
            yield _decision(f"logins.{name}", "it is requested with the session of this login")
            return


def _headers(source: DataSource, url: str) -> Iterator[Decision]:
    for name, entry in source.site_headers.items():
        if UrlPrefix.parse(entry.url).covers(url):
            yield _decision(f"site_headers.{name}", f"requests carry {', '.join(entry.headers)}")


def _credentials(source: DataSource, rules: CompiledSource, url: str) -> Iterator[Decision]:
    for credential in credentials_without_passwords(source, rules.trusted_urls).covering(url):
        when = "at once" if credential.is_preemptive else "when the server asks"
        where = f" for the realm {credential.realm}" if credential.realm else ""
        how = "" if credential.scheme is Scheme.AUTO else f" by {credential.scheme}"
        yield _decision(credential.option, f"user and password are sent{how} {when}{where}")


def _certificates(source: DataSource, rules: CompiledSource, url: str) -> Iterator[Decision]:
    for name, entry in source.client_certificates.items():
        sites = (UrlPrefix.parse(entry.url),) if entry.url else sites_of(rules.trusted_urls)
        if any(site.scheme == "https" and site.covers(url) for site in sites):
            yield _decision(
                f"client_certificates.{name}", "the certificate is sent if the server requests one"
            )
            return


def _proxies(source: DataSource, url: str) -> Iterator[Decision]:
    section = source.proxy
    if not section.servers:
        return
    bypass = DomainTable(DomainRule(pattern.kind, pattern.text) for pattern in section.bypass)
    if bypass.find(host_of(url)) is not None:
        yield _decision("proxy.bypass", "it is requested without a proxy")
    else:
        yield _decision("proxy.servers", f"it is requested through {' or '.join(section.servers)}")
