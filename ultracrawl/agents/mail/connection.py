"""A connection to an IMAP server (RFC 3501): guarded, encrypted, read-only, and without secrets in error messages."""

from __future__ import annotations

import imaplib
import re
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from ultracrawl.agents.mail.folder_names import encode_folder
from ultracrawl.agents.mail.responses import FetchedMail, parse_fetched, parse_uids, to_uid_set
from ultracrawl.agents.mail.section import MailSection
from ultracrawl.agents.server_addresses import allowed_addresses
from ultracrawl.errors import UserError, WorkError
from ultracrawl.settings.trust import tls_context
from ultracrawl.sources.secrets import SecretReader
from ultracrawl.system.hiding import without_secrets

MAX_LITERAL = 256 << 20
"""Bytes that a server may send in one piece; a longer one is taken for an attack."""
MAX_UIDS = 100_000
"""Mails up to which their UIDs are requested in one line, which may have a million characters."""
_PORTS = {"imap": 143, "imaps": 993}
_ATOM = re.compile(r"[A-Za-z0-9.@_+=-]+")
_TRANSIENT = re.compile(r"\[(UNAVAILABLE|INUSE|LIMIT|SERVERBUG|OVERQUOTA)\]", re.IGNORECASE)
"""Response codes of failures that heal by themselves (RFC 5530)."""


class FolderMissingError(UserError):
    """The server refuses to open a folder."""


class FolderState(NamedTuple):
    """What a server says about a folder when it is opened."""

    uidvalidity: int
    uidnext: int
    """0 if unknown."""
    mails: int
    highestmodseq: int
    """Grows with each change (CONDSTORE, RFC 7162); 0 if the server has no such number."""


class _GuardedImap(imaplib.IMAP4):
    """The client of the standard library, connected to checked addresses.

    `_create_socket` is what its own subclasses override; `read` is part of its documented interface.
    """

    def __init__(self, host: str, port: int, timeout: float, connect: Callable[[str, int], socket.socket]):
        self._connect_to = connect
        super().__init__(host, port, timeout)

    def _create_socket(self, timeout: float | None) -> socket.socket:
        return self._connect_to(self.host, self.port)

    def read(self, size: int) -> bytes:
        if size > MAX_LITERAL:
            raise self.abort("the server announced too many bytes")
        data = super().read(size)
        if len(data) < size:
            raise self.abort("the server closed the connection")
        return data


class MailConnection:
    """Connects to the server of a source at the first command, and again after a lost connection.

    All methods raise `UserError` for what does not heal by itself (password, certificate), else `WorkError`.
    """

    def __init__(self, options: MailSection, secrets: SecretReader, timeout: float) -> None:
        self._options = options
        self._secrets = secrets
        self._timeout = timeout
        parts = urlsplit(options.server)
        self._host, self._port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        self._implicit_tls = parts.scheme == "imaps"
        self._imap: _GuardedImap | None = None
        self._folder = ""
        self._state = FolderState(0, 0, 0, 0)
        self._secret = ""

    # ---- commands

    def open_folder(self, folder: str, *, again: bool = True) -> FolderState:
        """Open a folder read-only; with `again` also if it is open. Raises `FolderMissingError` too."""
        if self._imap is not None and self._folder == folder and not again:
            return self._state
        with self._errors():
            imap = self._connected()
            self._folder = ""
            status, data = imap.select(_quoted(encode_folder(folder)), readonly=True)
            if status != "OK":
                line = self._line_of(data)
                if _TRANSIENT.search(line):
                    raise WorkError(f"{self._name}: the folder {folder}: {line}")
                raise FolderMissingError(f"{self._name}: the folder {folder} cannot be opened: {line}")
            self._state = FolderState(
                _number(imap, "UIDVALIDITY"),
                _number(imap, "UIDNEXT"),
                _last(data),
                _number(imap, "HIGHESTMODSEQ"),
            )
            self._folder = folder
            if not self._state.uidvalidity:
                raise WorkError(f"{self._name}: the folder {folder} has no UIDVALIDITY")
            return self._state

    def search_uids(self) -> list[int]:
        """Return the UIDs of all mails of the open folder."""
        with self._errors():
            imap = self._connected()
            if self._state.mails <= MAX_UIDS or not self._state.uidnext:
                return parse_uids(self._uid(imap, "SEARCH", "ALL"))
            uids = list[int]()
            for first in range(1, self._state.uidnext, MAX_UIDS):
                uids += parse_uids(self._uid(imap, "SEARCH", "UID", f"{first}:{first + MAX_UIDS - 1}"))
            return uids

    def fetch(self, uids: Sequence[int], item: str) -> Iterator[FetchedMail]:
        """Yield the mails of the open folder that exist, with a `BODY` item, their size and time."""
        with self._errors():
            data = self._uid(
                self._connected(), "FETCH", to_uid_set(uids), f"(UID RFC822.SIZE INTERNALDATE {item})"
            )
        wanted = set(uids)
        return (mail for mail in parse_fetched(data) if mail.uid in wanted)

    def _uid(self, imap: _GuardedImap, *words: str) -> list[bytes | tuple[bytes, bytes] | None]:
        status, data = imap.uid(*words)
        if status != "OK":
            raise WorkError(f"{self._name}: {words[0]}: {self._line_of(data)}")
        return data

    def close(self) -> None:
        """Close the connection."""
        imap, self._imap, self._folder = self._imap, None, ""
        if imap is not None:
            with suppress(imaplib.IMAP4.error, OSError, ValueError):
                imap.logout()

    # ---- connecting

    @property
    def _name(self) -> str:
        return f"{self._host}:{self._port}"

    def _connected(self) -> _GuardedImap:
        if self._imap is None:
            imap = _GuardedImap(self._host, self._port, self._timeout, self._open_socket)
            try:
                if not self._implicit_tls and (self._options.starttls or not _is_loopback(imap)):
                    self._start_tls(imap)
                self._log_in(imap)
            except BaseException:
                with suppress(OSError):
                    imap.shutdown()
                raise
            self._imap = imap
        return self._imap

    def _open_socket(self, host: str, port: int) -> socket.socket:
        """Connect to the first address of the server that is allowed and answers."""
        failure: OSError | None = None
        for address in allowed_addresses(host, port, self._timeout):
            try:
                opened = socket.create_connection((address, port), self._timeout)
                return self._tls.wrap_socket(opened, server_hostname=host) if self._implicit_tls else opened
            except OSError as error:
                failure = error
        raise failure or WorkError(f"{self._name} has no address")

    @property
    def _tls(self) -> ssl.SSLContext:
        try:
            return tls_context(self._options.ca)
        except OSError as error:
            raise UserError(f"ca: {self._options.ca} cannot be read: {error.strerror or error}") from None

    def _start_tls(self, imap: _GuardedImap) -> None:
        if "STARTTLS" not in imap.capabilities:
            raise UserError(
                f"{self._name} offers no STARTTLS, and a password is sent in clear text to loopback addresses only; "
                "write `imaps://` if it has TLS"
            )
        imap.starttls(self._tls)

    def _log_in(self, imap: _GuardedImap) -> None:
        """Log in by token, by PLAIN, which has all characters, or by LOGIN."""
        options = self._options
        name = "password" if options.token is None else "token"
        secret = options.token or options.password
        assert secret is not None, "the definition has one of them"
        self._secret = text = self._secrets.read(secret, name)
        if not text.isprintable():
            raise UserError(f"{name}: it has characters that cannot be printed")
        try:
            if options.token is not None:
                answers = iter([f"user={options.user}\x01auth=Bearer {text}\x01\x01".encode()])
                # A refusal is explained by a further challenge, to be answered by nothing (XOAUTH2).
                imap.authenticate("XOAUTH2", lambda _challenge: next(answers, b""))
            elif "AUTH=PLAIN" in imap.capabilities:
                imap.authenticate("PLAIN", lambda _challenge: f"\0{options.user}\0{text}".encode())
            else:
                user = options.user if _ATOM.fullmatch(options.user) else _quoted(options.user)
                imap.login(user, text)  # it quotes the password only
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error as error:
            line = f"{self._name}: the server refuses the user {options.user}: {self._hidden(str(error))}"
            raise (WorkError if _TRANSIENT.search(line) else UserError)(line) from None

    # ---- errors

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Convert errors into one-line errors without secrets, and give up a connection that had one."""
        try:
            yield
        except ssl.SSLCertVerificationError as error:
            self._give_up()
            line = f"{self._name}: the certificate is not trusted: {error.verify_message}"
            raise UserError(f"{line}; correct `server`, or write `ca`") from None
        except TimeoutError:
            self._give_up()
            raise WorkError(f"{self._name} did not answer in {self._timeout:g} seconds") from None
        except OSError as error:
            self._give_up()
            raise WorkError(f"{self._name}: {error.strerror or error}") from None
        except (imaplib.IMAP4.error, ValueError) as error:
            self._give_up()
            raise WorkError(f"{self._name}: {self._hidden(str(error))}") from None

    def _give_up(self) -> None:
        """Close a connection that may be out of step, without a word to the server."""
        imap, self._imap, self._folder = self._imap, None, ""
        if imap is not None:
            with suppress(OSError):
                imap.shutdown()

    def _line_of(self, data: Sequence[object]) -> str:
        text = next((part for part in data if isinstance(part, bytes)), b"")
        return self._hidden(text.decode("utf-8", "replace"))

    def _hidden(self, text: str) -> str:
        line = " ".join(text.split())[:300]
        return without_secrets(line, [self._secret])


def _is_loopback(imap: _GuardedImap) -> bool:
    address = ip_address(str(imap.sock.getpeername()[0]).partition("%")[0])
    return address.is_loopback


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _number(imap: _GuardedImap, code: str) -> int:
    """Return the number of a response code; 0 if the server sent none."""
    _, data = imap.response(code)
    return _last(data or ())


def _last(data: Sequence[object]) -> int:
    numbers = [int(part) for part in data if isinstance(part, bytes) and part.isdigit()]
    return numbers[-1] if numbers else 0
