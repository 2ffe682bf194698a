"""Files of WebDAV servers (`webdav:`), read with libcurl over TLS; certificates are checked, redirects not followed."""

from __future__ import annotations

import errno
import math
import socket
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import NamedTuple
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

import pycurl

from ultracrawl.agents.file.remote.connecting import Reconnecting
from ultracrawl.agents.file.remote.port import RemoteAccess, RemoteFile, RemoteFolder, version_by_time
from ultracrawl.agents.server_addresses import allowed_addresses
from ultracrawl.content.xml import XmlRefusedError, read_xml
from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError, WorkError
from ultracrawl.model.dates import epoch, parse_http_date
from ultracrawl.rules.attributes.values import whole_number
from ultracrawl.settings.trust import trusted_roots

_PORT = 443
_SHOWN_ADDRESS = 100
_MAX_LISTING = 64 << 20
"""Bytes of a listing of one folder."""
_MIN_SPEED = 100
"""Bytes a second below which a transfer counts as stalled, measured over the time limit."""
_PROPERTIES = (
    b'<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/>'
    b"<getlastmodified/><getetag/></prop></propfind>"
)
_SLASH = b"/"


class _Answer(NamedTuple):
    status: int
    body: bytes


class WebdavFolder(RemoteFolder):
    """A folder or file of a WebDAV server (RFC 4918)."""

    def __init__(self, access: RemoteAccess) -> None:
        self._access = access
        self._server = access.location.server
        self._client: Reconnecting[_Client] = Reconnecting(self._connect, lambda client: client.close())

    def members(self, folder: bytes) -> Iterator[RemoteFile]:
        """Yield the files and the folders in a folder."""
        top = folder.rstrip(_SLASH)
        described = self._properties(top + _SLASH, depth=1)
        if all(path != top for path, _ in described.files):  # its members would be taken for gone
            raise OSError(errno.EIO, "the server describes another folder")
        for path, found in described.files:
            if path.rpartition(_SLASH)[0] == top and path != top:
                yield found
        if described.unknown:
            raise OSError(errno.EIO, f"one of its members has an address that is none: {described.unknown!a}")

    def find(self, path: bytes) -> RemoteFile:
        """Return the file or folder of a path."""
        try:
            answers = self._properties(path, depth=0).files
        except _RedirectedError:  # most servers name a folder with a slash
            answers = self._properties(path.rstrip(_SLASH) + _SLASH, depth=0).files
        if [described for described, _ in answers] != [path.rstrip(_SLASH)]:
            raise OSError(errno.EIO, "the server does not describe it")
        return answers[0][1]

    def read(self, path: bytes, max_bytes: int) -> tuple[RemoteFile, bytes]:
        """Return a file, and its content or the beginning of that."""
        found = self.find(path)
        if found.is_folder:
            raise FileNotFoundError(errno.ENOENT, "it is no file")
        return found, self._send("GET", path, {}, limit=max_bytes).body

    def close(self) -> None:
        """Close the connections."""
        self._client.drop()

    def _properties(self, path: bytes, depth: int) -> _Multistatus:
        """Return what a server says about a path and, with the depth 1, its members; paths end without a slash."""
        headers = {"Depth": str(depth), "Content-Type": "application/xml"}
        answer = self._send("PROPFIND", path, headers, _PROPERTIES, limit=_MAX_LISTING + 1)
        if len(answer.body) > _MAX_LISTING:
            raise OSError(errno.EIO, f"the listing has more than {_MAX_LISTING >> 20} MB")
        found = _Multistatus()
        try:
            problem = read_xml(answer.body, found)
        except XmlRefusedError as error:
            raise OSError(errno.EIO, f"the listing is refused: {error}") from None
        if problem or not found.is_whole:
            raise OSError(errno.EIO, f"the listing cannot be read: {problem or 'it is no multistatus'}")
        return found

    def _send(
        self, method: str, path: bytes, headers: Mapping[str, str], body: bytes = b"", *, limit: int = 0
    ) -> _Answer:
        client = self._client.get()
        answer = self._perform(client, method, path, headers, body, limit=limit)
        return _checked(answer, method, self._server)

    def _perform(
        self,
        client: _Client,
        method: str,
        path: bytes,
        headers: Mapping[str, str],
        body: bytes = b"",
        *,
        limit: int = 0,
    ) -> _Answer:
        try:
            return client.send(_Request(method, path, headers, body, limit))
        except pycurl.error as error:
            code, text = error.args
            self._client.drop(client)
            if code in (pycurl.E_PEER_FAILED_VERIFICATION, pycurl.E_SSL_CACERT_BADFILE):
                raise UserError(f"the certificate of {self._server} is not accepted: {text}") from None
            raise WorkError(f"{self._server} cannot be reached: {text}") from None

    def _connect(self) -> _Client:
        """Return a client that has had an answer."""
        access = self._access
        location, options = access.location, access.options
        addresses = allowed_addresses(location.host, location.port or _PORT, options.timeout)
        client = _Client(access, frozenset(addresses))
        self._perform(client, "OPTIONS", location.path, {})
        return client


class _RedirectedError(OSError):
    """The server answers with another address."""


def _checked(answer: _Answer, method: str, server: str) -> _Answer:
    """Return an answer with what was asked for. Raises as the methods of `RemoteFolder`."""
    status = answer.status
    if status == (207 if method == "PROPFIND" else 200):
        return answer
    if status in (404, 410):
        raise FileNotFoundError(errno.ENOENT, f"it does not exist ({status})")
    if status == 401:
        raise UserError(f"{server} refuses the user; correct the user or the password of the connection")
    if status in (402, 403, 423, 451):
        raise PermissionError(errno.EACCES, f"it may not be read ({status})")
    if 300 <= status < 400:
        raise _RedirectedError(errno.EIO, f"the server answers {status}, and redirects are not followed")
    if method == "PROPFIND" and status in (200, 405, 501):
        raise UserError(f"{server} is no WebDAV server there ({status} for PROPFIND); correct the path")
    raise OSError(errno.EIO, f"the server answers {status}")


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    path: bytes
    headers: Mapping[str, str]
    body: bytes
    limit: int
    """Bytes of the body that are wanted; 0: all."""


class _Client:
    """Sends requests to one server; each thread has a connection for the time of a request."""

    def __init__(self, access: RemoteAccess, addresses: frozenset[str]) -> None:
        self._addresses = addresses
        self._lock = Lock()
        self._idle: list[pycurl.Curl] | None = []
        location, options = access.location, access.options
        self._origin = ("https:" if options.tls else "http:") + location.server.partition(":")[2]
        timeout = options.timeout
        file, folder = (str(access.base / options.ca), "") if options.ca else trusted_roots()
        password = access.secret("password")
        self._options: list[tuple[int, object]] = [
            (pycurl.NOSIGNAL, 1),
            (pycurl.PROTOCOLS, pycurl.PROTO_HTTPS if options.tls else pycurl.PROTO_HTTP),
            (pycurl.FOLLOWLOCATION, 0),
            (pycurl.SSLVERSION, pycurl.SSLVERSION_TLSv1_2),
            (pycurl.PROXY, ""),  # otherwise libcurl uses the proxy of the environment
            (pycurl.CONNECTTIMEOUT_MS, max(1, int(timeout * 1000))),
            (pycurl.LOW_SPEED_LIMIT, _MIN_SPEED),
            (pycurl.LOW_SPEED_TIME, max(1, math.ceil(timeout))),
            (pycurl.PATH_AS_IS, 1),
            *([(pycurl.CAINFO, file)] if file else [(pycurl.CAPATH, folder)] if folder else []),
            *([(pycurl.USERNAME, access.user), (pycurl.PASSWORD, password)] if password else []),
        ]

    def send(self, request: _Request) -> _Answer:
        """Send a request, and return the answer. Raises `pycurl.error`."""
        curl = self._take()
        body = bytearray()
        opened: list[socket.socket] = []

        def keep(data: bytes) -> int | None:
            body.extend(data)
            return None if not request.limit or len(body) < request.limit else 0

        def open_socket(_purpose: int, address: pycurl.CurlSockAddr) -> socket.socket | int:
            if address.addr[0] not in self._addresses:
                return int(pycurl.SOCKET_BAD)
            opened.append(socket.socket(address.family, address.socktype, address.protocol))
            return opened[-1]

        curl.setopt(pycurl.URL, self._origin + quote_from_bytes(request.path, safe="/-._~"))
        curl.setopt(pycurl.CUSTOMREQUEST, request.method)
        curl.setopt(pycurl.HTTPHEADER, [f"{name}: {value}" for name, value in request.headers.items()])
        if request.body:
            curl.setopt(pycurl.POSTFIELDS, request.body)
        curl.setopt(pycurl.WRITEFUNCTION, keep)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, open_socket)
        try:
            curl.perform()
        except pycurl.error as error:
            code, _ = error.args
            if code != pycurl.E_WRITE_ERROR or len(body) < request.limit:
                curl.close()
                raise
        finally:
            for one in opened:  # libcurl uses duplicates
                one.close()
        answer = _Answer(curl.getinfo(pycurl.RESPONSE_CODE), bytes(body[: request.limit or None]))
        self._give_back(curl)
        return answer

    def close(self) -> None:
        """Close the connections that are not in use; the others are closed after their request."""
        with self._lock:
            idle, self._idle = self._idle or [], None
        for curl in idle:
            curl.close()

    def _take(self) -> pycurl.Curl:
        with self._lock:
            curl = self._idle.pop() if self._idle else pycurl.Curl()
        curl.reset()  # connections stay open
        for option, value in self._options:
            curl.setopt(option, value)
        return curl

    def _give_back(self, curl: pycurl.Curl) -> None:
        with self._lock:
            if self._idle is not None:
                self._idle.append(curl)
                return
        curl.close()


class _Multistatus:
    """Receives the elements of an answer to PROPFIND: files with their paths, without a slash at the end."""

    def __init__(self) -> None:
        self.files: list[tuple[bytes, RemoteFile]] = []
        self.unknown = ""
        """An address that is none; what it is of cannot be said."""
        self.is_whole = False
        self._values: dict[str, str] = {}

    def start_element(self, name: str, attributes: Mapping[str, str]) -> bool:
        if name == "response":
            self._values = {}
        elif name == "collection":
            self._values["collection"] = "yes"
        return True

    def end_element(self, name: str, text: str) -> None:
        if name == "multistatus":
            self.is_whole = True
        elif name == "response":
            self._add()
        elif name in ("href", "getcontentlength", "getlastmodified", "getetag"):
            self._values.setdefault(name, text.strip())

    def _add(self) -> None:
        values = self._values
        try:
            path = unquote_to_bytes(urlsplit(values.get("href", "")).path).rstrip(_SLASH)
        except ValueError:
            self.unknown = values["href"][:_SHOWN_ADDRESS]
            return
        name = path.rpartition(_SLASH)[2]
        if name in (b".", b".."):
            return
        if "collection" in values:
            self.files.append((path, RemoteFile(name, is_folder=True)))
            return
        modified = max(epoch(parse_http_date(values.get("getlastmodified", ""))), 0.0)
        version = values.get("getetag") or version_by_time(modified)
        size = whole_number(values.get("getcontentlength", "")) or 0
        self.files.append((path, RemoteFile(name, size=size, modified=modified, version=version)))
