"""A proxy on loopback that knows names of its own, wants a password if told so, and keeps the heads it got."""

import base64
import socket
import threading
import time
from contextlib import suppress

from support.free_port import free_port


class Proxy:
    """Forwards requests for absolute URLs and opens tunnels; `targets` gives the real address of a host and port.

    `heads` are the requests as they came, tunnels first (`CONNECT`); what goes through a tunnel is not seen. The
    most connections that were open at once are `most`. The first answer waits until `together` requests are there, and
    a little longer, so that one too many would be seen.
    """

    def __init__(
        self, targets: dict[str, int], user: str = "", password: str = "", *, together: int = 1, port: int = 0
    ) -> None:
        self.targets = targets
        self.heads: list[str] = []
        self.most = 0
        self._open = 0
        self._together = together
        self._lock = threading.Condition()
        self._wanted = base64.b64encode(f"{user}:{password}".encode()).decode() if user else ""
        self._listener = socket.create_server(("127.0.0.1", port or free_port()))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(self, *exc: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    @property
    def text(self) -> str:
        """All heads in one."""
        return "\n".join(self.heads)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(20)
            head, body = _request(client)
            if not head:
                return
            with self._lock:
                self.heads.append(head.decode("latin-1"))
                self._open += 1
                self.most = max(self.most, self._open)
                self._lock.notify_all()
            self._wait_for_others()
            with self._lock:  # before the answer: the next request may come as soon as it is there
                self._open -= 1
            self._serve(client, head, body)

    def _wait_for_others(self) -> None:
        if self._together > 1:
            with self._lock:
                self._lock.wait_for(lambda: self.most >= self._together, timeout=10)
            time.sleep(0.05)

    def _serve(self, client: socket.socket, head: bytes, body: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        if (
            self._wanted
            and f"proxy-authorization: basic {self._wanted}".lower() not in head.decode("latin-1").lower()
        ):
            client.sendall(
                b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=p\r\nContent-Length: 0\r\n"
                b"Connection: close\r\n\r\n"
            )
            return
        method, target, _ = first.split(" ")
        tunnel = method == "CONNECT"
        authority = target if tunnel else target.split("/")[2]
        host, _, port = authority.partition(":")
        address = ("127.0.0.1", self.targets[host]) if host in self.targets else (host, int(port or 80))
        try:
            server = socket.create_connection(address, timeout=20)
        except OSError:
            client.sendall(b"HTTP/1.1 502 Bad\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        with server:
            if tunnel:
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                back = threading.Thread(target=_pump, args=(server, client), daemon=True)
                back.start()
                _pump(client, server)
                back.join()
                return
            path = "/" + target.split("/", 3)[3]
            kept = [one for one in lines if one and not one.lower().startswith(("proxy-", "connection"))]
            server.sendall(
                "\r\n".join([f"{method} {path} HTTP/1.1", *kept, "Connection: close", "", ""]).encode() + body
            )
            _pump(server, client)


def _request(client: socket.socket) -> tuple[bytes, bytes]:
    """Return head and body of one request; both empty at the end of the connection."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = client.recv(65536)
        if not part:
            return b"", b""
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [
        line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
    ]
    while lengths and len(body) < int(lengths[0]):
        body += client.recv(65536)
    return head, body


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
