"""What can be learnt of one site from outside: names, addresses, redirects, virtual servers, robots.txt, TLS."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from twisted.names import dns

from ultracrawl.crawl.transport.host_addresses import addresses_of
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.service.asking import Asked, ProbeClient

USUAL_SITEMAP = "/sitemap.xml"
RESOLVERS = Path("/etc/resolv.conf")
DNS_PORT = 53
_DNS_TIMEOUT = 3.0
_LONGEST_REPLY = 4096


@dataclass
class SiteProbe:
    """The findings about a site; nothing is remembered from one probe to the next."""

    url: str
    canonical_name: str = ""
    aliases: list[str] = field(default_factory=list)
    addresses: tuple[str, ...] = ()
    reverse_names: dict[str, str] = field(default_factory=dict)
    """Names by address; only of an advanced probe."""
    name_servers: list[str] = field(default_factory=list)
    """Those of the zone of the host; only of an advanced probe."""
    redirects: list[Asked] = field(default_factory=list)
    server: str = ""
    tls: str = ""
    robots: str = ""
    sitemaps: list[str] = field(default_factory=list)
    virtual_servers: dict[str, str] = field(default_factory=dict)
    """Other names at the same address, and whether they serve the same page at `/`."""
    problems: list[str] = field(default_factory=list)


def probe(
    url: str, asker: ProbeClient, robots_name: str, *, dns: bool = True, advanced: bool = False
) -> SiteProbe:
    """Look at the site of a URL. Requests: its front page, robots.txt, the usual sitemap, each name at its address."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    found = SiteProbe(f"{parts.scheme}://{parts.netloc}/")
    found.addresses = addresses_of(host)
    if not found.addresses:
        found.problems.append(f"{host} has no address")
        return found
    if dns:
        _names(found, host)
    if advanced:
        found.reverse_names = {address: _reverse(address) for address in found.addresses}
        found.name_servers = name_servers(host)
    found.redirects = asker.chain(found.url)
    last = found.redirects[-1]
    found.problems += [one.problem for one in found.redirects if one.problem]
    found.server, found.tls = last.headers.get("server", ""), last.tls
    _robots(found, asker, robots_name)
    found.virtual_servers = _virtual_servers(found, asker, host)
    return found


def _names(found: SiteProbe, host: str) -> None:
    try:
        found.canonical_name, found.aliases, _ = socket.gethostbyname_ex(host)
    except (OSError, UnicodeError) as error:
        found.problems.append(f"aliases of {host}: {error}")


def _reverse(address: str) -> str:
    try:
        return socket.gethostbyaddr(address)[0]
    except OSError:
        return ""


def _robots(found: SiteProbe, asker: ProbeClient, name: str) -> None:
    answer = asker.ask(f"{found.url}robots.txt", "GET")
    if answer.problem:
        found.robots = f"no answer: {answer.problem}"
    elif answer.status != 200:
        found.robots = f"none (status {answer.status})"
    else:
        rules = RobotsRules.parse(answer.body, name=name)
        allowed = "allows" if not rules.blocks(found.url) else "forbids"
        found.robots = f"{allowed} {name} to fetch /"
        found.sitemaps = list(rules.sitemaps)
    if not found.sitemaps and asker.ask(f"{found.url.rstrip('/')}{USUAL_SITEMAP}").status == 200:
        found.sitemaps = [USUAL_SITEMAP]


def _virtual_servers(found: SiteProbe, asker: ProbeClient, host: str) -> dict[str, str]:
    """Ask the same address for `/` under every other name that is known of it, and compare."""
    names = dict.fromkeys(
        [found.canonical_name, *found.aliases, *found.reverse_names.values(), *_usual_names(host)]
    )
    own = asker.ask(found.url, "GET")
    mark = sha256(own.body).digest()
    servers = {}
    for name in names:
        if not name or name == host or name in found.addresses:
            continue
        other = asker.ask(found.url, "GET", host=name)
        if other.status:
            same = sha256(other.body).digest() == mark and other.status == own.status
            servers[name] = "the same page" if same else f"another page (status {other.status})"
    return servers


def _usual_names(host: str) -> Iterable[str]:
    """Yield the name that a site often has beside its own: with and without `www.`."""
    if "." in host and not host.replace(".", "").isdigit() and ":" not in host:
        yield host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"


def name_servers(host: str, resolver: tuple[str, int] | None = None) -> list[str]:
    """Return the name servers of the zone that a host is in, sorted; none if nobody says it.

    The host is asked for first, then the names above it down to two labels. `resolver` is address and port.
    """
    asked = resolver or _resolver()
    labels = host.rstrip(".").split(".")
    if asked is None or host.replace(".", "").isdigit() or ":" in host:
        return []
    for at in range(max(len(labels) - 1, 1)):
        found = _ask_resolver(".".join(labels[at:]), asked)
        if found is None:
            return []
        if found:
            return sorted(found)
    return []


def _resolver() -> tuple[str, int] | None:
    try:
        lines = RESOLVERS.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    named = (line.split()[1] for line in lines if line.startswith("nameserver") and len(line.split()) > 1)
    return next(((address, DNS_PORT) for address in named), None)


def _ask_resolver(name: str, resolver: tuple[str, int]) -> set[str] | None:
    """Ask for the name servers of one name; None if there is no answer."""
    message = dns.Message(id=secrets.randbelow(1 << 16), recDes=1)
    try:
        message.addQuery(name.encode("idna"), dns.NS)
        family = socket.AF_INET6 if ":" in resolver[0] else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as channel:
            channel.settimeout(_DNS_TIMEOUT)
            channel.connect(resolver)
            channel.send(message.toStr())
            answer = dns.Message()
            answer.fromStr(channel.recv(_LONGEST_REPLY))
    except (OSError, UnicodeError, EOFError, ValueError):
        return None
    if answer.id != message.id:
        return None
    return {
        str(one.payload.name).rstrip(".") for one in answer.answers if isinstance(one.payload, dns.Record_NS)
    }
