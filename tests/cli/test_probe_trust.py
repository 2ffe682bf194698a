"""`ultracrawl probe` of an https server with the root certificates and the pinned keys of a source."""

from __future__ import annotations

import ssl
import threading
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from support.certificates import Authority
from support.project import LOOPBACK, Workspace

OTHER_PIN = "sha256//" + b64encode(bytes(32)).decode()


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        """Write no line to standard error."""


@pytest.fixture
def server(workspace: Workspace) -> Iterator[tuple[str, Path]]:
    """Give the address of an https server, and the file of its certificate."""
    certificate, key = Authority(workspace.directory).issue("server")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    serving = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    serving.socket = context.wrap_socket(serving.socket, server_side=True)
    thread = threading.Thread(target=serving.serve_forever, args=(0.05,))
    thread.start()
    yield f"https://127.0.0.1:{serving.server_address[1]}/", certificate
    serving.shutdown()
    thread.join()
    serving.server_close()


def pin_of(certificate: Path) -> str:
    key = x509.load_pem_x509_certificate(certificate.read_bytes()).public_key()
    digest = sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
    return "sha256//" + b64encode(digest).decode()


def statuses(workspace: Workspace, address: str, **http: object) -> list[int]:
    workspace.define(address, boundary=LOOPBACK, http=http)
    ended = workspace.command("probe", address, "--source", "site", "--no-dns", "--json")
    assert ended.code == (0 if ended.json["redirects"][0]["status"] else 1)
    return [step["status"] for step in ended.json["redirects"]]


def test_the_roots_of_a_source_vouch_for_its_servers(workspace: Workspace, server: tuple[str, Path]) -> None:
    address, _ = server
    assert statuses(workspace, address) == [0]
    assert statuses(workspace, address, ca="ca.pem") == [200]


def test_a_server_without_a_pinned_key_is_not_asked(workspace: Workspace, server: tuple[str, Path]) -> None:
    address, certificate = server
    pins = [OTHER_PIN, pin_of(certificate)]
    assert statuses(workspace, address, ca="ca.pem", pins={"127.0.0.1": pins}) == [200]
    assert statuses(workspace, address, ca="ca.pem", pins={"127.0.0.1": OTHER_PIN}) == [0]
