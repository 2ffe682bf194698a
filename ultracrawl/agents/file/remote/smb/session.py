"""A signed-in connection to a server of shares: what is required of it, its time limit, and its errors."""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Any
from uuid import uuid4

from smbprotocol.connection import Connection
from smbprotocol.exceptions import SMBAuthenticationError, SMBException, SMBResponseException
from smbprotocol.header import NtStatus
from smbprotocol.session import Session
from smbprotocol.tree import TreeConnect

from ultracrawl.agents.file.remote.port import RemoteAccess
from ultracrawl.agents.server_addresses import allowed_addresses
from ultracrawl.errors import UserError, WorkError

PORT = 445
_GONE = frozenset(
    {
        NtStatus.STATUS_NO_SUCH_FILE,
        NtStatus.STATUS_OBJECT_NAME_INVALID,
        NtStatus.STATUS_OBJECT_NAME_NOT_FOUND,
        NtStatus.STATUS_OBJECT_PATH_INVALID,
        NtStatus.STATUS_OBJECT_PATH_NOT_FOUND,
        NtStatus.STATUS_OBJECT_PATH_SYNTAX_BAD,
        NtStatus.STATUS_DELETE_PENDING,
        NtStatus.STATUS_FILE_IS_A_DIRECTORY,
        NtStatus.STATUS_NOT_A_DIRECTORY,
        NtStatus.STATUS_BAD_NETWORK_NAME,
    }
)
_LOST = frozenset(
    {
        NtStatus.STATUS_NETWORK_NAME_DELETED,
        NtStatus.STATUS_USER_SESSION_DELETED,
        NtStatus.STATUS_FILE_CLOSED,
        NtStatus.STATUS_INSUFFICIENT_RESOURCES,
        NtStatus.STATUS_INSUFF_SERVER_RESOURCES,
        NtStatus.STATUS_REQUEST_NOT_ACCEPTED,
        NtStatus.STATUS_SERVER_UNAVAILABLE,
        0xC000005E,  # STATUS_NO_LOGON_SERVERS
        0xC000035C,  # STATUS_NETWORK_SESSION_EXPIRED
    }
)
"""What a server answers if the same may succeed over another connection."""


class SmbSession:
    """A connection to a server whose user is signed in; calls of several threads wait for each other."""

    def __init__(self, connection: Any, session: Any, host: str, server: str) -> None:
        self._connection = connection
        self._session = session
        self._host = host
        self._server = server
        self._trees: dict[str, Any] = {}
        self._lock = RLock()

    @classmethod
    def open(cls, access: RemoteAccess) -> SmbSession:
        """Connect to the server of a folder, and sign in. Raises `UserError` and `WorkError`."""
        # At lower levels the libraries log what they send: tokens of passwords, and contents of files.
        logging.getLogger("smbprotocol").setLevel(logging.WARNING)
        logging.getLogger("spnego").setLevel(logging.WARNING)
        location, options = access.location, access.options
        password = access.secret("password")
        if not access.user or not password:
            raise UserError(
                f"there is no user for {location.server}; write `user` and `password` of the connection"
            )
        connection = _connected(location.host, location.port or PORT, location.server, options.timeout)
        try:
            if options.encryption and not connection.supports_encryption:
                raise UserError(
                    f"{location.server} cannot encrypt (SMB 3); if its files may be sent in clear text, write "
                    "`encryption: false` for the connection"
                )
            session = Session(
                connection,
                access.user,
                password,
                require_encryption=options.encryption,
                hostname_override=location.host,
            )
            _sign_in(session, location.server, access.user)
        except BaseException:
            _disconnect(connection)
            raise
        return cls(connection, session, location.host, location.server)

    def tree(self, share: str) -> Any:
        """Return the connection to a share."""
        with self.errors():
            if share not in self._trees:
                tree = TreeConnect(self._session, rf"\\{self._host}\{share}")
                tree.connect()
                if tree.is_dfs_share:
                    raise UserError(
                        f"{self._server}/{share} is a DFS namespace; write the server and share that it leads to"
                    )
                self._trees[share] = tree
            return self._trees[share]

    def block(self, size: int) -> int:
        """Return how many of some bytes the server lets read at once."""
        window = self._connection.sequence_window
        allowed: int = (window["high"] - window["low"]) << 16
        return max(1, min(size, int(self._connection.max_read_size), allowed))

    def send_together(self, tree: Any, messages: Sequence[Any]) -> list[Any]:
        """Send messages about one file in one packet, and return their answers in order."""
        with self.errors():
            sent = self._connection.send_compound(
                messages, self._session.session_id, tree.tree_connect_id, related=True
            )
            answers, failure = [], None
            for request in sent:  # each one has to be received
                try:
                    answers.append(self._connection.receive(request))
                except SMBResponseException as error:
                    failure = failure or error
            if failure is not None:
                raise failure
            return answers

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Call the library alone, and raise its errors as the methods of `RemoteFolder` do."""
        with self._lock:
            try:
                yield
            except SMBResponseException as error:
                raise _error_of(error.status, self._server) from None
            except (UserError, WorkError):
                raise
            except Exception as error:  # invalid answers raise errors of any kind in the library
                raise WorkError(f"the connection to {self._server} was lost: {_line_of(error)}") from None

    def close(self) -> None:
        """Close the connection without a word, as it may be lost."""
        _disconnect(self._connection)


def _connected(host: str, port: int, server: str, timeout: float) -> Any:
    """Return a connection to a host, whose every answer has a time limit. Raises `UserError` and `WorkError`."""
    problem = WorkError(f"{server} has no address")
    for address in allowed_addresses(host, port, timeout):
        connection = Connection(uuid4(), address, port, require_signing=True)
        receive = connection.receive

        def limited(
            request: Any,
            wait: bool = True,
            timeout: float = timeout,
            _links: bool = True,
            receive: Any = receive,
        ) -> Any:
            return receive(request, wait, timeout, resolve_symlinks=False)

        connection.receive = limited
        try:
            connection.connect(timeout=timeout)
        except Exception as error:  # as above
            problem = WorkError(f"{server} cannot be reached: {_line_of(error)}")
            _disconnect(connection)
        else:
            return connection
    raise problem


def _sign_in(session: Any, server: str, user: str) -> None:
    try:
        session.connect()
    except SMBResponseException as error:
        if error.status in _LOST:
            raise _error_of(error.status, server) from None
        raise UserError(
            f"{server} refuses {user}; correct the user or the password of the connection"
        ) from None
    except SMBAuthenticationError as error:
        raise UserError(f"{user} cannot sign in to {server}: {_line_of(error)}") from None
    except SMBException as error:
        if session.session_id is None:  # what the library sets for guests
            raise UserError(
                f"{server} lets {user} in as a guest only; correct the user of the connection"
            ) from None
        raise WorkError(f"{server} cannot be reached: {_line_of(error)}") from None
    except Exception as error:  # as above
        raise WorkError(f"{server} cannot be reached: {_line_of(error)}") from None


def _disconnect(connection: Any) -> None:
    if connection.transport is not None:
        with suppress(OSError):
            connection.disconnect(close=False)


def _error_of(status: int, server: str) -> Exception:
    if status in _GONE:
        return FileNotFoundError(errno.ENOENT, "it does not exist")
    if status in (NtStatus.STATUS_ACCESS_DENIED, NtStatus.STATUS_PRIVILEGE_NOT_HELD):
        return PermissionError(errno.EACCES, "it may not be read")
    if status == NtStatus.STATUS_STOPPED_ON_SYMLINK:
        return PermissionError(errno.EPERM, "a link leads to it")
    if status == NtStatus.STATUS_SHARING_VIOLATION:
        return OSError(errno.EBUSY, "another program has it open for itself alone")
    if status in _LOST:
        return WorkError(f"the connection to {server} was lost (0x{status:08X})")
    return OSError(errno.EIO, f"the server answers 0x{status:08X}")


def _line_of(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
