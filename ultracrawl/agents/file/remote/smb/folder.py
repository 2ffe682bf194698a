"""Folders of shares: what is in them, and who may read it."""

from __future__ import annotations

import errno
import sys
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from smbprotocol.exceptions import EndOfFile, NoMoreFiles
from smbprotocol.file_info import FileAttributes, FileInformationClass
from smbprotocol.open import (
    CreateDisposition,
    CreateOptions,
    FilePipePrinterAccessMask,
    ImpersonationLevel,
    Open,
    ShareAccess,
    SMB2QueryInfoRequest,
    SMB2QueryInfoResponse,
)

from ultracrawl.agents.file.remote.connecting import Reconnecting
from ultracrawl.agents.file.remote.port import RemoteAccess, RemoteFile, RemoteFolder
from ultracrawl.agents.file.remote.smb.accounts import AccountNames
from ultracrawl.agents.file.remote.smb.readers import NO_ACCOUNT, readers_in
from ultracrawl.agents.file.remote.smb.session import SmbSession
from ultracrawl.errors import WorkError
from ultracrawl.model.dates import epoch
from ultracrawl.rules.access.readers import NOBODY

_BLOCK = 1 << 20
"""Bytes that a read operation requests at most."""
_SHARED = ShareAccess.FILE_SHARE_READ | ShareAccess.FILE_SHARE_WRITE | ShareAccess.FILE_SHARE_DELETE
_ATTRIBUTES = FilePipePrinterAccessMask.FILE_READ_ATTRIBUTES
_DATA = _ATTRIBUTES | FilePipePrinterAccessMask.FILE_READ_DATA
_CONTROL = FilePipePrinterAccessMask.READ_CONTROL
_SECURITY, _OWNER_AND_LIST = 3, 1 | 4
_DESCRIPTOR = 1 << 16
_NAME_SURROGATE = 0x20000000
"""The bit of the tags of links and junctions; files that are compressed or elsewhere have tags without it."""


class _Server(NamedTuple):
    session: SmbSession
    names: AccountNames


class SmbFolder(RemoteFolder):
    """A folder or file of a share; the first part of its path is the name of the share."""

    def __init__(self, access: RemoteAccess) -> None:
        self._access = access
        self._server: Reconnecting[_Server] = Reconnecting(
            self._connect, lambda server: server.session.close()
        )

    def members(self, folder: bytes) -> Iterator[RemoteFile]:
        """Yield the files and the folders in a folder; links and junctions are left out."""
        with self._connected() as server, closing(self._described(server, folder)) as described:
            for member in described:
                if member.is_folder or not self._access.permissions:
                    yield member
                    continue
                with suppress(FileNotFoundError):  # it has gone since
                    yield self._with_readers(server, folder.rstrip(b"/") + b"/" + member.name, member)

    def find(self, path: bytes) -> RemoteFile:
        """Return the file or folder of a path."""
        with self._connected() as server:
            with _opened(server.session, path, _ATTRIBUTES) as handle:
                found = _remote_file(path.rpartition(b"/")[2], handle)
            if found.is_folder or not self._access.permissions:
                return found
            return self._with_readers(server, path, found)

    def read(self, path: bytes, max_bytes: int) -> tuple[RemoteFile, bytes]:
        """Return a file, and its content or the beginning of that."""
        with (
            self._connected() as server,
            _opened(server.session, path, _DATA, CreateOptions.FILE_NON_DIRECTORY_FILE) as handle,
        ):
            found = _remote_file(path.rpartition(b"/")[2], handle)
            wanted = min(found.size, max_bytes or sys.maxsize)
            content = bytearray()
            while len(content) < wanted:
                with server.session.errors():
                    size = server.session.block(min(_BLOCK, wanted - len(content)))
                    try:
                        content += handle.read(len(content), size)
                    except EndOfFile:
                        break
            return found, bytes(content)

    def close(self) -> None:
        """Close the connection."""
        self._server.drop()

    def _connect(self) -> _Server:
        session = SmbSession.open(self._access)
        return _Server(session, AccountNames(session))

    @contextmanager
    def _connected(self) -> Iterator[_Server]:
        """Give the connection, and drop it if it is lost."""
        server = self._server.get()
        try:
            yield server
        except WorkError:
            self._server.drop(server)
            raise

    def _described(self, server: _Server, folder: bytes) -> Generator[RemoteFile]:
        access = FilePipePrinterAccessMask.FILE_READ_DATA | _ATTRIBUTES
        with _opened(server.session, folder, access, CreateOptions.FILE_DIRECTORY_FILE) as handle:
            while True:
                with server.session.errors():
                    try:
                        found = handle.query_directory(
                            "*", FileInformationClass.FILE_ID_BOTH_DIRECTORY_INFORMATION
                        )
                    except NoMoreFiles:
                        return
                    members = [_listed(one) for one in found]
                yield from filter(None, members)

    def _with_readers(self, server: _Server, path: bytes, file: RemoteFile) -> RemoteFile:
        """Return a file with its owner and readers: nobody, if its permissions may not be read."""
        try:
            owner, readers = readers_in(_descriptor(server.session, path))
        except PermissionError:
            owner, readers = "", (NO_ACCOUNT,)
        names = server.names
        if readers == (NO_ACCOUNT,):
            found: tuple[str, ...] = (NOBODY,)
        else:
            found = tuple(name for one in readers for name in names.readers_of(one))
        return replace(file, owner=owner and names.name_of(owner), readers=found)


@contextmanager
def _opened(session: SmbSession, path: bytes, access: int, options: int = 0) -> Iterator[Any]:
    """Open a file or folder for reading."""
    tree, name = _place(session, path)
    handle = Open(tree, name)
    with session.errors():
        handle.create(
            ImpersonationLevel.Impersonation, access, 0, _SHARED, CreateDisposition.FILE_OPEN, options
        )
    try:
        yield handle
    finally:
        with suppress(OSError, WorkError), session.errors():
            handle.close()


def _descriptor(session: SmbSession, path: bytes) -> bytes:
    """Return the security descriptor of a file; one packet opens, asks and closes."""
    tree, name = _place(session, path)
    handle = Open(tree, name)
    create, _ = handle.create(
        ImpersonationLevel.Impersonation, _CONTROL, 0, _SHARED, CreateDisposition.FILE_OPEN, 0, send=False
    )
    query = SMB2QueryInfoRequest()
    query["info_type"] = _SECURITY
    query["output_buffer_length"] = _DESCRIPTOR
    query["additional_information"] = _OWNER_AND_LIST
    query["file_id"] = b"\xff" * 16
    close, _ = handle.close(send=False)
    _, answer, _ = session.send_together(tree, [create, query, close])
    with session.errors():
        response = SMB2QueryInfoResponse()
        response.unpack(answer["data"].get_value())
        descriptor: bytes = response["buffer"].get_value()
        return descriptor


def _place(session: SmbSession, path: bytes) -> tuple[Any, str]:
    r"""Return the share of a path, and the path in it. Characters that would lead elsewhere (`\`, `:`) are refused."""
    try:
        share, _, name = path.strip(b"/").decode("utf-8", "surrogatepass").partition("/")
    except UnicodeDecodeError:
        raise FileNotFoundError(errno.ENOENT, "it is no name of a share") from None
    if not share or "\\" in share + name or ":" in share + name:
        raise FileNotFoundError(errno.ENOENT, "it is no name of a file in a share")
    return session.tree(share), name.replace("/", "\\")


def _listed(member: Any) -> RemoteFile | None:
    """Return a member of a folder; None for links, junctions, and the entries for the folder itself."""
    name = (
        member["file_name"].get_value().decode("utf-16-le", "surrogatepass").encode("utf-8", "surrogatepass")
    )
    attributes = member["file_attributes"].get_value()
    is_link = attributes & FileAttributes.FILE_ATTRIBUTE_REPARSE_POINT
    if name in (b".", b"..") or (is_link and member["ea_size"].get_value() & _NAME_SURROGATE):
        return None
    return _made(name, attributes, member["end_of_file"].get_value(), member["last_write_time"].get_value())


def _remote_file(name: bytes, handle: Any) -> RemoteFile:
    return _made(name, handle.file_attributes, handle.end_of_file, handle.last_write_time)


def _made(name: bytes, attributes: int, size: int, written: datetime) -> RemoteFile:
    if attributes & FileAttributes.FILE_ATTRIBUTE_DIRECTORY:
        return RemoteFile(name, is_folder=True)
    return RemoteFile(name, size=size, modified=max(epoch(written), 0.0))
