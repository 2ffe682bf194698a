"""What is known of the mails in a folder since earlier listings: mails never change, so each is looked at once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Set
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from ultracrawl.dataclass import dataclass

_FORMAT = 1
_COLUMNS = 7


class KnownMail(NamedTuple):
    """A mail, as far as a listing needs it."""

    uidvalidity: int
    uid: int
    size: int
    belongs: bool
    """Whether it is sent to an address of the source."""
    expunged: bool
    """Whether it is no longer on the server."""
    name: str
    """Identifies the mail in its folder, even if the server numbers its mails anew."""
    message_id: str

    @property
    def validators(self) -> str:
        """The text that changes when the mail has to be read again."""
        return f"{self.uidvalidity} {self.uid} {self.size}"

    @property
    def is_second(self) -> bool:
        """Whether another mail of its folder had its Message-ID when it was named."""
        return "-" in self.name

    def as_line(self) -> str:
        """Return the mail as a line of the file."""
        flags = (int(self.belongs), int(self.expunged))
        return " ".join(map(str, (*self[:3], *flags, self.name, self.message_id))) + "\n"


@dataclass(frozen=True, slots=True)
class Progress:
    """Up to where the mails of a folder are known."""

    addresses: str = ""
    """Identifies the addresses that `belongs` was decided by."""
    uidvalidity: int = 0
    uidnext: int = 0
    highestmodseq: int = 0
    """0 while a listing is under way, and if the server has no such number."""


class KnownMails:
    """The known mails of a folder of a source, in a file; without a file they are known to this process alone.

    The file is appended to while a listing is under way, and written anew at its end. It can be lost at any time: then
    the headers of all mails are read again.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self.progress = Progress()
        self.mails: dict[int, KnownMail] = {}
        """The mails on the server, by UID."""
        self.expunged: dict[str, KnownMail] = {}
        """Mails that are no longer there and whose documents stay, by name."""
        self._names: set[str] = set()
        self._is_whole = self._read()

    def _read(self) -> bool:
        """Read the file; returns whether it can be appended to."""
        try:
            text = self._file.read_text("ascii") if self._file is not None else ""
            first, *lines = text.split("\n")
            head = json.loads(first)
            if head.pop("format") != _FORMAT:
                return False
            self.progress = Progress(**head)
            for line in lines[:-1]:
                self._add(_parsed(line))
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            return False
        return not lines[-1] if lines else False

    def _add(self, mail: KnownMail) -> None:
        self._names.add(mail.name)
        if mail.expunged:
            self.expunged[mail.name] = mail
        else:
            self.mails[mail.uid] = mail

    def find(self, name: str) -> KnownMail | None:
        """Return the mail of a name."""
        found = (mail for mail in self.mails.values() if mail.name == name)
        return next(found, None) or self.expunged.get(name)

    def free_name(self, name: str, mark: str, taken: Set[str]) -> str:
        """Return a name that no mail has, nor is taken: of mails with one name, all but the first get a mark.

        Those of one mark, which are copies of each other, get a number, too.
        """
        number, free = 1, name
        while free in self._names or free in taken:
            free = f"{name}-{mark}" if number == 1 else f"{name}-{mark}-{number}"
            number += 1
        return free

    # ---- changes

    def forget_numbers(self, *, keep: bool) -> None:
        """Forget the UIDs of all mails, which the server gave anew; with `keep` the mails may still be documents."""
        before = [mail for mail in self.mails.values() if keep and mail.belongs]
        self.mails, self._names, self._is_whole = {}, set(), False
        self.expunged.update({mail.name: mail._replace(expunged=True) for mail in before})

    def drop(self, uids: Iterable[int], *, keep: bool) -> None:
        """Note that mails are gone from the server; with `keep` their documents stay."""
        for uid in uids:
            mail = self.mails.pop(uid)
            self._is_whole = False
            if keep and mail.belongs:
                self.expunged[mail.name] = mail._replace(expunged=True)
            else:
                self._names.discard(mail.name)

    def begin(self, progress: Progress) -> None:
        """Begin to add mails; what is added survives the end of the process."""
        if progress != self.progress or not self._is_whole:
            self.progress = progress
            self._write()

    def add(self, mails: Iterable[KnownMail]) -> None:
        """Add mails that were not known."""
        added = list(mails)
        for mail in added:
            self.expunged.pop(mail.name, None)
            self._add(mail)
        if self._file is not None and added:
            with self._file.open("a", encoding="ascii") as file:
                file.writelines(mail.as_line() for mail in added)

    def finish(self, progress: Progress) -> None:
        """Note up to where the folder is known."""
        if progress != self.progress or not self._is_whole:
            self.progress = progress
            self._write()

    def _write(self) -> None:
        self._is_whole = True
        if self._file is None:
            return
        progress = {name: getattr(self.progress, name) for name in Progress.__slots__}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._file.with_name(f"{self._file.name}.new")
        with temporary.open("w", encoding="ascii") as file:
            file.write(json.dumps({"format": _FORMAT, **progress}) + "\n")
            file.writelines(mail.as_line() for mail in self)
        os.replace(temporary, self._file)

    def __iter__(self) -> Iterator[KnownMail]:
        """Yield the mails on the server in the order of their UIDs, then the others."""
        yield from (self.mails[uid] for uid in sorted(self.mails))
        yield from self.expunged.values()


def known_mails_file(folder: Path | None, name: str) -> Path | None:
    """Return the file with the known mails of an IMAP folder, in the folder of a source."""
    return None if folder is None else folder / f"{quote(name, safe='')[:200]}.mails"


def _parsed(line: str) -> KnownMail:
    parts = line.split(" ")
    if len(parts) != _COLUMNS:
        raise ValueError(line)
    uidvalidity, uid, size, belongs, expunged = map(int, parts[:5])
    return KnownMail(uidvalidity, uid, size, bool(belongs), bool(expunged), parts[5], parts[6])
