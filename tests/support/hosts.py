"""Several hosts of one network site, each with pages of its own: what is not put there is a page without links."""

from __future__ import annotations

import asyncio
import ssl
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import pycurl

from support import in_process
from support.certificates import Authority
from support.leaping_loop import LeapingLoop
from support.network import NetworkSite, resolved
from support.resource import Html, Reply
from support.server import Request
from support.site import Site
from ultracrawl.handlers.curl.client import CurlClient

PUBLIC = "93.184.215.14"
"""The address of a host that was given none."""
HTML = ("Content-Type", "text/html; charset=utf-8")
_OWN = ("/robots.txt", "/sitemap.xml")


class Hosts(NetworkSite):
    """A site that answers by host and path, `www.example.com/a`; all hosts of a list have addresses."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self.names = dict(names)
        self._places: dict[str, Callable[[Request], Reply]] = {}
        self.dynamic("/*", self._of_host)

    def put(self, place: str, answer: Reply | Callable[[Request], Reply]) -> None:
        """Answer a place with this, or by this."""
        self._places[place] = answer if callable(answer) else lambda _: answer

    def links(self, place: str, *links: str, **parts: str) -> None:
        """Put a page with links at a place; `parts` as in `Html`."""
        page = Html(place, links, **{"text": f"needle {place}", **parts})  # type: ignore[arg-type]
        self.put(place, Reply(200, (HTML,), page.render()))

    def file(self, place: str, body: bytes, kind: str, **_: object) -> None:  # type: ignore[override]
        """Put bytes of a media type at a place."""
        self.put(place, Reply(200, (("Content-Type", kind),), body))

    def asked(self) -> list[str]:
        """Return the places asked for in order, robots.txt and sitemaps apart."""
        return [place_of(one) for one in self.pages()]

    def pages(self) -> list[Request]:
        """Return the requests in order, those for robots.txt and sitemaps apart."""
        found = (one for one in self.requests if one.path not in _OWN)
        return sorted(found, key=lambda one: one.time)

    @contextmanager
    def up(self) -> Iterator[None]:
        """Have the hosts answer on the ports of http and https."""
        with ExitStack() as stack:
            stack.enter_context(resolved(self.names))
            for port in (80, 443):
                stack.enter_context(self.serve("0.0.0.0", port))
            yield

    @contextmanager
    def over_tls(self, folder: Path) -> Iterator[None]:
        """Have the hosts answer over TLS at an address of this machine; the authority is `ca.pem` in the folder.

        Nobody else is told of the names: all that a crawl connects to is this server.
        """
        with tempfile.TemporaryDirectory() as keys, ExitStack() as stack:
            authority = Authority(Path(keys))
            server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            server.load_cert_chain(*authority.issue("server", hosts=list(self.names)))
            authority.file.rename(folder / "ca.pem")
            ports = {
                port: stack.enter_context(Site.serve(self, tls=tls))
                for port, tls in ((443, server), (80, None))
            }
            places = [f":{port}:{urlsplit(address).netloc}" for port, address in ports.items()]

            class Client(CurlClient):
                def __init__(self, *parts: Any) -> None:
                    super().__init__(*parts)
                    self._options.append((pycurl.CONNECT_TO, places))

                async def fetch(self, request: Any) -> Any:
                    loop = asyncio.get_running_loop()
                    assert isinstance(loop, LeapingLoop)
                    with loop.true_time():
                        return await super().fetch(request)

            stack.enter_context(resolved(dict.fromkeys(self.names, "127.0.0.1")))
            stack.enter_context(mock.patch.object(in_process, "NetworkClient", Client))
            yield

    def _of_host(self, request: Request) -> Reply:
        place = place_of(request)
        if (answer := self._places.get(place)) is not None:
            return answer(request)
        if request.path in _OWN:
            return Reply(404)
        return Reply(200, (HTML,), Html(place, text=f"needle {place}").render())


def place_of(request: Request) -> str:
    """Return host and path of a request."""
    return f"{request.header('Host')}{request.path}"
