"""One easy handle of libcurl that speaks FTP."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pycurl

from ultracrawl.handlers.curl.easy import EasyTransfer

if TYPE_CHECKING:
    from scrapy import Request

    from ultracrawl.handlers.curl.transfer import Limits
    from ultracrawl.handlers.curl.wire import Option
    from ultracrawl.handlers.oversight import AddressGuard, DownloadWatch

_REPLY = re.compile(rb"([1-5]\d\d)[ -](.*)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")

_ALWAYS: tuple[Option, ...] = (
    (pycurl.NOSIGNAL, 1),
    (pycurl.PROTOCOLS, pycurl.PROTO_FTP),
    (pycurl.FTP_FILEMETHOD, pycurl.FTPMETHOD_SINGLECWD),
    # The address in a server's PASV reply is not believed: data come from where the commands go.
    (pycurl.FTP_SKIP_PASV_IP, 1),
    (pycurl.OPT_FILETIME, 1),
    (pycurl.PROXY, ""),
    (pycurl.NOPROXY, ""),
)


@dataclass(frozen=True, slots=True)
class FtpOrder:
    """What is asked of a server: a URL in libcurl's form, who asks, and in which way."""

    url: str
    login: tuple[str, str]
    passive: bool = True
    only_facts: bool = False
    """Date and size of a file, or whether a directory can be entered; no data."""
    machine: bool = False
    """List a directory with MLSD and not with LIST."""

    @property
    def server(self) -> str:
        """Host and port."""
        return self.url.split("/", 3)[2]


class FtpTransfer(EasyTransfer):
    """A transfer that is made for one order after the other; what came is in its attributes.

    `servers` has the addresses of servers by host and port; all transfers that share connections share it.
    """

    def __init__(self, guard: AddressGuard | None, servers: dict[str, set[str]]) -> None:
        self._servers = servers
        super().__init__(guard)

    def _forget(self) -> None:
        super()._forget()
        self._largest = 0
        self._server = ""
        self.reply = ""
        """The latest reply that refuses something; empty if none does."""

    def prepare(
        self, order: FtpOrder, limits: Limits, request: Request, watch: DownloadWatch | None = None
    ) -> None:
        """Set the handle up for an order; raises `pycurl.error` if it cannot be sent."""
        self.release()
        self._request, self._watch, self._largest = request, watch, limits.size
        self._server = order.server
        curl = self.curl
        curl.reset()
        for option, value in _ALWAYS:
            curl.setopt(option, value)
        milliseconds = max(1, round(limits.seconds * 1000)) if limits.seconds else 0
        curl.setopt(pycurl.TIMEOUT_MS, milliseconds)
        curl.setopt(pycurl.ACCEPTTIMEOUT_MS, milliseconds or 60_000)
        curl.setopt(pycurl.MAXFILESIZE_LARGE, limits.size)
        curl.setopt(pycurl.URL, order.url)
        user, password = order.login
        curl.setopt(pycurl.USERNAME, user)
        curl.setopt(pycurl.PASSWORD, password)
        if not order.passive:
            curl.setopt(pycurl.FTPPORT, "-")
        if order.only_facts:
            curl.setopt(pycurl.NOBODY, 1)
        if order.machine:
            curl.setopt(pycurl.CUSTOMREQUEST, "MLSD")
        curl.setopt(pycurl.HEADERFUNCTION, self._on_line)
        curl.setopt(pycurl.WRITEFUNCTION, self._on_data)
        curl.setopt(pycurl.SOCKOPTFUNCTION, self._on_socket)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_connect)

    # ---- what came

    @property
    def modified(self) -> int:
        """When the file was modified, in seconds since the epoch; -1 if the server did not say."""
        return int(self.curl.getinfo(pycurl.INFO_FILETIME))

    @property
    def length(self) -> int:
        """The size of the file; -1 if the server did not say."""
        return int(self.curl.getinfo(pycurl.CONTENT_LENGTH_DOWNLOAD_T))

    # ---- called by libcurl

    def _on_connect(self, _purpose: int, address: pycurl.CurlSockAddr) -> socket.socket | int:
        """Open the socket for a connection, for commands or data, or refuse."""
        opened = self._opened(address)
        if opened is None:
            return int(pycurl.SOCKET_BAD)
        self._servers.setdefault(self._server, set()).add(str(address.addr[0]))
        return opened

    def _on_socket(self, fd: int, purpose: int) -> int:
        """Refuse data that somebody else than the server sends to the port that waits for it (active mode)."""
        if purpose != pycurl.SOCKTYPE_ACCEPT:
            return int(pycurl.SOCKOPT_OK)
        accepted = socket.socket(fileno=socket.dup(fd))
        try:
            peer = str(accepted.getpeername()[0])
        finally:
            accepted.close()
        known = peer in self._servers.get(self._server, ())
        return int(pycurl.SOCKOPT_OK if known else pycurl.SOCKOPT_ERROR)

    def _on_line(self, line: bytes) -> None:
        found = _REPLY.match(line)
        if found is not None and found[1] >= b"400":
            text = _CONTROL.sub(" ", found[2].decode("utf-8", "replace")).strip()
            self.reply = f"{found[1].decode()} {text:.200}".strip()

    def _on_data(self, chunk: bytes) -> int | None:
        return self._take(chunk, self._largest)
