"""An FTP server on loopback over a directory, which records every command it got."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.ioloop import IOLoop
from pyftpdlib.servers import FTPServer

from support.free_port import free_port

logging.getLogger("pyftpdlib").setLevel(logging.CRITICAL)


class FtpSite:
    """A directory as an FTP server shows it; `without` are commands that it does not know."""

    def __init__(self, root: Path, *, without: tuple[str, ...] = ()) -> None:
        self.root = root
        self.without = without
        self.commands: list[str] = []
        self.users: dict[str, tuple[str, Path]] = {}

    def put(self, path: str, text: str | bytes) -> Path:
        """Put a file into the directory and return where it is."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def got(self, word: str) -> list[str]:
        """Return the arguments of all commands of a kind, in order."""
        return [line.partition(" ")[2] for line in self.commands if line.split(" ")[0] == word]

    @contextmanager
    def serve(self, host: str = "127.0.0.1", handler: type[FTPHandler] = FTPHandler) -> Iterator[str]:
        """Serve the directory to everybody in a thread, and give its URL without a slash at the end."""
        site = self
        authorizer = DummyAuthorizer()
        authorizer.add_anonymous(str(self.root))
        for user, (password, root) in self.users.items():
            authorizer.add_user(user, password, str(root))

        # The library forgets connections whose client has gone meanwhile; all are kept here, and closed at the end.
        taken: list[socket.socket] = []

        class Passive(handler.passive_dtp):  # type: ignore[misc, name-defined]
            def handle_accepted(self, sock: socket.socket, addr: tuple[str, int]) -> None:
                taken.append(sock)
                super().handle_accepted(sock, addr)

        class Active(handler.active_dtp):  # type: ignore[misc, name-defined]
            def create_socket(self, *kind: int) -> None:
                super().create_socket(*kind)
                taken.append(self.socket)

        class Server(FTPServer):  # type: ignore[misc]
            def handle_accepted(self, sock: socket.socket, addr: tuple[str, int]) -> None:
                taken.append(sock)
                super().handle_accepted(sock, addr)

        class Recording(handler):  # type: ignore[misc, valid-type]
            proto_cmds = {  # noqa: RUF012 - the library reads it from the class
                name: value for name, value in handler.proto_cmds.items() if name not in site.without
            }

            auth_failed_timeout = 0
            passive_dtp = Passive
            active_dtp = Active

            def pre_process_command(self, line: str, cmd: str, arg: str) -> None:
                site.commands.append(line)
                super().pre_process_command(line, cmd, arg)

            def logline(self, msg: str, logfun: object = None) -> None:
                """Nothing is logged."""

        Recording.authorizer = authorizer
        loop = IOLoop()
        server = Server((host, free_port(host)), Recording, ioloop=loop)
        stopping = threading.Event()

        def run() -> None:
            while not stopping.is_set():
                loop.loop(0.02, blocking=False)
            server.close_all()
            for sock in taken:
                sock.close()

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield f"ftp://{host}:{server.address[1]}"
        finally:
            stopping.set()
            thread.join(10)
            loop.close()


class Moody(FTPHandler):  # type: ignore[misc]  # the library has no types
    """A server that answers requests for files with `reply`; with none at all if that is empty."""

    reply: str | None = None
    only = ""
    """The end of the names of these files."""

    def ftp_SIZE(self, path: str) -> None:
        self._moody(path) or super().ftp_SIZE(path)

    def ftp_MDTM(self, path: str) -> None:
        self._moody(path) or super().ftp_MDTM(path)

    def ftp_RETR(self, file: str) -> None:
        self._moody(file) or super().ftp_RETR(file)

    def _moody(self, path: str) -> bool:
        is_meant = self.reply is not None and path.endswith(self.only)
        if is_meant and self.reply:
            self.respond(self.reply)
        return is_meant
