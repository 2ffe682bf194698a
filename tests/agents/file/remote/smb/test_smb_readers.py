"""Security descriptors: who may read a file, and what ends on the safe side."""

from __future__ import annotations

from typing import Any

import pytest
from smbprotocol.security_descriptor import (
    AccessAllowedAce,
    AccessDeniedAce,
    AceFlags,
    AclPacket,
    SIDPacket,
    SMB2CreateSDBuffer,
)

from ultracrawl.agents.file.remote.smb.readers import NO_ACCOUNT, FileReaders, readers_in

ANN, BEN, EVERYONE, OWNER_RIGHTS = "S-1-5-21-1-2-3-1000", "S-1-5-21-1-2-3-1001", "S-1-1-0", "S-1-3-4"
READ, WRITE, GENERIC_READ = 0x1, 0x2, 0x80000000


def sid(text: str) -> Any:
    packet = SIDPacket()
    packet.from_string(text)
    return packet


def entry(who: str, mask: int = READ, flags: int = 0, kind: Any = AccessAllowedAce) -> Any:
    made = kind()
    made["ace_flags"], made["mask"], made["sid"] = flags, mask, sid(who)
    return made


def descriptor(*entries: Any, has_list: bool = True) -> bytes:
    made = SMB2CreateSDBuffer()
    made.set_owner(sid(ANN))
    if has_list:
        permissions = AclPacket()
        permissions["aces"] = list(entries)
        made.set_dacl(permissions)
    packed: bytes = made.pack()
    return packed


LISTS: dict[str, tuple[list[Any], tuple[str, ...]]] = {
    "two users": ([entry(ANN), entry(BEN)], (ANN, BEN)),
    "twice": ([entry(BEN, GENERIC_READ), entry(BEN)], (BEN,)),
    "another may write only": ([entry(ANN), entry(BEN, WRITE)], (ANN,)),
    "everyone": ([entry(BEN), entry(EVERYONE)], ()),
    "everyone may write only": ([entry(BEN), entry(EVERYONE, WRITE)], (BEN,)),
    "for new files only": ([entry(BEN), entry(EVERYONE, flags=AceFlags.INHERIT_ONLY_ACE)], (BEN,)),
    "rights of the owner": ([entry(OWNER_RIGHTS)], (ANN,)),
    "one is denied": ([entry(BEN, kind=AccessDeniedAce), entry(EVERYONE)], (NO_ACCOUNT,)),
    "one is denied to write": ([entry(BEN, WRITE, kind=AccessDeniedAce), entry(EVERYONE)], ()),
    "nobody may read": ([entry(BEN, WRITE)], (NO_ACCOUNT,)),
}


def test_the_readers_are_those_whom_the_list_lets_read(subtests: pytest.Subtests) -> None:
    for name, (entries, readers) in LISTS.items():
        with subtests.test(name):
            assert readers_in(descriptor(*entries)) == FileReaders(ANN, readers)


def test_an_entry_of_a_kind_that_the_library_does_not_know_denies_if_it_may() -> None:
    allowed = descriptor(entry(ANN), entry(BEN))
    for kind, readers in ((9, (ANN,)), (10, (NO_ACCOUNT,))):
        at = allowed.rindex(bytes(entry(BEN).pack()))
        changed = allowed[:at] + bytes([kind]) + allowed[at + 1 :]
        assert readers_in(changed).readers == readers


def test_a_file_without_a_list_is_for_everybody_and_one_that_cannot_be_read_for_nobody() -> None:
    assert readers_in(descriptor(has_list=False)) == FileReaders(ANN, ())
    whole = descriptor(entry(ANN), entry(BEN))
    for cut in (0, 10, 30, len(whole) - 30):
        assert readers_in(whole[:cut]).readers == (NO_ACCOUNT,), cut
