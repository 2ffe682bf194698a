"""Files of SSH servers (`sftp:`), read with asyncssh; host keys are always checked."""

from __future__ import annotations

import errno
import getpass
import os
import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import asyncssh

from ultracrawl.agents.file.remote.connecting import Reconnecting
from ultracrawl.agents.file.remote.loop_thread import LoopThread
from ultracrawl.agents.file.remote.port import RemoteAccess, RemoteFile, RemoteFolder, version_by_time
from ultracrawl.agents.server_addresses import allowed_addresses
from ultracrawl.dataclass import dataclass, replace
from ultracrawl.errors import UserError, WorkError
from ultracrawl.rules.access.readers import NOBODY, group_reader, user_reader

R = TypeVar("R")

PORT = 22
_MEMBERS = 500
"""Members of a folder that are requested before they are used."""
_LOGIN = "correct the user, the password or the key of the connection"
_BLOCK = 1 << 18
"""Bytes that a read operation requests."""
_GONE = (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath, asyncssh.SFTPNotADirectory)
_LOST = (
    asyncssh.SFTPConnectionLost,
    asyncssh.SFTPNoConnection,
    asyncssh.DisconnectError,
    asyncssh.ChannelOpenError,
)


@dataclass(slots=True)
class _Session:
    connection: asyncssh.SSHClientConnection
    files: asyncssh.SFTPClient
    top: bytes = b""
    """The path of the base folder with links resolved; empty until a file is read."""


class SftpFolder(RemoteFolder):
    """A folder or file of an SSH server with the subsystem `sftp`."""

    def __init__(self, access: RemoteAccess) -> None:
        self._access = access
        self._server = access.location.server
        self._timeout = access.options.timeout
        self._loop = LoopThread("sftp")
        self._session = Reconnecting(self._connect, self._abort)

    def members(self, folder: bytes) -> Iterator[RemoteFile]:
        """Yield the regular files and the folders in a folder."""
        session = self._session.get()
        names = session.files.scandir(folder)
        is_last = False
        while not is_last:
            found, is_last = self._call(session, _next_members(names))
            yield from found

    def find(self, path: bytes) -> RemoteFile:
        """Return the file or folder of a path; a link is followed.

        Only the listing of a folder has the names of users, so that of the folder around a file is read.
        """
        session = self._session.get()
        found = _remote_file(path, self._call(session, session.files.stat(path)))
        if found is None:
            raise OSError("it is neither a folder nor a file")
        if found.is_folder:
            return found
        try:
            around = self.members(os.path.dirname(path))
            named = next((one for one in around if one.name == found.name), found)
        except OSError:
            return found
        return replace(found, owner=named.owner, readers=named.readers)

    def read(self, path: bytes, max_bytes: int) -> tuple[RemoteFile, bytes]:
        """Return a regular file that no link leads to, and its content or the beginning of that."""
        session = self._session.get()
        call = partial(self._call, session)
        top = self._access.location.path
        session.top = session.top or call(session.files.realpath(top))
        if call(session.files.realpath(path)) != session.top.rstrip(b"/") + path[len(top.rstrip(b"/")) :]:
            raise PermissionError(errno.EPERM, "a link leads to it")
        found = _remote_file(path, call(session.files.stat(path)))
        if found is None or found.is_folder:
            raise FileNotFoundError(errno.ENOENT, "it is no file")
        size = min(found.size, max_bytes or sys.maxsize)
        file = call(session.files.open(path, "rb"))
        content = bytearray()
        try:
            while len(content) < size:
                block = call(file.read(min(_BLOCK, size - len(content)), len(content)))
                if not block:
                    break
                content += _bytes(block)
        finally:
            call(file.close())
        return found, bytes(content)

    def close(self) -> None:
        """Close the connection."""
        self._session.drop()
        self._loop.close()

    def _call(self, session: _Session, work: Awaitable[R]) -> R:
        """Return the result of an operation. Raises as the methods of the class."""
        try:
            return self._loop.call(work, self._timeout)
        except TimeoutError:
            self._session.drop(session)
            raise WorkError(f"{self._server} did not answer within {self._timeout:g} s") from None
        except _LOST as error:
            self._session.drop(session)
            raise WorkError(f"the connection to {self._server} was lost: {error.reason or error}") from None
        except _GONE as error:
            raise FileNotFoundError(errno.ENOENT, error.reason) from None
        except asyncssh.SFTPPermissionDenied as error:
            raise PermissionError(errno.EACCES, error.reason) from None
        except asyncssh.SFTPError as error:
            raise OSError(errno.EIO, error.reason) from None

    # ---- connecting

    def _connect(self) -> _Session:
        location, timeout = self._access.location, self._timeout
        client = _Client(self._access.options.host_keys)
        options = self._client_options(client)
        problem = WorkError(f"{self._server} has no address")
        for address in allowed_addresses(location.host, location.port or PORT, timeout):
            try:
                return self._loop.call(self._open(address, options), 3 * timeout)
            except asyncssh.HostKeyNotVerifiable as error:
                raise UserError(self._about_host_key(client, error)) from None
            except asyncssh.PermissionDenied:
                raise UserError(
                    f"{self._server} refuses {self._access.user or 'the user'}; {_LOGIN}"
                ) from None
            except TimeoutError:
                problem = WorkError(f"{self._server} did not answer within {timeout:g} s")
            except (OSError, asyncssh.Error) as error:
                problem = WorkError(f"{self._server} cannot be reached: {_line_of(error)}")
        raise problem

    async def _open(self, address: str, options: asyncssh.SSHClientConnectionOptions) -> _Session:
        location = self._access.location
        connection = await asyncssh.connect(address, location.port or PORT, options=options, config=None)
        try:
            return _Session(connection, await connection.start_sftp_client(path_encoding=None))
        except BaseException:
            connection.abort()
            raise

    def _client_options(self, client: _Client) -> asyncssh.SSHClientConnectionOptions:
        """Return the options of asyncssh. Raises `UserError` for a key or a file that cannot be read."""
        access = self._access
        password, key = access.secret("password"), access.secret("private_key")
        written: dict[str, Any] = {}
        if key is not None:
            written = {"client_keys": [self._imported(key, access.secret("passphrase"))], "agent_path": None}
        elif password is not None:
            written = {"client_keys": None, "agent_path": None}
        return asyncssh.SSHClientConnectionOptions(
            client_factory=lambda: client,
            host_key_alias=access.location.host,
            known_hosts=self._known_hosts(),
            username=access.user or getpass.getuser(),
            password=password,
            connect_timeout=self._timeout,
            login_timeout=self._timeout,
            keepalive_interval=self._timeout,
            config=None,
            **written,
        )

    def _known_hosts(self) -> Any:
        """Return what asyncssh takes for trusted host keys."""
        options = self._access.options
        if options.host_keys:
            return ([], [], [])
        if options.known_hosts is None:
            path = Path("~/.ssh/known_hosts").expanduser()
            if not path.exists():
                return ([], [], [])
        else:
            path = self._access.base / options.known_hosts
        try:
            return asyncssh.read_known_hosts(str(path))
        except (OSError, ValueError) as error:
            raise UserError(f"{path} cannot be read: {_line_of(error)}") from None

    def _imported(self, key: str, passphrase: str | None) -> asyncssh.SSHKey:
        try:
            return asyncssh.import_private_key(key + "\n", passphrase)
        except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
            raise UserError(f"{self._access.place}.private_key: {error}") from None

    def _about_host_key(self, client: _Client, error: asyncssh.HostKeyNotVerifiable) -> str:
        if not client.refused:
            return f"the host key of {self._server} is not accepted: {error.reason}"
        return (
            f"the host key of {self._server} is not trusted: {client.refused}; if its administrator confirms it, "
            "write it as `host_keys` of the connection, or add it to `known_hosts`"
        )

    def _abort(self, session: _Session) -> None:
        self._loop.call(_aborted(session), self._timeout)


class _Client(asyncssh.SSHClient):
    """Decides about host keys that `known_hosts` does not name."""

    def __init__(self, trusted: Sequence[str]) -> None:
        self._trusted = {fingerprint.rstrip("=") for fingerprint in trusted}
        self.refused = ""
        """The fingerprint of the key that was refused last."""

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        fingerprint = key.get_fingerprint("sha256")
        if fingerprint in self._trusted:
            return True
        self.refused = fingerprint
        return False


async def _aborted(session: _Session) -> None:
    session.connection.abort()


async def _next_members(names: AsyncIterator[asyncssh.SFTPName]) -> tuple[list[RemoteFile], bool]:
    """Return the next members of a folder, and whether they are the last."""
    found: list[RemoteFile] = []
    async for name in names:
        member = _remote_file(_bytes(name.filename), name.attrs, _bytes(name.longname or b""))
        if member is not None and member.name not in (b".", b".."):
            found.append(member)
        if len(found) >= _MEMBERS:
            return found, False
    return found, True


def _remote_file(path: bytes, attributes: asyncssh.SFTPAttrs, longname: bytes = b"") -> RemoteFile | None:
    """Return a regular file or a folder; None for links, pipes and such.

    `longname` is a line as `ls -l` prints it. Protocol version 3 has the names of users and groups only there.
    """
    mode, name = attributes.permissions or 0, os.path.basename(path)
    if stat.S_ISDIR(mode):
        return RemoteFile(name, is_folder=True)
    if not stat.S_ISREG(mode):
        return None
    columns = longname.decode("utf-8", "replace").split()
    has_names = len(columns) >= 9 and columns[4] == str(attributes.size)
    owner = columns[2] if has_names else attributes.owner or _number(attributes.uid)
    group = columns[3] if has_names else attributes.group or _number(attributes.gid)
    user, members = owner and user_reader(owner), group and group_reader(group)
    readers = () if mode & stat.S_IROTH else (user, members) if mode & stat.S_IRGRP else (user,)
    modified = max(attributes.mtime or 0, 0)
    return RemoteFile(
        name,
        size=attributes.size or 0,
        modified=modified,
        version=version_by_time(modified),
        owner=owner,
        readers=tuple(filter(None, readers)) or (() if mode & stat.S_IROTH else (NOBODY,)),
    )


def _number(identifier: int | None) -> str:
    return "" if identifier is None else str(identifier)


def _bytes(name: bytes | str) -> bytes:
    return name.encode() if isinstance(name, str) else name


def _line_of(error: Exception) -> str:
    text = getattr(error, "strerror", None) or getattr(error, "reason", None) or str(error)
    return " ".join(str(text).split())[:300] or type(error).__name__
