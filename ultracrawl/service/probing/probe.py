"""Probes a site: names, addresses, redirects, virtual servers, robots.txt, TLS."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from http import HTTPStatus
from urllib.parse import urlsplit

from dns.exception import DNSException
from dns.resolver import NXDOMAIN, NoAnswer, Resolver

from ultracrawl.dataclass import dataclass, field
from ultracrawl.model import Cause, CauseCode
from ultracrawl.model.advice import advice_for
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.run.transport.host_addresses import addresses_of
from ultracrawl.service.probing.client import ProbeClient, ProbeResponse

DEFAULT_SITEMAP = "/sitemap.xml"
_DNS_TIMEOUT = 3.0
"""Seconds for an answer about one name."""


@dataclass
class SiteProbe:
    """The results of a probe."""

    url: str
    canonical_name: str = ""
    aliases: list[str] = field(default_factory=list)
    addresses: tuple[str, ...] = ()
    reverse_names: dict[str, str] = field(default_factory=dict)
    """Address -> name; only in an advanced probe."""
    name_servers: list[str] = field(default_factory=list)
    """The name servers of the zone of the host; only in an advanced probe."""
    redirects: list[ProbeResponse] = field(default_factory=list)
    server: str = ""
    tls: str = ""
    robots: str = ""
    sitemaps: list[str] = field(default_factory=list)
    virtual_servers: dict[str, str] = field(default_factory=dict)
    """Other host names at the same address, and whether they serve the same page at `/`."""
    problems: list[str] = field(default_factory=list)
    advice: str = ""
    """What to do about the site if it does not answer."""


def probe(
    url: str, client: ProbeClient, robots_name: str, *, dns: bool = True, advanced: bool = False
) -> SiteProbe:
    """Probe the site of a URL.

    Requests the front page, robots.txt, the default sitemap, and the front page with each other name of the address.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    site = SiteProbe(f"{parts.scheme}://{parts.netloc}/")
    site.addresses = addresses_of(host)
    if not site.addresses:
        _note(site, site.url, Cause(CauseCode.HOST_UNKNOWN))
        return site
    if dns:
        _resolve_names(site, host)
    if advanced:
        site.reverse_names = {address: _reverse_name(address) for address in site.addresses}
        site.name_servers = name_servers(host)
    site.redirects = client.follow_redirects(site.url)
    last = site.redirects[-1]
    if last.cause:
        _note(site, last.url, last.cause)
    elif last.status >= HTTPStatus.BAD_REQUEST:
        _note(site, last.url, Cause(CauseCode.STATUS, str(last.status)))
    site.server, site.tls = last.headers.get("server", ""), last.tls
    _fetch_robots(site, client, robots_name)
    site.virtual_servers = _virtual_servers(site, client, host)
    return site


def _note(site: SiteProbe, url: str, cause: Cause) -> None:
    site.problems.append(f"{url}: {cause}")
    site.advice = advice_for(cause, in_run=False)


def _resolve_names(site: SiteProbe, host: str) -> None:
    try:
        site.canonical_name, site.aliases, _ = socket.gethostbyname_ex(host)
    except (OSError, UnicodeError) as error:
        site.problems.append(f"aliases of {host}: {error}")


def _reverse_name(address: str) -> str:
    try:
        return socket.gethostbyaddr(address)[0]
    except OSError:
        return ""


def _fetch_robots(site: SiteProbe, client: ProbeClient, name: str) -> None:
    response = client.request_url(f"{site.url}robots.txt", "GET")
    if response.cause:
        site.robots = f"no response: {response.cause}"
    elif response.status != 200:
        site.robots = f"none (status {response.status})"
    else:
        rules = RobotsRules.parse(response.body, name=name)
        allowed = "allows" if not rules.blocks(site.url) else "forbids"
        site.robots = f"{allowed} {name} to fetch /"
        site.sitemaps = list(rules.sitemaps)
    if not site.sitemaps and client.request_url(f"{site.url.rstrip('/')}{DEFAULT_SITEMAP}").status == 200:
        site.sitemaps = [DEFAULT_SITEMAP]


def _virtual_servers(site: SiteProbe, client: ProbeClient, host: str) -> dict[str, str]:
    """Request `/` from the same address with each other known host name, and compare the pages."""
    names = dict.fromkeys(
        [site.canonical_name, *site.aliases, *site.reverse_names.values(), *_www_variants(host)]
    )
    own = client.request_url(site.url, "GET")
    own_digest = sha256(own.body).digest()
    servers = {}
    for name in names:
        if not name or name == host or name in site.addresses:
            continue
        other = client.request_url(site.url, "GET", host=name)
        if other.status:
            same = sha256(other.body).digest() == own_digest and other.status == own.status
            servers[name] = "the same page" if same else f"another page (status {other.status})"
    return servers


def _www_variants(host: str) -> Iterable[str]:
    """Yield the host with `www.` if it is without, or without if it is with."""
    if "." in host and not host.replace(".", "").isdigit() and ":" not in host:
        yield host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"


def name_servers(host: str, resolver: Resolver | None = None) -> list[str]:
    """Return the sorted name servers of the zone of a host; none if the resolver has no answer.

    Queries the host first, then its parent domains with at least two labels.
    """
    if host.replace(".", "").isdigit() or ":" in host:
        return []
    labels = host.rstrip(".").split(".")
    try:
        if resolver is None:
            resolver = Resolver()
            resolver.lifetime = _DNS_TIMEOUT
        for start in range(max(len(labels) - 1, 1)):
            with suppress(NoAnswer, NXDOMAIN):
                answer = resolver.resolve(f"{'.'.join(labels[start:])}.", "NS")
                return sorted(str(record.target).rstrip(".") for record in answer)
    except DNSException:
        pass
    return []
