"""What a probe finds out about the names of a site: aliases, and virtual servers at the same address."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.service.probing import client
from ultracrawl.service.probing import probe as probing
from ultracrawl.service.probing.client import ProbeClient, Trust
from ultracrawl.service.probing.probe import SiteProbe, probe

ALIASES = ["old.siroe.com", "shop.siroe.com"]


class _Sites(BaseHTTPRequestHandler):
    """The shop is a site of its own; all other names show the same page."""

    def do_GET(self) -> None:
        host = self.headers["Host"].partition(":")[0]
        body = b"shop" if host == "shop.siroe.com" else b"home"
        self.send_response(404 if self.path != "/" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Write no line to standard error."""


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Give the port of the server that all names of the site lead to."""
    found = ("www.siroe.com", ALIASES, ["127.0.0.1"])
    monkeypatch.setattr(socket, "gethostbyname_ex", lambda _: found)
    for module in (probing, client):
        monkeypatch.setattr(module, "addresses_of", lambda _: ("127.0.0.1",))
    serving = ThreadingHTTPServer(("127.0.0.1", 0), _Sites)
    thread = threading.Thread(target=serving.serve_forever, args=(0.05,))
    thread.start()
    yield serving.server_address[1]
    serving.shutdown()
    thread.join()
    serving.server_close()


def probed(port: int, *, dns: bool) -> SiteProbe:
    policy = AddressPolicy.for_source((), ["127.0.0.0/8"])
    client = ProbeClient(policy, {}, 10.0, Trust())
    return probe(f"http://siroe.com:{port}/", client, "ultracrawl", dns=dns)


def test_portal_robot_147_aliases_and_virtual_servers(port: int) -> None:
    found = probed(port, dns=True)
    assert (found.canonical_name, found.aliases) == ("www.siroe.com", ALIASES)
    assert {name: text.split()[0] for name, text in found.virtual_servers.items()} == {
        "www.siroe.com": "the",
        "old.siroe.com": "the",
        "shop.siroe.com": "another",
    }


def test_aliases_are_not_asked_for_without_dns(port: int) -> None:
    found = probed(port, dns=False)
    assert (found.canonical_name, found.aliases) == ("", [])
    assert list(found.virtual_servers) == ["www.siroe.com"]
