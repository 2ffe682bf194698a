"""A real Samba for tests: a share, an account and folders of its own, loopback only, always stopped."""

from __future__ import annotations

import os
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from support.free_port import serving
from support.remote_site import PASSWORD, USER, DirectorySite
from support.requirement import require

SHARE = "files"
ACCOUNT = "nobody"
"""The account of the system that `USER` has on the server."""
_FOLDERS = ("private", "lock", "state", "cache", "pid", "ncalrpc", "served")
_CONFIGURATION = """\
[global]
server role = standalone server
workgroup = HOUSE
netbios name = FILES
smb ports = {port}
interfaces = 127.0.0.1
bind interfaces only = yes
disable netbios = yes
load printers = no
printcap name = /dev/null
passdb backend = smbpasswd:{folder}/private/smbpasswd
username map = {folder}/users
log file = {folder}/log
private dir = {folder}/private
lock directory = {folder}/lock
state directory = {folder}/state
cache directory = {folder}/cache
pid directory = {folder}/pid
ncalrpc dir = {folder}/ncalrpc
{options}
[{share}]
path = {root}
"""
_SMB2 = b"\xfeSMB"
_CREATE = 5
_FOLDER_OPTION, _FILE_OPTION = 0x01, 0x40


class SambaSite(DirectorySite):
    """A directory as the share `files` of Samba shows it to the user `reader`.

    The directory is made for it, since others may not enter the temporary folders of tests. Clients connect to a relay
    that looks at their messages, if these are not encrypted.
    """

    odd_names = ()

    def __init__(self, settings: str = "", *, encryption: bool | None = False) -> None:
        super().__init__(Path())
        self._settings = settings
        self._encryption = encryption
        self._sockets: set[socket.socket] = set()
        self.answers_left: int | None = None
        """After so many messages of the server its connections are cut; None: never."""

    def connection(self) -> dict[str, object]:
        return {} if self._encryption is None else {"encryption": self._encryption}

    def move_to(self, port: int) -> None:
        self.url = f"smb://127.0.0.1:{port}/{SHARE}/"

    def lose_connections(self) -> None:
        for one in list(self._sockets):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def serve(self) -> Iterator[Self]:
        """Serve the directory; skip or fail without the program, which needs root."""
        program = shutil.which("smbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        require(program and os.geteuid() == 0, "Samba (as root)", "samba")
        with tempfile.TemporaryDirectory(prefix="samba-") as name:
            folder = Path(name)
            folder.chmod(0o755)
            for one in _FOLDERS:
                (folder / one).mkdir(mode=0o755)
            self.root = folder / "served"
            (folder / "users").write_text(f"{ACCOUNT} = {USER}\n")
            file = folder / "smb.conf"

            def command(port: int) -> list[str]:
                values = {"folder": folder, "port": port or 445, "root": self.root, "share": SHARE}
                file.write_text(_CONFIGURATION.format(**values, options=self._settings))
                return [str(program), "--foreground", f"--configfile={file}"]

            command(0)
            subprocess.run(
                ["smbpasswd", "-c", str(file), "-a", "-s", ACCOUNT],
                input=f"{PASSWORD}\n{PASSWORD}\n",
                text=True,
                check=True,
                capture_output=True,
            )
            with serving(command, folder / "output") as port, self._relay(port) as relayed:
                self.move_to(relayed)
                yield self

    # ---- the relay

    @contextmanager
    def _relay(self, port: int) -> Iterator[int]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=self._accept, args=(listener, port), daemon=True)
            thread.start()
            try:
                yield listener.getsockname()[1]
            finally:
                listener.shutdown(socket.SHUT_RDWR)
                thread.join(20)
                self.lose_connections()

    def _accept(self, listener: socket.socket, port: int) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(client, port), daemon=True).start()

    def _connect(self, client: socket.socket, port: int) -> None:
        with client, socket.create_connection(("127.0.0.1", port)) as server:
            ends = {client, server}
            self._sockets |= ends
            back = threading.Thread(target=self._pass_on, args=(server, client, False), daemon=True)
            back.start()
            self._pass_on(client, server, is_request=True)
            back.join()
            self._sockets -= ends

    def _pass_on(self, source: socket.socket, target: socket.socket, is_request: bool) -> None:
        with source.makefile("rb") as messages, suppress(OSError):
            while len(head := messages.read(4)) == 4:
                message = messages.read(int.from_bytes(head))
                if is_request:
                    self._look_at(message)
                elif self.answers_left is not None:
                    self.answers_left -= 1
                    if self.answers_left < 0:
                        break
                target.sendall(head + message)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _look_at(self, message: bytes) -> None:
        """Note a folder or file that is opened (MS-SMB2 2.2.13)."""
        if message[:4] != _SMB2 or int.from_bytes(message[12:14], "little") != _CREATE:
            return
        options, start, length = struct.unpack_from("<IHH", message, 64 + 40)
        name = message[start : start + length].decode("utf-16-le").replace("\\", "/")
        if options & _FOLDER_OPTION:
            self.before_listing(name.encode())
        elif options & _FILE_OPTION:
            self.before_opening(name.encode())
            self.opened.append(name)
