"""A real Dovecot for tests: folders and mails of its own, loopback only, always stopped."""

from __future__ import annotations

import imaplib
import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.free_port import serving
from support.requirement import require

USER, PASSWORD = "reader", "secret-words"
_CONFIGURATION = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
mail_location = maildir:{folder}/mail
first_valid_uid = 1
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}/mail
}}
service imap-login {{
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
"""


@dataclass(frozen=True, slots=True)
class Dovecot:
    """A running server with one account."""

    port: int
    mail: Path
    """The Maildir of the account."""

    @property
    def url(self) -> str:
        return f"imap://127.0.0.1:{self.port}"

    @contextmanager
    def client(self) -> Iterator[imaplib.IMAP4]:
        """Log in as another client that changes mails."""
        client = imaplib.IMAP4("127.0.0.1", self.port)
        client.login(USER, PASSWORD)
        try:
            yield client
        finally:
            client.logout()

    def add(self, *mails: str | bytes, folder: str = "INBOX") -> None:
        with self.client() as client:
            for mail in mails:
                data = mail.encode() if isinstance(mail, str) else mail
                status, answer = client.append(folder, "", "", data.replace(b"\n", b"\r\n"))
                assert status == "OK", answer

    def expunge(self, uids: str) -> None:
        with self.client() as client:
            client.select("INBOX")
            assert client.uid("STORE", uids, "+FLAGS", "(\\Deleted)")[0] == "OK"
            client.expunge()

    def renumber(self) -> None:
        """Delete the index, so that the server numbers all mails anew with another UIDVALIDITY."""
        for file in self.mail.glob("dovecot*"):
            file.unlink()


@contextmanager
def dovecot_server() -> Iterator[Dovecot]:
    """Run a server with an empty INBOX; skip or fail without the program, which needs root."""
    program = shutil.which("dovecot", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    require(program and os.geteuid() == 0, "Dovecot (as root)", "dovecot-imapd")
    account = pwd.getpwnam("nobody")
    with tempfile.TemporaryDirectory(prefix="dovecot-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        mail = folder / "mail"
        mail.mkdir()
        os.chown(mail, account.pw_uid, account.pw_gid)

        def command(port: int) -> list[str]:
            file = folder / "dovecot.conf"
            values = {"folder": folder, "port": port, "uid": account.pw_uid, "gid": account.pw_gid}
            file.write_text(_CONFIGURATION.format(**values, password=PASSWORD))
            return [str(program), "-F", "-c", str(file)]

        with serving(command, folder / "output") as port:
            yield Dovecot(port, mail)
