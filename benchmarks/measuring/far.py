"""Simulates remote sites: many hosts on loopback, over TLS and compressed, behind a relay that delays every byte.

Run as a program it is the relay: `python far.py PORT UPSTREAM_PORT SECONDS HOSTS`.
"""

from __future__ import annotations

import asyncio
import gzip
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

_LINKS, _WORDS, _VOCABULARY = 20, 900, 20_000


@dataclass(frozen=True)
class FarSites:
    """The running sites: start pages of all hosts, CA certificate, number of pages."""

    urls: list[str]
    authority: Path
    pages: int


def host_names(number: int) -> list[str]:
    """Return `number` loopback addresses."""
    return [f"127.1.{one // 250}.{one % 250 + 1}" for one in range(number)]


@contextmanager
def far_sites(folder: Path, hosts: int, pages: int, seconds: float) -> Iterator[FarSites]:
    """Serve hosts with `pages` pages each; `seconds` is the round trip."""
    from support.certificates import Authority
    from support.free_port import free_port
    from support.nginx import nginx_site

    names = host_names(hosts)
    for number, name in enumerate(names):
        _write_pages(folder / "hosts" / name, number, pages)
    keys = folder / "keys"
    keys.mkdir()
    authority = Authority(keys)
    certificate, key = authority.issue("far", addresses=names)
    upstream, port = free_port(), free_port()
    extra = (
        f'listen 127.0.0.1:{upstream} ssl; ssl_certificate "{certificate}"; ssl_certificate_key "{key}"; '
        f'location / {{ root "{folder}/hosts/$host"; gzip_static on; }}'
    )
    with nginx_site({"/keys-are-not-served/": folder / "hosts"}, extra=extra):
        command = [sys.executable, __file__, str(port), str(upstream), str(seconds), str(hosts)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as relay:
            assert relay.stdout is not None
            relay.stdout.readline()
            try:
                yield FarSites(
                    [f"https://{name}:{port}/index.html" for name in names], authority.file, hosts * pages
                )
            finally:
                relay.terminate()


def _write_pages(folder: Path, host: int, pages: int) -> None:
    """Write generated pages that link to the following ones, plain and compressed."""
    folder.mkdir(parents=True)
    chance = Random(host)
    names = ["index.html", *(f"page{number}.html" for number in range(1, pages))]
    for number, name in enumerate(names):
        links = [names[(number + step) % pages] for step in range(1, _LINKS + 1)]
        menu = " ".join(f'<li><a href="{link}">Part {link} of {host}</a>' for link in links)
        words = " ".join(f"w{chance.randrange(_VOCABULARY)}" for _ in range(_WORDS))
        page = f"<!doctype html><title>Page {number} of host {host}</title><ul>{menu}</ul><p>{words}"
        (folder / name).write_text(page)
        (folder / f"{name}.gz").write_bytes(gzip.compress(page.encode(), 6, mtime=0))


class _Way(asyncio.Protocol):
    """One end of a connection: received data is sent from the other end half a round trip later."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._waiting: deque[bytes] = deque()
        self.transport: asyncio.Transport | None = None
        self.other: _Way | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._waiting.append(data)
        asyncio.get_running_loop().call_later(self._delay, self.pass_on)

    def pass_on(self) -> None:
        """Send the oldest waiting data, if the other end is connected."""
        if self._waiting and self.other is not None and self.other.transport is not None:
            self.other.transport.write(self._waiting.popleft())

    def connection_lost(self, exc: Exception | None) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.close()


class _Accepted(_Way):
    """The crawler's end; the connection to the server is made one round trip later, as a handshake takes."""

    def __init__(self, delay: float, upstream: int) -> None:
        super().__init__(delay)
        self._upstream = upstream

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._joining = asyncio.ensure_future(self._join())

    async def _join(self) -> None:
        await asyncio.sleep(2 * self._delay)
        server = _Way(self._delay)
        server.other = self
        await asyncio.get_running_loop().create_connection(lambda: server, "127.0.0.1", self._upstream)
        self.other = server
        while self._waiting:
            self.pass_on()


async def relay(port: int, upstream: int, seconds: float, hosts: Sequence[str]) -> None:
    """Listen on all hosts until the process is killed."""
    loop = asyncio.get_running_loop()
    await loop.create_server(lambda: _Accepted(seconds / 2, upstream), list(hosts), port, backlog=1024)
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(relay(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), host_names(int(sys.argv[4]))))
