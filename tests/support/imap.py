"""An IMAP server on loopback for tests: the commands of RFC 3501, 4959 and 7162 that a reader of mails needs."""

from __future__ import annotations

import asyncio
import base64
import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.parser import BytesHeaderParser
from email.policy import compat32

RECEIVED = '" 2-Mar-2026 10:00:00 +0000"'
USER, PASSWORD, TOKEN = "reader", "secret words", "token-1"
_WORDS = re.compile(rb'"((?:[^"\\]|\\.)*)"|(\S+)')
_FIELDS = re.compile(rb"BODY\.PEEK\[HEADER\.FIELDS \(([^)]*)\)\]")
_WHOLE = re.compile(rb"BODY\.PEEK\[\](?:<0\.(\d+)>)?")


@dataclass
class Folder:
    """A folder; mails by UID."""

    uidvalidity: int = 1
    uidnext: int = 1
    modseq: int = 1
    mails: dict[int, bytes] = field(default_factory=dict)

    def add(self, *mails: bytes | str) -> list[int]:
        """Append mails; returns their UIDs."""
        uids = []
        for mail in mails:
            data = mail.encode() if isinstance(mail, str) else mail
            self.mails[self.uidnext] = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            uids.append(self.uidnext)
            self.uidnext += 1
            self.modseq += 1
        return uids

    def expunge(self, *uids: int) -> None:
        for uid in uids:
            del self.mails[uid]
            self.modseq += 1

    def renumber(self) -> None:
        """Give all mails new UIDs, as a server does that has lost its index."""
        self.uidvalidity += 1
        self.mails = dict(enumerate(self.mails.values(), 1))
        self.uidnext = len(self.mails) + 1


class ImapServer:
    """Folders, and what happened; changed by tests while connections read."""

    def __init__(self, tls: ssl.SSLContext | None = None, *, implicit_tls: bool = False) -> None:
        self.folders = {"INBOX": Folder()}
        self.tls = tls
        self.implicit_tls = implicit_tls
        self.condstore = True
        self.esearch = False
        self.plain = True
        self.drop_after = -1
        """FETCH commands that are answered before connections are cut; -1: all."""
        self.silent = False
        """Accept connections, and say nothing."""
        self.commands: list[str] = []
        """The commands, without tags and without what follows LOGIN."""
        self.bodies = 0
        """Bodies of mails that were sent."""
        self.headers = 0
        self.port = 0
        self.user = USER
        self.size_error = 0
        """Added to the sizes that are announced."""
        self.tells_uidnext = True

    @property
    def inbox(self) -> Folder:
        return self.folders["INBOX"]

    @property
    def url(self) -> str:
        return f"{'imaps' if self.implicit_tls else 'imap'}://127.0.0.1:{self.port}"

    def forget(self) -> None:
        """Forget what happened."""
        self.commands, self.bodies, self.headers = [], 0, 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
            if self.silent:
                await reader.read()
            else:
                await _Session(self, reader, writer).run()
        writer.close()


class _Session:
    def __init__(
        self, server: ImapServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._server, self._reader, self._writer = server, reader, writer
        self._folder = Folder()
        self._secure = server.implicit_tls
        self._logged_in = False

    def _send(self, *lines: str) -> None:
        self._writer.write("".join(f"{line}\r\n" for line in lines).encode())

    async def run(self) -> None:
        self._send("* OK ready")
        while line := await self._reader.readline():
            tag, _, rest = line.strip().partition(b" ")
            verb, _, words = rest.partition(b" ")
            name = verb.decode().upper()
            if name == "UID":
                verb, _, words = words.partition(b" ")
                name = f"UID {verb.decode().upper()}"
            shown = "" if name in ("LOGIN", "AUTHENTICATE") else words.decode()
            self._server.commands.append(f"{name} {shown}".strip())
            answer = await self._do(name, words)
            self._send(f"{tag.decode()} {answer}")
            await self._writer.drain()
            if name == "LOGOUT":
                return
            if name == "STARTTLS" and answer.startswith("OK"):
                assert self._server.tls is not None
                await self._writer.start_tls(self._server.tls)
                self._secure = True

    async def _do(self, name: str, words: bytes) -> str:
        verbs = {
            "CAPABILITY": self._capability,
            "AUTHENTICATE": self._authenticate,
            "LOGIN": self._login,
            "EXAMINE": self._examine,
            "UID SEARCH": self._search,
            "UID FETCH": self._fetch,
        }
        if name in verbs:
            if name in ("EXAMINE", "UID SEARCH", "UID FETCH") and not self._logged_in:
                return "NO not logged in"
            return await verbs[name](words)
        if name == "LOGOUT":
            self._send("* BYE")
        return "OK done" if name in ("NOOP", "LOGOUT", "STARTTLS") else "BAD unknown command"

    async def _capability(self, _words: bytes) -> str:
        offers = ["IMAP4rev1"]
        offers += ["AUTH=PLAIN", "AUTH=XOAUTH2"] if self._server.plain else []
        offers += ["CONDSTORE"] if self._server.condstore else []
        offers += ["ESEARCH"] if self._server.esearch else []
        offers += ["STARTTLS"] if self._server.tls and not self._secure else []
        self._send(f"* CAPABILITY {' '.join(offers)}")
        return "OK done"

    async def _authenticate(self, words: bytes) -> str:
        self._send("+ ")
        await self._writer.drain()
        said = base64.b64decode(await self._reader.readline()).decode()
        if words == b"XOAUTH2":
            self._logged_in = said == f"user={self._server.user}\x01auth=Bearer {TOKEN}\x01\x01"
            if not self._logged_in:
                self._send("+ " + base64.b64encode(b'{"status":"400"}').decode())
                await self._writer.drain()
                await self._reader.readline()
        else:
            self._logged_in = said == f"\0{self._server.user}\0{PASSWORD}"
        return "OK done" if self._logged_in else "NO [AUTHENTICATIONFAILED] wrong"

    async def _login(self, words: bytes) -> str:
        said = [re.sub(rb"\\(.)", rb"\1", quoted or plain) for quoted, plain in _WORDS.findall(words)]
        self._logged_in = said == [self._server.user.encode(), PASSWORD.encode()]
        return "OK done" if self._logged_in else f"NO wrong: {words.decode()}"

    async def _examine(self, words: bytes) -> str:
        name = words.strip(b'"').decode()
        if name not in self._server.folders:
            return "NO [NONEXISTENT] no such folder"
        self._folder = folder = self._server.folders[name]
        self._send(
            f"* {len(folder.mails)} EXISTS",
            "* 0 RECENT",
            f"* OK [UIDVALIDITY {folder.uidvalidity}]",
            *([f"* OK [UIDNEXT {folder.uidnext}]"] if self._server.tells_uidnext else []),
            f"* OK [HIGHESTMODSEQ {folder.modseq}]" if self._server.condstore else "* OK [NOMODSEQ]",
        )
        return "OK [READ-ONLY] done"

    async def _search(self, words: bytes) -> str:
        uids = self._chosen(words[4:]) if words.startswith(b"UID ") else sorted(self._folder.mails)
        self._send("* SEARCH " + " ".join(map(str, uids)))
        return "OK done"

    def _chosen(self, uid_set: bytes) -> list[int]:
        chosen = set[int]()
        for part in uid_set.decode().split(","):
            first, _, last = part.partition(":")
            chosen.update(range(int(first), int(last or first) + 1))
        return sorted(chosen & self._folder.mails.keys())

    async def _fetch(self, words: bytes) -> str:
        if self._server.drop_after == 0:
            self._writer.close()
            raise ConnectionResetError
        self._server.drop_after -= 1
        uid_set, _, items = words.partition(b" ")
        numbers = {uid: number for number, uid in enumerate(sorted(self._folder.mails), 1)}
        for uid in self._chosen(uid_set):
            mail = self._folder.mails[uid]
            if fields := _FIELDS.search(items):
                self._server.headers += 1
                part = header_fields(mail, fields[1].decode().split())
            else:
                self._server.bodies += 1
                whole = _WHOLE.search(items)
                assert whole is not None
                part = mail[: int(whole[1])] if whole[1] else mail
            size = len(mail) + self._server.size_error
            head = f"* {numbers[uid]} FETCH (UID {uid} RFC822.SIZE {size} INTERNALDATE {RECEIVED}"
            self._writer.write(f"{head} BODY[] {{{len(part)}}}\r\n".encode() + part + b")\r\n")
            await self._writer.drain()
        self._send("* 1 FETCH (FLAGS (\\Seen))")  # what another client did meanwhile
        return "OK done"


def header_fields(mail: bytes, names: list[str]) -> bytes:
    """Return some header fields of a mail as they are written."""
    message = BytesHeaderParser(policy=compat32).parsebytes(mail)
    wanted = {name.lower() for name in names}
    lines = [f"{name}: {value}\r\n" for name, value in message.raw_items() if name.lower() in wanted]
    return "".join(lines).encode("ascii", "surrogateescape") + b"\r\n"


@contextmanager
def imap_server(tls: ssl.SSLContext | None = None, *, implicit_tls: bool = False) -> Iterator[ImapServer]:
    """Run a server in a thread of this process until the end."""
    server, ready, over = ImapServer(tls, implicit_tls=implicit_tls), threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def listen() -> None:
        loops.append(asyncio.get_running_loop())
        encrypted = tls if implicit_tls else None
        async with await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=encrypted) as listening:
            server.port = listening.sockets[0].getsockname()[1]
            ready.set()
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(listen()), daemon=True)
    thread.start()
    ready.wait(30)
    try:
        yield server
    finally:
        loops[0].call_soon_threadsafe(over.set)
        thread.join(10)


def mail(number: object, text: str = "common", **headers: str) -> str:
    """Return a mail to `dev@example.com`; other headers by their names with `_` for hyphens."""
    fields = {
        "From": f"Ann {number} <ann@example.com>",
        "To": "dev@example.com",
        "Subject": f"Subject {number}",
        "Date": "Mon, 2 Mar 2026 10:00:00 +0000",
        "Message-ID": f"<{number}@example.com>",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    head = "".join(f"{name}: {value}\n" for name, value in fields.items() if value)
    return f"{head}\n{text} word{number}\n"
