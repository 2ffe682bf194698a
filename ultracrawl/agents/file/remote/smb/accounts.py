"""Names of security identifiers, as the server gives them (MS-LSAT, over the named pipe `lsarpc`)."""

from __future__ import annotations

import struct
from typing import NamedTuple
from uuid import UUID

from smbprotocol.ioctl import CtlCode, IOCTLFlags, SMB2IOCTLRequest, SMB2IOCTLResponse
from smbprotocol.open import CreateDisposition, FilePipePrinterAccessMask, ImpersonationLevel, Open

from ultracrawl.agents.file.remote.smb.session import SmbSession
from ultracrawl.rules.access.readers import group_reader, user_reader

_LSA = UUID("12345778-1234-abcd-ef00-0123456789ab"), 0
_NDR = UUID("8a885d04-1ceb-11c9-9fe8-08002b104860"), 2
_REQUEST, _RESPONSE, _BIND, _BIND_ACK = 0, 2, 11, 12
_OPEN_POLICY, _LOOKUP_SIDS = 44, 15
_LOOKUP_NAMES = 0x800
_UNKNOWN_KINDS = frozenset({6, 7, 8})
"""Accounts that were deleted, are invalid or unknown (MS-LSAT 2.2.13)."""
_USERS = frozenset({1, 9})
"""Users and computers; other accounts are groups of some kind."""
_FRAGMENT = 4280
_WHOLE = 3
"""The flags of a message of one fragment."""


class _Account(NamedTuple):
    name: str
    """With its domain; empty: the server does not know it."""
    is_user: bool = False


class AccountNames:
    """Asks a server for the names of accounts, each once; an identifier without a name stands for itself."""

    def __init__(self, session: SmbSession) -> None:
        self._session = session
        self._known: dict[str, _Account] = {}
        self._pipe: _Pipe | None = None
        self._is_refused = False

    def name_of(self, identifier: str) -> str:
        r"""Return `DOMAIN\NAME` of a security identifier (`S-1-…`). Raises `WorkError` if the connection is lost."""
        return self._account(identifier).name or identifier

    def readers_of(self, identifier: str) -> tuple[str, ...]:
        """Return the readers that a security identifier stands for. Raises `WorkError` if the connection is lost.

        One that the server does not know may be a user or a group; no two accounts have the same identifier.
        """
        name, is_user = self._account(identifier)
        if not name:
            return user_reader(identifier), group_reader(identifier)
        return (user_reader(name) if is_user else group_reader(name),)

    def _account(self, identifier: str) -> _Account:
        if identifier not in self._known:
            self._known[identifier] = self._asked(identifier)
        return self._known[identifier]

    def _asked(self, identifier: str) -> _Account:
        """Ask the server, and once more if it has closed the pipe; after a refusal, not again."""
        for _ in range(0 if self._is_refused else 2):
            try:
                self._pipe = self._pipe or _Pipe(self._session)
                return self._pipe.account_of(identifier)
            except (OSError, ValueError, struct.error):
                self._pipe = None
        self._is_refused = True
        return _Account("")


class _Pipe:
    """The local security authority of a server, behind a pipe."""

    def __init__(self, session: SmbSession) -> None:
        self._session = session
        self._tree = session.tree("IPC$")
        self._calls = 0
        with session.errors():
            self._pipe = Open(self._tree, "lsarpc")
            self._pipe.create(
                ImpersonationLevel.Impersonation,
                FilePipePrinterAccessMask.FILE_READ_DATA | FilePipePrinterAccessMask.FILE_WRITE_DATA,
                0,
                0,
                CreateDisposition.FILE_OPEN,
                0,
            )
        (lsa, lsa_version), (ndr, ndr_version) = _LSA, _NDR
        context = struct.pack("<HBx16sI16sI", 0, 1, lsa.bytes_le, lsa_version, ndr.bytes_le, ndr_version)
        self._call(_BIND, struct.pack("<HHIB3x", _FRAGMENT, _FRAGMENT, 0, 1) + context)
        attributes = struct.pack("<IIIIII", 24, 0, 0, 0, 0, 0)
        self._handle = self._request(_OPEN_POLICY, bytes(4) + attributes + struct.pack("<I", _LOOKUP_NAMES))[
            :20
        ]

    def account_of(self, identifier: str) -> _Account:
        """Return what the server knows of an account."""
        _, revision, authority, *parts = identifier.split("-")
        sid = struct.pack(
            f"<BB6s{len(parts)}I", int(revision), len(parts), int(authority).to_bytes(6), *map(int, parts)
        )
        pointer = 0x20000
        wanted = struct.pack("<IIII", 1, pointer, 1, pointer + 4) + struct.pack("<I", len(parts)) + sid
        nothing_yet = struct.pack("<IIHxxI", 0, 0, 1, 0)
        return _account_in(self._request(_LOOKUP_SIDS, self._handle + wanted + nothing_yet))

    def _request(self, operation: int, data: bytes) -> bytes:
        return self._call(_REQUEST, struct.pack("<IHH", len(data), 0, operation) + data)[8:]

    def _call(self, kind: int, data: bytes) -> bytes:
        """Return what follows the header of the answer. Raises `ValueError` if it is none."""
        self._calls += 1
        header = struct.pack("<BBBBIHHI", 5, 0, kind, _WHOLE, 0x10, 16 + len(data), 0, self._calls)
        answer = self._transceive(header + data)
        _, _, kind_of_answer, flags, _, length, _, _ = struct.unpack_from("<BBBBIHHI", answer)
        if kind_of_answer != (_BIND_ACK if kind == _BIND else _RESPONSE) or flags & _WHOLE != _WHOLE:
            raise ValueError("the server refuses the call")
        return answer[16:length]

    def _transceive(self, data: bytes) -> bytes:
        message = SMB2IOCTLRequest()
        message["ctl_code"] = CtlCode.FSCTL_PIPE_TRANSCEIVE
        message["file_id"] = self._pipe.file_id
        message["max_output_response"] = _FRAGMENT
        message["flags"] = IOCTLFlags.SMB2_0_IOCTL_IS_FSCTL
        message["buffer"] = data
        (answer,) = self._session.send_together(self._tree, [message])
        response = SMB2IOCTLResponse()
        response.unpack(answer["data"].get_value())
        content: bytes = response["buffer"].get_value()
        return content


def _account_in(answer: bytes) -> _Account:
    """Return the account in an answer to LsarLookupSids about one identifier."""
    values = _Values(answer)
    domains: list[str] = []
    if values.number():
        count, has_domains, _ = values.number(), values.number(), values.number()
        if has_domains:
            values.number()
            heads = [(values.text_pointer(), values.number()) for _ in range(count)]
            for has_text, has_sid in heads:
                domains.append(values.text() if has_text else "")
                if has_sid:
                    values.skip(8 + 4 * values.number())
    if not values.number() or not values.number():
        return _Account("")
    values.number()
    kind = values.number() & 0xFFFF
    has_name, domain = values.text_pointer(), values.number()
    name = values.text() if has_name else ""
    if kind in _UNKNOWN_KINDS or not name:
        return _Account("")
    around = domains[domain] if domain < len(domains) else ""
    return _Account(f"{around}\\{name}" if around else name, kind in _USERS)


class _Values:
    """Reads values in the order of NDR (DCE 1.1, chapter 14)."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self) -> int:
        """Return the next number of 32 bits."""
        self._at += -self._at % 4
        (value,) = struct.unpack_from("<I", self._data, self._at)
        self._at += 4
        return int(value)

    def text_pointer(self) -> bool:
        """Read a RPC_UNICODE_STRING, and return whether its text follows."""
        self.number()  # two lengths
        return self.number() != 0

    def text(self) -> str:
        """Return the text of a RPC_UNICODE_STRING."""
        _, _, length = self.number(), self.number(), self.number()
        start, self._at = self._at, self._at + 2 * length
        return self._data[start : self._at].decode("utf-16-le")

    def skip(self, count: int) -> None:
        """Skip some bytes."""
        self._at += count
