"""Servers of remote folders in tests: what they have in common, and those that answer HTTP."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from werkzeug.serving import WSGIRequestHandler, make_server

PASSWORD = "open-sesame-5"
"""The password of `USER`; sources of tests have it as `${FILES_PASSWORD}`."""
USER = "reader"


class RemoteSite:
    """Files that a server shows to the user `reader`."""

    url = ""
    """The URL of the root folder while it is served, with a `/` at the end."""
    odd_names: tuple[str, ...] = ("a b?c.txt", 'a|b"c.txt')
    """Names that files cannot have on all servers."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        """The paths of the files that were opened, in order."""
        self.before_listing: Callable[[bytes], object] = lambda path: None
        """Called before a folder is listed, in a thread of the server."""
        self.before_opening: Callable[[bytes], object] = lambda path: None

    def put(self, path: str, text: str | bytes = "common words") -> object:
        """Write a file."""
        raise NotImplementedError

    def delete(self, path: str) -> None:
        """Delete a file, or a folder with all that is in it."""
        raise NotImplementedError

    def options(self, folder: str = "docs", **connection: object) -> dict[str, Any]:
        """Return the options of a source with a folder of the server."""
        known = {"password": "${FILES_PASSWORD}", "timeout": 20, **self.connection(), **connection}
        return {
            "paths": [self.url.replace("//", f"//{USER}@") + folder],
            "connections": {self.url: {name: one for name, one in known.items() if one is not None}},
        }

    def connection(self) -> dict[str, object]:
        """Return the options of the connection that only this server needs."""
        return {}

    def move_to(self, port: int) -> None:
        """Have the options name another port of this machine."""
        self.url = f"{self.url.partition(':')[0]}://127.0.0.1:{port}/"

    def lose_connections(self) -> None:
        """Cut all connections; called in a thread of the server."""
        raise NotImplementedError

    @contextmanager
    def serve(self) -> Iterator[Self]:
        """Serve the files in threads."""
        yield self


class DirectorySite(RemoteSite):
    """A site whose files are those of a directory."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root = root
        self._time = int(time.time()) - 864_000

    def put(self, path: str, text: str | bytes = "common words") -> Path:
        """Put a file into the directory, days ago and later than all others; return where it is."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        self._time += 1
        os.utime(file, (self._time, self._time))
        return file

    def delete(self, path: str) -> None:
        gone = self.root / path
        shutil.rmtree(gone) if gone.is_dir() else gone.unlink()


class _Handler(WSGIRequestHandler):
    def log_request(self, code: object = "-", size: object = "-") -> None:
        pass


class HttpSite(RemoteSite):
    """A site whose server is a WSGI application; a subclass names what a request means."""

    application: Any

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._sockets: set[socket.socket] = set()
        self.ssl_context: Any = None

    def listed(self, environ: dict[str, Any]) -> str | None:
        """Return the folder that a request lists."""
        raise NotImplementedError

    def read(self, environ: dict[str, Any]) -> str | None:
        """Return the file that a request reads."""
        raise NotImplementedError

    def refusal(self, environ: dict[str, Any]) -> tuple[str, list[tuple[str, str]], bytes] | None:
        """Return the status, the headers and the body with which a request of somebody else is answered."""
        raise NotImplementedError

    def lose_connections(self) -> None:
        for one in self._sockets:
            one.shutdown(socket.SHUT_RDWR)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        """Answer a request."""
        if refused := self.refusal(environ):
            status, headers, body = refused
            start_response(status, [*headers, ("Content-Length", str(len(body)))])
            return [body]
        connection = environ["werkzeug.socket"]
        self._sockets.add(connection)
        try:
            if (folder := self.listed(environ)) is not None:
                self.before_listing(folder.encode())
            elif file := self.read(environ):
                self.before_opening(file.encode())
                self.opened.append(file)
        finally:
            self._sockets.discard(connection)
        return self.application(environ, start_response)

    @contextmanager
    def serve(self) -> Iterator[Self]:
        server = make_server(
            "127.0.0.1", 0, self, threaded=True, request_handler=_Handler, ssl_context=self.ssl_context
        )
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            self.served_at(server.port)
            yield self
        finally:
            server.shutdown()
            thread.join(20)
            server.server_close()

    def served_at(self, port: int) -> None:
        """Note the port."""
        self.move_to(port)
