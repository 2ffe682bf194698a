"""The plainest HTTP client: one request on its own connection, nothing followed, nothing decoded."""

import http.client
import socket
from collections.abc import Mapping
from urllib.parse import urlsplit


def ask(
    url: str, method: str = "GET", headers: Mapping[str, str] | None = None, body: bytes | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Make one request and give status, headers by lower-case name, body."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=100)
    try:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request(method, target, body=body, headers=dict(headers or {}))
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def dial(url: str) -> socket.socket:
    """Open a bare connection, for what an HTTP client would not send."""
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=100)
