"""Fixtures of the handler tests: a running reactor, the handler, raw servers, a certificate."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from handlers.raw_server import RawServer, Script
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.reactor import install_reactor

from ultracrawl.handlers.curl.handler import CurlDownloadHandler


class Runner:
    """A reactor in a thread of its own; Scrapy's handlers need a running one."""

    def __init__(self) -> None:
        started: asyncio.Future[asyncio.AbstractEventLoop] | threading.Event = threading.Event()
        self._thread = threading.Thread(target=self._main, args=(started,))
        self._thread.start()
        assert isinstance(started, threading.Event)
        assert started.wait(10)

    def _main(self, started: threading.Event) -> None:
        install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
        from twisted.internet import reactor

        self.reactor: Any = reactor
        self.loop: asyncio.AbstractEventLoop = self.reactor._asyncioEventloop
        self.reactor.callWhenRunning(started.set)
        self.reactor.run(installSignalHandlers=False)
        self.loop.close()

    def run(self, work: Coroutine[Any, Any, Any], timeout: float = 90) -> Any:
        """Run a coroutine on the reactor's loop and return its result."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout)

    def stop(self) -> None:
        """End the reactor; it cannot be started again."""
        self.reactor.callFromThread(self.reactor.stop)
        self._thread.join(10)


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    runner = Runner()
    yield runner
    runner.stop()


class Client:
    """Handlers, called from the test's thread."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._made: list[Any] = []

    def handler(self, guard: Any = None, **settings: Any) -> Any:
        """Return a new handler with these settings."""

        async def make() -> Any:
            return CurlDownloadHandler(Crawler(Spider, {"DOWNLOAD_TIMEOUT": 8, **settings}), guard)

        handler = self._runner.run(make())
        self._made.append(handler)
        return handler

    def send(self, handler: Any, *requests: Request) -> list[Response]:
        """Send requests at once and return their responses in order."""

        async def send() -> list[Response]:
            return list(await asyncio.gather(*(handler.download_request(request) for request in requests)))

        answers: list[Response] = self._runner.run(send())
        return answers

    def get(self, request: str | Request, guard: Any = None, **settings: Any) -> Response:
        """Send one request with a new handler."""
        request = Request(request) if isinstance(request, str) else request
        return self.send(self.handler(guard, **settings), request)[0]

    def close(self) -> None:
        """Close all handlers."""
        for handler in self._made:
            self._runner.run(handler.close())


@pytest.fixture
def client(runner: Runner) -> Iterator[Client]:
    client = Client(runner)
    yield client
    client.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., RawServer]]:
    servers: list[RawServer] = []

    def start(answer: bytes | Script, **options: Any) -> RawServer:
        script: Script = (lambda _: iter([answer])) if isinstance(answer, bytes) else answer
        servers.append(RawServer(script, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for 127.0.0.1 and localhost, with its key in the same file."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(built.public_bytes(encoding) + private)
    return path


@pytest.fixture(scope="session")
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context
