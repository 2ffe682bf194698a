"""A real nginx for tests: own prefix, own configuration, loopback only, always stopped."""

import http.client
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.free_port import free_port, stop_program
from support.requirement import require

_MARK = "/.log-mark/"
_PATIENCE = 10.0
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the access log: what was asked and what went out."""

    method: str
    path: str
    status: int
    body_bytes: int


class Nginx:
    """A running nginx and its access log."""

    def __init__(self, url: str, log: Path) -> None:
        self.url = url
        self._log = log
        self._marks = 0
        self._start = 0

    def requests(self) -> list[LogLine]:
        """Return all requests that were answered before this call, since the last `reset`.

        nginx writes a line after the answer has gone out. The single process writes them in order, so the
        line of a request of our own shows that those before it are there.
        """
        self._marks += 1
        mark = f"{_MARK}{self._marks}"
        _ask(self.url, mark)
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            lines = [_parsed(line) for line in self._log.read_text().splitlines() if line.count("\t") == 3]
            if any(line.path == mark for line in lines):
                return [line for line in lines[self._start :] if not line.path.startswith(_MARK)]
            time.sleep(0.01)
        raise TimeoutError(f"nginx did not write its access log {self._log}")

    def paths(self) -> list[str]:
        """Return the paths asked for, in order."""
        return [line.path for line in self.requests()]

    def count(self, path: str) -> int:
        """Return how often `path` was asked for."""
        return self.paths().count(path)

    @property
    def bodies(self) -> int:
        """How many full bodies were sent: answers 200 to GET."""
        return sum(line.status == 200 and line.method == "GET" for line in self.requests())

    def reset(self) -> None:
        """Forget the requests so far."""
        self.requests()
        self._start = len(self._log.read_text().splitlines())


@contextmanager
def nginx_site(
    roots: Path | Mapping[str, Path], *, host: str = "127.0.0.1", extra: str = ""
) -> Iterator[Nginx]:
    """Serve a directory, or one per path prefix (`{"/docs/": path}`), with nginx; skip or fail without it.

    `extra` is configuration for the server block. RuntimeError gives nginx's words when it does not start.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    require(program, "nginx", "nginx-light")
    assert program is not None
    with tempfile.TemporaryDirectory(prefix="nginx-") as name:
        directory = Path(name)
        process, url = _started(program, directory, roots, host, extra)
        try:
            yield Nginx(url, directory / "access.log")
        finally:
            stop_program(process)


def _started(
    program: str, directory: Path, roots: Path | Mapping[str, Path], host: str, extra: str
) -> tuple[subprocess.Popen[bytes], str]:
    """Start nginx on a free port; another process may take that port first, so try a few."""
    for _ in range(_ATTEMPTS):
        port = free_port(host)
        (directory / "nginx.conf").write_text(_configuration(roots, host, port, extra))
        errors = directory / "error.log"
        errors.write_text("")
        process = subprocess.Popen(
            [program, "-p", f"{directory}/", "-c", "nginx.conf", "-e", "error.log"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        url = f"http://{host}:{port}"
        if _answers(process, url):
            return process, url
        stop_program(process)
        if "Address already in use" not in errors.read_text():
            break
    raise RuntimeError(f"nginx did not start on {host}: {errors.read_text().strip() or 'it gave no reason'}")


def _answers(process: subprocess.Popen[bytes], url: str) -> bool:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            _ask(url, f"{_MARK}0")
        except OSError:
            time.sleep(0.02)
        else:
            return process.poll() is None
    return False


def _ask(url: str, path: str) -> None:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=_PATIENCE)
    try:
        connection.request("GET", path)
        connection.getresponse().read()
    finally:
        connection.close()


def _parsed(line: str) -> LogLine:
    method, path, status, size = line.split("\t")
    return LogLine(method, path, int(status), int(size))


def _configuration(roots: Path | Mapping[str, Path], host: str, port: int, extra: str) -> str:
    """Write the configuration; a single process stays the user who started it, also when that is root."""
    return f"""\
daemon off;
master_process off;
pid nginx.pid;
events {{ worker_connections 4096; }}
http {{
    log_format short '$request_method\\t$request_uri\\t$status\\t$body_bytes_sent';
    access_log access.log short;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 60;
    keepalive_requests 1000000;
    charset_types text/plain;
    default_type application/octet-stream;
    types {{
        text/html html htm;
        text/css css;
        text/plain txt;
        text/xml xml;
        application/javascript js;
        application/pdf pdf;
        image/gif gif;
        image/jpeg jpg jpeg;
        image/png png;
        image/svg+xml svg;
    }}
    server {{
        listen {host}:{port} backlog=1024;
        server_name _;
        index index.html;
        location {_MARK} {{ return 204; }}
{_locations(roots)}
        {extra}
    }}
}}
"""


def _locations(roots: Path | Mapping[str, Path]) -> str:
    if isinstance(roots, Path):
        return f'        location / {{ root "{roots.resolve()}"; }}'
    return "\n".join(_location(prefix, directory) for prefix, directory in roots.items())


def _location(prefix: str, directory: Path) -> str:
    beginning = f"/{prefix.strip('/')}/".replace("//", "/")
    return f'        location {beginning} {{ alias "{directory.resolve()}/"; }}'
