"""An SSH server on loopback that shows a directory by SFTP, and records which files it opened."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import asyncssh

from support.remote_site import PASSWORD, USER, DirectorySite


class SftpSite(DirectorySite):
    """A directory as an SSH server shows it to the user `reader`."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.logins = 0
        self.user_key: asyncssh.SSHKey | None = None
        """The key that may log in beside the password."""
        self.host_key = asyncssh.generate_private_key("ssh-ed25519")
        self.connections: list[asyncssh.SSHServerConnection] = []

    @property
    def fingerprint(self) -> str:
        return str(self.host_key.get_fingerprint("sha256"))

    def connection(self) -> dict[str, object]:
        return {"host_keys": self.fingerprint}

    def lose_connections(self) -> None:
        """Cut all connections; called in the thread of the server."""
        for connection in self.connections:
            connection.abort()

    @contextmanager
    def serve(self) -> Iterator[Self]:
        """Serve the directory in a thread."""
        loop = asyncio.new_event_loop()
        ready = threading.Event()
        serving: list[Any] = []

        async def start() -> None:
            serving.append(
                await asyncssh.listen(
                    "127.0.0.1",
                    0,
                    server_host_keys=[self.host_key],
                    server_factory=lambda: _Server(self),
                    sftp_factory=lambda channel: _Sftp(channel, self),
                )
            )
            ready.set()

        def run() -> None:
            asyncio.set_event_loop(loop)
            loop.run_until_complete(start())
            loop.run_forever()
            self.lose_connections()
            loop.run_until_complete(serving[0].wait_closed() if serving else asyncio.sleep(0))
            for task in asyncio.all_tasks(loop):
                task.cancel()
            loop.run_until_complete(asyncio.sleep(0.05))
            loop.close()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        assert ready.wait(20)
        try:
            self.url = f"sftp://127.0.0.1:{serving[0].sockets[0].getsockname()[1]}/"
            yield self
        finally:
            loop.call_soon_threadsafe(lambda: (serving[0].close(), loop.stop()))
            thread.join(20)


class _Server(asyncssh.SSHServer):
    def __init__(self, site: SftpSite) -> None:
        self._site = site

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._site.connections.append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        good = (username, password) == (USER, PASSWORD)
        self._site.logins += good
        return good

    def public_key_auth_supported(self) -> bool:
        return self._site.user_key is not None

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        assert self._site.user_key is not None
        return username == USER and key.public_data == self._site.user_key.public_data


class _Sftp(asyncssh.SFTPServer):
    def __init__(self, channel: Any, site: SftpSite) -> None:
        self._site = site
        super().__init__(channel, chroot=os.fsencode(site.root))

    def scandir(self, path: bytes) -> Any:
        self._site.before_listing(path)
        return super().scandir(path)

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> Any:
        self._site.before_opening(path)
        self._site.opened.append(os.fsdecode(path))
        return super().open(path, pflags, attrs)
