"""The archive folder: a copy of each mail, which stays when the mail is expunged (Ultra Search 2.4, line 36)."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from ultracrawl.agents.mail.section import MailSection
from ultracrawl.agents.port import KindSetup
from ultracrawl.errors import UserError, WorkError
from ultracrawl.system.files import cause_and_remedy

_SUFFIX = ".eml"


class MailArchive:
    """Files `NAME.eml` in subfolders by the first characters of the name. Sources may share a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def check_writable(self) -> None:
        """Make the folder. Raises `UserError` if files cannot be written in it."""
        probe = self._folder / f".{os.getpid()}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise UserError(f"archive: {self._folder} cannot be written: {cause_and_remedy(error)}") from None

    def path_of(self, name: str) -> Path:
        """Return the file of a mail."""
        return self._folder / name[:2] / f"{name}{_SUFFIX}"

    def read(self, name: str) -> bytes | None:
        """Return a mail; None if there is no copy of it, or none that can be read."""
        with suppress(OSError):
            return self.path_of(name).read_bytes()
        return None

    def save(self, name: str, body: bytes) -> None:
        """Store a mail. A different one of the same name stays under a name of its own. Raises `WorkError`."""
        path = self.path_of(name)
        try:
            before = self.read(name)
            if before == body:
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            if before is not None:
                mark = blake2b(before, digest_size=8).hexdigest()
                os.replace(path, path.with_name(f"{name}~{mark}{_SUFFIX}"))
            temporary = path.with_name(f".{name}.{os.getpid()}")
            temporary.write_bytes(body)
            os.replace(temporary, path)
        except OSError as error:
            raise WorkError(f"archive: {self._folder} cannot be written: {cause_and_remedy(error)}") from None


def archive_of(setup: KindSetup[MailSection]) -> MailArchive:
    """Return the archive of a source."""
    if setup.options.archive is not None:
        return MailArchive(setup.base / setup.options.archive)
    return MailArchive((setup.folder or setup.base / "var" / "mail") / "archive")
