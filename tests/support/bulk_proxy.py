"""A proxy before an OpenSearch: bulk requests meet a fault that a test chooses, all others pass."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

Body = bytes
Answer = tuple[int, bytes]
Fault = Callable[["BulkProxy", Body], Answer | None]
"""Returns the answer to the body of a bulk request; None: the connection ends without one."""


class BulkProxy:
    """Passes requests on; the next bulk requests meet the faults of `faults`, in their order."""

    def __init__(self, server: str) -> None:
        self._server = urlsplit(server).netloc
        self.faults: list[Fault] = []
        self.before: Callable[[], object] = lambda: None
        """Called before each request that is no bulk request."""
        self.paths: list[str] = []
        """The paths of the requests that were no bulk requests."""
        self.bulks = 0
        """Bulk requests so far."""
        self.late: list[tuple[str, Body]] = []
        """Bulk requests that were kept, by path."""
        self._path = ""

    def send(self, method: str, path: str, body: Body, kind: str = "application/x-ndjson") -> Answer:
        """Send a request to the server, and return its answer."""
        connection = http.client.HTTPConnection(self._server, timeout=120)
        try:
            connection.request(method, path, body or None, {"Content-Type": kind})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def pass_on(self, body: Body) -> Answer:
        """Send a bulk request to the server."""
        return self.send("POST", self._path, body)

    def keep(self, body: Body) -> None:
        """Keep a bulk request, to be delivered later."""
        self.late.append((self._path, body))

    def deliver_late(self) -> list[int]:
        """Deliver the bulk requests that were kept; returns the status of each of their changes."""
        statuses = []
        for path, body in self.late:
            _, answer = self.send("POST", path, body)
            statuses += [next(iter(item.values()))["status"] for item in json.loads(answer)["items"]]
        self.late.clear()
        return statuses

    def answer(self, method: str, path: str, body: Body) -> Answer | None:
        """Return the answer to a request; None to end the connection, as the server did or is not there."""
        with suppress(OSError, http.client.HTTPException):
            if "_bulk" not in path:
                self.before()
                self.paths.append(path)
                return self.send(method, path, body, "application/json")
            self.bulks += 1
            self._path = path
            return self.faults.pop(0)(self, body) if self.faults else self.pass_on(body)
        return None


def refuse_a_part(status: int) -> Fault:
    """Return the fault that takes every other change, and refuses the rest with a status."""

    def fault(proxy: BulkProxy, body: Body) -> Answer:
        pieces, lines = list[bytes](), iter(body.splitlines(keepends=True))
        for line in lines:
            pieces.append(line if b'"delete"' in line[:12] else line + next(lines))
        taken, refused = pieces[::2], pieces[1::2]
        _, answer = proxy.pass_on(b"".join(taken))
        given = json.loads(answer)["items"]
        error = {"type": "rejected_execution_exception", "reason": "busy"}
        no = {"index": {"status": status, "error": error}}
        items = [given.pop(0) if number % 2 == 0 else no for number in range(len(pieces))]
        return 200, json.dumps({"errors": bool(refused), "items": items}).encode()

    return fault


def refuse(status: int) -> Fault:
    """Return the fault that refuses the whole request with a status."""
    return lambda proxy, body: (status, b'{"error": {"type": "busy", "reason": "busy"}}')


def keep_late(proxy: BulkProxy, body: Body) -> None:
    """Keep the request for later, and end the connection."""
    proxy.keep(body)


def cut_answer(proxy: BulkProxy, body: Body) -> Answer:
    """Pass the request on, and end the connection in the middle of the answer."""
    _, answer = proxy.pass_on(body)
    return -1, answer


@contextmanager
def bulk_proxy(server: str) -> Iterator[tuple[str, BulkProxy]]:
    """Run a proxy before a server; yields its URL and the proxy."""
    proxy = BulkProxy(server)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = proxy.answer(self.command, self.path, body)
            if answer is None:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            status, data = answer
            with suppress(OSError):  # who asked may have gone
                self.reply(status, data)

        def reply(self, status: int, data: bytes) -> None:
            self.send_response(200 if status < 0 else status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data[: len(data) // 2] if status < 0 else data)
            if status < 0:
                self.close_connection = True

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http_server:
        http_server.daemon_threads = True
        thread = threading.Thread(target=http_server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{http_server.server_address[1]}", proxy
        finally:
            http_server.shutdown()
            thread.join()
