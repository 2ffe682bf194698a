"""Serve a directory over HTTP on loopback: python examples/serve.py DIR [--port N] [--port-file FILE].

For trying a crawler out, not for production. It needs the standard library only, answers conditional requests
(ETag, Last-Modified) with 304, lists no directories, and ends cleanly on SIGINT and SIGTERM.

Sitemaps need whole addresses, and the port is not known before: in robots.txt and sitemap.xml the text
`http://intranet.example` is sent as the address of this server.
"""

import argparse
import functools
import io
import os
import signal
import sys
from collections.abc import Sequence
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

OWN_ADDRESS = b"http://intranet.example"


class Handler(SimpleHTTPRequestHandler):
    """Serves files with an ETag made of size and time of change; keeps connections alive; logs nothing."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    extensions_map = {  # noqa: RUF012 - the base class declares a plain dict
        **SimpleHTTPRequestHandler.extensions_map,
        ".html": "text/html",  # the pages name their character sets themselves
        ".txt": "text/plain; charset=utf-8",
        ".xml": "application/xml",
    }
    _etag: str | None = None

    def send_head(self) -> Any:  # the base class answers either kind of file object
        """Answer 304 when the client's entity tag still holds; otherwise as the base class does."""
        self._etag = self._tag()
        asked = self.headers.get("If-None-Match")
        if self._etag is not None and asked is not None:
            del self.headers["If-Modified-Since"]  # RFC 9110, 13.1.3: the entity tag decides alone
            if self._etag in [tag.strip().removeprefix("W/") for tag in asked.split(",")]:
                self.send_response(HTTPStatus.NOT_MODIFIED)
                self.end_headers()
                return None
        path = Path(self.translate_path(self.path))
        if path.name in {"robots.txt", "sitemap.xml"} and path.is_file():
            return self._filled_in(path)
        return super().send_head()

    def end_headers(self) -> None:
        """Add the entity tag to every answer about a file."""
        if self._etag is not None:
            self.send_header("ETag", self._etag)
        super().end_headers()

    def list_directory(self, path: str | os.PathLike[str]) -> IO[bytes] | None:  # type: ignore[override]  # always None
        """Answer 404 for a directory without an index page."""
        del path
        self.send_error(HTTPStatus.NOT_FOUND)
        return None

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is that of the base class
        """Stay quiet."""

    def _filled_in(self, path: Path) -> IO[bytes]:
        """Answer with a file in which the address of this server stands."""
        host, port = self.connection.getsockname()[:2]
        body = path.read_bytes().replace(OWN_ADDRESS, f"http://{host}:{port}".encode())
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return io.BytesIO(body)

    def _tag(self) -> str | None:
        path = Path(self.translate_path(self.path))
        if path.is_dir():
            path /= "index.html"
        if not path.is_file():
            return None
        status = path.stat()
        return f'"{status.st_size:x}-{status.st_mtime_ns:x}"'


class Server(ThreadingHTTPServer):
    """One thread per connection; threads do not hold up the end of the process."""

    daemon_threads = True
    request_queue_size = 128


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until a signal comes; print the address first."""
    parser = argparse.ArgumentParser(description="Serve a directory over HTTP on loopback.")
    parser.add_argument("directory", metavar="DIR", type=Path)
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes a free one")
    parser.add_argument(
        "--port-file", type=Path, metavar="FILE", help="write the port number to FILE once it is open"
    )
    options = parser.parse_args(arguments)
    if not options.directory.is_dir():
        parser.error(f"{options.directory} is not a directory")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with Server(
        ("127.0.0.1", options.port), functools.partial(Handler, directory=str(options.directory))
    ) as server:
        try:
            if options.port_file:
                _write_whole(options.port_file, str(server.server_port))
            print(f"http://127.0.0.1:{server.server_port}/", flush=True)
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            pass
    return 0


def _write_whole(path: Path, text: str) -> None:
    """Write through a second name, so that a reader never sees half of it."""
    draft = path.with_name(f"{path.name}.new")
    draft.write_text(text)
    draft.replace(path)


if __name__ == "__main__":
    sys.exit(main())
