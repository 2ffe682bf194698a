"""FTP transfers: a libcurl easy handle with its current command."""

from __future__ import annotations

import re
import socket
from typing import TYPE_CHECKING

import pycurl

from ultracrawl.dataclass import dataclass
from ultracrawl.handlers.curl.easy import EasyTransfer

if TYPE_CHECKING:
    from scrapy import Request

    from ultracrawl.handlers.curl.transfer import Limits
    from ultracrawl.handlers.curl.wire import Option
    from ultracrawl.handlers.download_control import AddressGuard, DownloadSignals

_REPLY = re.compile(rb"([1-5]\d\d)[ -](.*)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")

_COMMON_OPTIONS: tuple[Option, ...] = (
    (pycurl.NOSIGNAL, 1),
    (pycurl.PROTOCOLS, pycurl.PROTO_FTP),
    (pycurl.FTP_FILEMETHOD, pycurl.FTPMETHOD_SINGLECWD),
    # Ignore the address in a PASV reply: data connections go to the server of the control connection.
    (pycurl.FTP_SKIP_PASV_IP, 1),
    (pycurl.OPT_FILETIME, 1),
    (pycurl.PROXY, ""),
    (pycurl.NOPROXY, ""),
)


@dataclass(frozen=True, slots=True)
class FtpCommand:
    """A command to a server: URL for libcurl, login and mode."""

    url: str
    login: tuple[str, str]
    passive: bool = True
    only_metadata: bool = False
    """Get date and size of a file, or check that a directory exists; transfer no data."""
    use_mlsd: bool = False
    """List a directory with MLSD instead of LIST."""

    @property
    def server(self) -> str:
        """Host and port."""
        return self.url.split("/", 3)[2]


class FtpTransfer(EasyTransfer):
    """A reusable easy handle for FTP commands.

    `servers` has the addresses of servers by host and port; transfers that share connections share it.
    """

    def __init__(self, guard: AddressGuard | None, servers: dict[str, set[str]]) -> None:
        self._servers = servers
        super().__init__(guard)

    def _reset_state(self) -> None:
        super()._reset_state()
        self._largest = 0
        self._server = ""
        self.reply = ""
        """The latest error reply; empty if there is none."""

    def prepare(
        self, command: FtpCommand, limits: Limits, request: Request, signals: DownloadSignals | None = None
    ) -> None:
        """Set the options for a command. Raises `pycurl.error` if it cannot be sent."""
        self.release()
        self._request, self._signals, self._largest = request, signals, limits.size
        self._server = command.server
        curl = self.curl
        curl.reset()
        for option, value in _COMMON_OPTIONS:
            curl.setopt(option, value)
        milliseconds = max(1, round(limits.seconds * 1000)) if limits.seconds else 0
        curl.setopt(pycurl.TIMEOUT_MS, milliseconds)
        curl.setopt(pycurl.ACCEPTTIMEOUT_MS, milliseconds or 60_000)
        curl.setopt(pycurl.MAXFILESIZE_LARGE, limits.size)
        curl.setopt(pycurl.URL, command.url)
        user, password = command.login
        curl.setopt(pycurl.USERNAME, user)
        curl.setopt(pycurl.PASSWORD, password)
        if not command.passive:
            curl.setopt(pycurl.FTPPORT, "-")
        if command.only_metadata:
            curl.setopt(pycurl.NOBODY, 1)
        if command.use_mlsd:
            curl.setopt(pycurl.CUSTOMREQUEST, "MLSD")
        curl.setopt(pycurl.HEADERFUNCTION, self._on_line)
        curl.setopt(pycurl.WRITEFUNCTION, self._on_data)
        curl.setopt(pycurl.SOCKOPTFUNCTION, self._on_socket)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_connect)

    # ---- results

    @property
    def modified(self) -> int:
        """Modification time of the file in seconds since the epoch; -1 if unknown."""
        return int(self.curl.getinfo(pycurl.INFO_FILETIME))

    @property
    def length(self) -> int:
        """Size of the file in bytes; -1 if unknown."""
        return int(self.curl.getinfo(pycurl.CONTENT_LENGTH_DOWNLOAD_T))

    # ---- called by libcurl

    def _on_connect(self, _purpose: int, address: pycurl.CurlSockAddr) -> socket.socket | int:
        """Open or refuse the socket for a control or data connection."""
        connection = self._open_socket(address)
        if connection is None:
            return int(pycurl.SOCKET_BAD)
        self._servers.setdefault(self._server, set()).add(str(address.addr[0]))
        return connection

    def _on_socket(self, fd: int, purpose: int) -> int:
        """Refuse data connections of other hosts than the server (active mode)."""
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
        match = _REPLY.match(line)
        if match is not None and match[1] >= b"400":
            text = _CONTROL.sub(" ", match[2].decode("utf-8", "replace")).strip()
            self.reply = f"{match[1].decode()} {text:.200}".strip()

    def _on_data(self, chunk: bytes) -> int | None:
        if not self.size:
            self._note_answer()
        return self._append_chunk(chunk, self._largest)
