"""Single requests outside a crawl: the head of an answer, from an address that the source may reach."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ultracrawl.crawl.transport.host_addresses import addresses_of, seed_addresses
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.rules.urls.canonical import UrlPolicy
from ultracrawl.sources import DataSource, Project, compile_source

MOST_BODY = 512_000
"""Bytes of a body that are read: as much of a robots.txt as RFC 9309 2.5 asks for."""
MOST_HOPS = 10
"""Redirects that are followed."""
_FORM = UrlPolicy()


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer, or why there is none (`problem`)."""

    url: str
    status: int = 0
    location: str = ""
    """Where a redirect leads, as a whole URL."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    body: bytes = b""
    address: str = ""
    tls: str = ""
    """Version of the protocol and name in the certificate, for https."""
    problem: str = ""


class ProbeClient:
    """Sends single requests; every connection goes to an address that was looked up and checked before.

    `timeout` is in seconds and holds for each step of a request.
    """

    def __init__(self, policy: AddressPolicy, headers: Mapping[str, str], timeout: float = 30.0) -> None:
        self._policy = policy
        self._headers = dict(headers)
        self._timeout = timeout

    def ask(self, url: str, method: str = "HEAD", host: str = "") -> Asked:
        """Send one request; redirects are not followed. `host` is sent as Host instead of that of the URL."""
        parts = urlsplit(url)
        name = parts.hostname or ""
        found = addresses_of(name)
        address = next((one for one in found if self._policy.refuses(one) is None), None)
        if address is None:
            refused = (
                f"{found[0]} is refused ({self._policy.refuses(found[0])})" if found else "has no address"
            )
            return Asked(url, problem=f"{name} {refused}")
        try:
            return self._send(url, method, address, host)
        except (
            OSError,
            http.client.HTTPException,
            ValueError,
        ) as error:  # ValueError: a name that is no header
            return Asked(url, address=address, problem=str(error) or type(error).__name__)

    def chain(self, url: str) -> list[Asked]:
        """Follow redirects from a URL, at most ten; return every answer."""
        answers: list[Asked] = []
        while url and len(answers) <= MOST_HOPS and url not in {one.url for one in answers}:
            answers.append(self.ask(url))
            url = answers[-1].location
        return answers

    def _send(self, url: str, method: str, address: str, host: str) -> Asked:
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        connection = http.client.HTTPConnection(parts.hostname or "", port, timeout=self._timeout)
        connection.sock = socket.create_connection((address, port), self._timeout)
        tls = ""
        try:
            if secure:
                context = ssl.create_default_context()
                secured = context.wrap_socket(connection.sock, server_hostname=parts.hostname)
                connection.sock = secured
                tls = f"{secured.version()}, certificate for {_names(secured)}"
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request(method, path, headers={**self._headers, **({"Host": host} if host else {})})
            answer = connection.getresponse()
            body = answer.read(MOST_BODY) if method == "GET" else b""
            headers = {name.lower(): value for name, value in answer.getheaders()}
        finally:
            connection.close()
        location = headers.get("location", "") if answer.status in REDIRECTS else ""
        target = _FORM.canonical(location, url) or "" if location else ""
        return Asked(url, answer.status, target, headers, body, address, tls)


def _names(secured: ssl.SSLSocket) -> str:
    certificate = secured.getpeercert() or {}
    names = [str(entry[1]) for entry in certificate.get("subjectAltName", ()) if entry[0] == "DNS"]
    return ", ".join(names[:5]) or "no name"


def probe_client_of(source: DataSource, project: Project) -> ProbeClient:
    """Return the client for single requests of a source: with its headers, and only to addresses that it may reach."""
    rules = compile_source(source, project)
    networks = [str(network) for network in source.boundary.networks]
    policy = AddressPolicy.for_source(seed_addresses(rules.trusted_urls), networks)
    return ProbeClient(policy, rules.headers, source.limits.timeout)
