"""Who may read a file, by its security descriptor (MS-DTYP 2.4.6)."""

from __future__ import annotations

from typing import Any, NamedTuple

from smbprotocol.security_descriptor import (
    AccessAllowedAce,
    AccessDeniedAce,
    AceFlags,
    AceType,
    SMB2CreateSDBuffer,
)

NO_ACCOUNT = "S-1-0-0"
"""The security identifier that no account has."""
_EVERYONE = "S-1-1-0"
_OWNER_RIGHTS = "S-1-3-4"
_READ_DATA = 0x00000001
_GENERIC_ALL, _GENERIC_READ = 0x10000000, 0x80000000
_READS = _READ_DATA | _GENERIC_ALL | _GENERIC_READ
_DENIALS = frozenset(
    {
        AceType.ACCESS_DENIED_OBJECT_ACE_TYPE,
        AceType.ACCESS_DENIED_CALLBACK_ACE_TYPE,
        AceType.ACCESS_DENIED_CALLBACK_OBJECT_ACE_TYPE,
    }
)


class FileReaders(NamedTuple):
    """The security identifiers of the owner of a file, and of the users and groups that may read it."""

    owner: str
    """Empty if the server does not say."""
    readers: tuple[str, ...]
    """Empty: everybody."""


def readers_in(descriptor: bytes) -> FileReaders:
    """Return the readers that a security descriptor names.

    What cannot be expressed by a list of readers ends on the safe side: a file that somebody may not read although
    others may, one without any reader and one whose descriptor is broken are for nobody. Conditional permissions are
    ignored.
    """
    try:
        parsed = SMB2CreateSDBuffer()
        parsed.unpack(descriptor)
        owner = str(parsed.get_owner() or "")
        # A descriptor without a list permits everything to everybody (MS-DTYP 2.5.3).
        has_list = parsed["control"].has_flag(0x0004) and parsed["offset_dacl"].get_value()
        entries = parsed.get_dacl()["aces"].get_value() if has_list else None
    except Exception:  # invalid bytes raise errors of any kind in the library
        return FileReaders("", (NO_ACCOUNT,))
    return FileReaders(owner, () if entries is None else _readers(entries, owner))


def _readers(entries: list[Any], owner: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for entry in entries:
        if isinstance(entry, bytes):
            if entry[0] in _DENIALS:
                return (NO_ACCOUNT,)
            continue
        if entry["ace_flags"].has_flag(AceFlags.INHERIT_ONLY_ACE) or not entry["mask"].get_value() & _READS:
            continue
        if isinstance(entry, AccessDeniedAce):
            return (NO_ACCOUNT,)
        if isinstance(entry, AccessAllowedAce):
            name = str(entry["sid"].get_value())
            found[owner if name == _OWNER_RIGHTS else name] = None
    return () if _EVERYONE in found else tuple(filter(None, found)) or (NO_ACCOUNT,)
