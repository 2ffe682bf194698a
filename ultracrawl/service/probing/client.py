"""Single HTTP requests outside a crawl, to addresses that the source may connect to."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ultracrawl.dataclass import dataclass, field
from ultracrawl.model import NO_CAUSE, Cause, CauseCode
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.rules.urls.canonical import UrlPolicy
from ultracrawl.run.transport.host_addresses import addresses_of, seed_addresses
from ultracrawl.settings.trust import tls_context
from ultracrawl.sources import DataSource, Project, compile_source

MAX_BODY_BYTES = 512_000
"""Bytes of a body that are read: at least the 500 KiB of a robots.txt that RFC 9309 2.5 requires."""
MAX_REDIRECTS = 10
_WITHOUT_HEAD = frozenset({405, 501})
"""Statuses of servers that do not answer HEAD."""
STEPS = 3
"""A request may take this many times as long as one step of it."""
_URL_POLICY = UrlPolicy()


@dataclass(frozen=True, slots=True)
class ProbeResponse:
    """A response, or the cause why there is none."""

    url: str
    status: int = 0
    location: str = ""
    """The absolute target URL of a redirect."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    body: bytes = b""
    address: str = ""
    tls: str = ""
    """Protocol version and names in the certificate, for https."""
    cause: Cause = NO_CAUSE


@dataclass(frozen=True, slots=True)
class Trust:
    """Which https servers a source talks to: its root certificates (None: the machine's) and pinned keys by host."""

    roots: Path | None = None
    pins: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def secure(self, connection: socket.socket, host: str) -> ssl.SSLSocket:
        """Begin TLS on a connection. Raises `ssl.SSLError` if the server is not trusted."""
        secured = tls_context(self.roots).wrap_socket(connection, server_hostname=host)
        pins = self.pins.get(host)
        if pins and _key_of(secured) not in pins:
            secured.close()
            raise ssl.SSLCertVerificationError(f"the public key of {host} is none of http.pins")
        return secured


class ProbeClient:
    """Sends single requests; resolves each host itself and connects to an allowed address only.

    `timeout` is in seconds and applies to each step of a request; the whole request may take `STEPS` times as long.
    """

    def __init__(
        self, policy: AddressPolicy, headers: Mapping[str, str], timeout: float, trust: Trust
    ) -> None:
        self._policy = policy
        self._headers = dict(headers)
        self._timeout = timeout
        self._trust = trust

    def request_url(self, url: str, method: str = "HEAD", host: str = "") -> ProbeResponse:
        """Send one request without following redirects. `host` replaces the Host header."""
        parts = urlsplit(url)
        name = parts.hostname or ""
        addresses = addresses_of(name)
        allowed = next((address for address in addresses if self._policy.refuses(address) is None), None)
        if allowed is None:
            return ProbeResponse(url, cause=self._unreachable(name, addresses))
        try:
            return self._send(url, method, allowed, host)
        except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: an invalid header
            return ProbeResponse(url, address=allowed, cause=_cause_of(error))

    def follow_redirects(self, url: str) -> list[ProbeResponse]:
        """Return the responses of a URL and of the redirects from it, at most ten."""
        return follow(url, self._look_at)

    def _look_at(self, url: str) -> ProbeResponse:
        """Return the answer to HEAD, or to GET from a server that does not know HEAD."""
        answer = self.request_url(url)
        return self.request_url(url, "GET") if answer.status in _WITHOUT_HEAD else answer

    def _unreachable(self, name: str, addresses: Sequence[str]) -> Cause:
        if not addresses:
            return Cause(CauseCode.HOST_UNKNOWN)
        refused = f"{name} is {addresses[0]} ({self._policy.refuses(addresses[0])})"
        return Cause(CauseCode.ADDRESS, detail=refused)

    def _send(self, url: str, method: str, address: str, host: str) -> ProbeResponse:
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        connection = http.client.HTTPConnection(parts.hostname or "", port, timeout=self._timeout)
        connection.sock = socket.create_connection((address, port), self._timeout)
        tls = ""
        with _limited(connection, self._timeout * STEPS):
            if secure:
                secured = self._trust.secure(connection.sock, parts.hostname or "")
                connection.sock = secured
                tls = f"{secured.version()}, certificate for {_names(secured)}"
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request(method, path, headers={**self._headers, **({"Host": host} if host else {})})
            response = connection.getresponse()
            body = response.read(MAX_BODY_BYTES) if method == "GET" else b""
            headers = {name.lower(): value for name, value in response.getheaders()}
        location = headers.get("location", "") if response.status in REDIRECTS else ""
        target = _URL_POLICY.canonical(location, url) or "" if location else ""
        return ProbeResponse(url, response.status, target, headers, body, address, tls)


def follow(
    url: str, request: Callable[[str], ProbeResponse], limit: int = MAX_REDIRECTS
) -> list[ProbeResponse]:
    """Return the responses of a URL and of the redirects from it, at most `limit`; none is requested twice."""
    responses: list[ProbeResponse] = []
    while url and len(responses) <= limit and url not in {known.url for known in responses}:
        responses.append(request(url))
        url = responses[-1].location
    return responses


@contextmanager
def _limited(connection: http.client.HTTPConnection, seconds: float) -> Iterator[None]:
    """Close a connection at the end, or after some seconds, however slowly the other side sends.

    Raises `TimeoutError` if time was over.
    """
    is_over = threading.Event()
    handle = connection.sock.dup()  # the connection itself is exchanged when TLS begins

    def end_connection() -> None:
        is_over.set()
        with suppress(OSError):
            handle.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end_connection)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception as error:
        if is_over.is_set():
            raise TimeoutError(f"no complete answer within {seconds:g} s") from error
        raise
    finally:
        timer.cancel()
        handle.close()
        connection.close()


_CAUSES: tuple[tuple[type[Exception], CauseCode], ...] = (
    (ssl.SSLCertVerificationError, CauseCode.CERTIFICATE),
    (ssl.SSLError, CauseCode.TLS_FAILED),
    (TimeoutError, CauseCode.TIMEOUT),
    (ConnectionResetError, CauseCode.CONNECTION_BROKEN),
    (BrokenPipeError, CauseCode.CONNECTION_BROKEN),
    (OSError, CauseCode.CONNECTION_REFUSED),
    (http.client.IncompleteRead, CauseCode.BODY_BROKEN),
    (http.client.HTTPException, CauseCode.ANSWER_MALFORMED),
    (ValueError, CauseCode.STATED),
)
"""The cause that a crawl would record for an error of the standard library; the first that fits."""


def _cause_of(error: Exception) -> Cause:
    code = next(code for kind, code in _CAUSES if isinstance(error, kind))
    text = (
        getattr(error, "verify_message", "") or (isinstance(error, OSError) and error.strerror) or str(error)
    )
    said = " ".join(text.split()) or type(error).__name__
    return Cause(code, said) if code is CauseCode.STATED else Cause(code, detail=said)


def _names(secured: ssl.SSLSocket) -> str:
    certificate = secured.getpeercert() or {}
    names = [str(entry[1]) for entry in certificate.get("subjectAltName", ()) if entry[0] == "DNS"]
    return ", ".join(names[:5]) or "no name"


def _key_of(secured: ssl.SSLSocket) -> str:
    """Return the public key of a server's certificate as a pin."""
    key = x509.load_der_x509_certificate(secured.getpeercert(binary_form=True) or b"").public_key()
    digest = sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
    return f"sha256//{b64encode(digest).decode()}"


def probe_client_of(source: DataSource, project: Project, timeout: float | None = None) -> ProbeClient:
    """Return a client with the headers, the address policy and the trust of a source.

    `timeout` is in seconds; None: that of the source.
    """
    rules = compile_source(source, project)
    policy = rules.addresses.with_seeds(seed_addresses(rules.trusted_urls))
    trust = Trust(source.http.ca, source.http.pins)
    return ProbeClient(policy, rules.headers, timeout or source.limits.timeout, trust)
