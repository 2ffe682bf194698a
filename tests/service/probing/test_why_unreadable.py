"""A look at a site tells why it cannot be read by the causes that a crawl of it would record."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator

import pytest
from support.project import Workspace
from support.resource import Reply
from support.server import Request, answering

from ultracrawl.model import Cause, CauseCode
from ultracrawl.model.advice import advice_for
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.rules.robots.policy import RobotsPolicy
from ultracrawl.service.probing.client import ProbeClient, Trust
from ultracrawl.service.probing.probe import probe
from ultracrawl.service.probing.survey import UnreadableSiteError, survey
from ultracrawl.service.probing.visitor import Visitor

CLIENT = ProbeClient(AddressPolicy.for_source((), ["127.0.0.0/8"]), {}, 1.0, Trust())


class _Plain(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.recv(4096)
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


@pytest.fixture(scope="module")
def plain_port() -> Iterator[str]:
    """Give the https address of a port without TLS, which answers as HTTP servers do."""
    with socketserver.TCPServer(("127.0.0.1", 0), _Plain) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"https://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


def refused(request: Request) -> Reply:
    return Reply(404 if request.path == "/robots.txt" else 403, (), b"")


def cause_of(url: str) -> CauseCode:
    """Return the cause for which a site cannot be read; that its robots.txt cannot be is none for a person."""
    with pytest.raises(UnreadableSiteError) as found:
        survey(url, Visitor(CLIENT, RobotsPolicy(), 0.0))
    cause = found.value.cause
    assert advice_for(cause) in str(found.value)
    return CauseCode(cause.detail) if cause.code is CauseCode.ROBOTS_UNKNOWN else cause.code


def test_a_site_that_cannot_be_read_has_a_cause_with_its_advice(plain_port: str) -> None:
    with answering(refused) as url:
        assert cause_of(f"{url}/") is CauseCode.STATUS
    assert cause_of(plain_port) is CauseCode.TLS_FAILED
    assert cause_of(f"{url}/") is CauseCode.CONNECTION_REFUSED
    assert cause_of("http://10.0.0.1/") is CauseCode.ADDRESS
    assert cause_of("http://nothing.invalid/") is CauseCode.HOST_UNKNOWN


def test_a_probe_has_the_advice_of_what_it_met(plain_port: str) -> None:
    found = probe(plain_port, CLIENT, "ultracrawl", dns=False)
    assert (len(found.problems), "`http://`" in found.advice) == (1, True)


def test_an_unreadable_site_gets_no_definition(workspace: Workspace) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
    assert workspace.command("init", url, "--yes").code == 1
    assert not (workspace.directory / "ultracrawl.yaml").exists()


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_a_probe_tells_what_to_do_about_a_page_that_is_refused(status: int) -> None:
    def answer(request: Request) -> Reply:
        return Reply(501 if request.method == "HEAD" else status, (), b"")

    with answering(answer) as url:
        found = probe(url, CLIENT, "ultracrawl", dns=False)
    assert len(found.problems) == 1
    assert found.advice == advice_for(Cause(CauseCode.STATUS, str(status)), in_run=False)
