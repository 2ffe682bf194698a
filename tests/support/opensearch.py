"""A real OpenSearch for tests: one node on loopback, started once for a session, ended with it."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from support.free_port import free_port
from support.requirement import require
from ultracrawl.index.engine import Json

Options = dict[str, Json]
"""The options of an index."""
Open = Callable[..., Any]
"""Opens the index of a test; further words are options of the engine."""
_LIBRARIES = Path(
    os.environ.get("ULTRACRAWL_TEST_OPENSEARCH_LIBRARIES")
    or Path(__file__).parents[2] / "var" / "servers" / "opensearch"
)
"""Where `make servers` has Maven put the node, or where another version of it is (see opensearch.xml)."""
_NODE = Path(__file__).with_name("OpenSearchNode.java")
_LEAST_JAVA = 21
_PATIENCE = 300.0
"""Seconds that a node may take to start: 10 seconds of processor time, on a machine where many tests run."""

_nodes: list[subprocess.Popen[bytes]] = []
"""The node, if this process has started it."""


@contextmanager
def own_index() -> Iterator[Options]:
    """Yield the options of an index of its own, which is deleted afterwards: a node does not bear hundreds."""
    options: Options = {
        "url": node(), "name": f"test-{uuid.uuid4().hex}", "shards": 1, "replicas": 0
    }  # fmt: skip
    try:
        yield options
    finally:
        send("DELETE", f"{options['url']}/{options['name']}-*")


@cache
def node() -> str:
    """Return the URL of the node of this session, or of the one that `ULTRACRAWL_TEST_OPENSEARCH` names.

    The first process of a session that needs the node starts it; it ends with the session.
    """
    if given := os.environ.get("ULTRACRAWL_TEST_OPENSEARCH"):
        return given.rstrip("/")
    require(find_spec("opensearchpy") is not None, "opensearch-py", get="make venv")
    java = newest_java()
    require(java is not None, f"Java {_LEAST_JAVA} or newer", "openjdk-21-jdk")
    require(any(_LIBRARIES.glob("opensearch-[0-9]*.jar")), "OpenSearch", "maven", get="make servers")
    session = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    folder = Path(tempfile.gettempdir(), f"opensearch-{os.geteuid()}-{session}")
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        port = folder / "port"
        if not port.exists():
            port.write_text(str(_started(str(java), folder, session)))
    return f"http://127.0.0.1:{port.read_text()}"


def _started(java: str, folder: Path, session: int) -> int:
    """Start the node of the session, and return its port when it answers."""
    port = free_port()
    _nodes.append(_start(java, folder, [port], session, subprocess.DEVNULL))
    return port


def _start(
    java: str, folder: Path, ports: list[int], session: int, stdin: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """Start nodes that end with a process, and return them when they answer."""
    with (folder / "log").open("w") as log:
        # A session of its own, so that Ctrl-C does not end it before tests that clean up.
        process = subprocess.Popen(
            [
                java, "-Xmx512m", "-cp", f"{_LIBRARIES}/*", str(_NODE), str(folder / "node"),
                ",".join(map(str, ports)), str(session),
            ],
            stdin=stdin, stdout=log, stderr=log, cwd=folder, start_new_session=True,
        )  # fmt: skip
    deadline = time.monotonic() + _PATIENCE
    health = f"http://127.0.0.1:{ports[-1]}/_cluster/health?wait_for_nodes={len(ports)}&wait_for_status=yellow&timeout=9s"
    while not send("GET", health):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            _await_end(process)
            raise RuntimeError(f"OpenSearch did not start: {(folder / 'log').read_text()[-2000:]}")
        time.sleep(0.25)
    return process


class OwnNodes:
    """Nodes in one process of their own, for tests that stop, kill and restart them; a context manager."""

    def __init__(self, folder: Path, number: int = 1) -> None:
        require(find_spec("opensearchpy") is not None, "opensearch-py", get="make venv")
        self._java = newest_java()
        require(self._java is not None, f"Java {_LEAST_JAVA} or newer", "openjdk-21-jdk")
        require(any(_LIBRARIES.glob("opensearch-[0-9]*.jar")), "OpenSearch", "maven", get="make servers")
        self._folder = folder
        self._ports = [free_port() for _ in range(number)]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def urls(self) -> list[str]:
        """The URLs of the nodes."""
        return [f"http://127.0.0.1:{port}" for port in self._ports]

    def start(self) -> None:
        """Start the nodes, with the data that they had before."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._process = _start(str(self._java), self._folder, self._ports, os.getpid())

    def send_signal(self, number: int) -> None:
        """Send a signal to the process of the nodes; SIGKILL waits for its end."""
        assert self._process is not None
        self._process.send_signal(number)
        if number == signal.SIGKILL:
            _await_end(self._process)

    def end_node(self, number: int) -> None:
        """Shut one of the nodes down, and return when it no longer answers."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(f"{number}\n".encode())
        self._process.stdin.flush()
        while send("GET", self.urls[number]):
            time.sleep(0.1)

    def __enter__(self) -> OwnNodes:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            _await_end(self._process)


def _await_end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    process.wait(60)


def send(method: str, url: str, body: Json = None) -> object:
    """Return the answer to a request; None if there is none, or an error."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            return json.load(answer)
    except OSError:
        return None


def behind(options: Options) -> list[str]:
    """Return the names of the indexes that begin with the name of this one, sorted."""
    found = send("GET", f"{options['url']}/_cat/indices/{options['name']}-*?format=json")
    assert isinstance(found, list)
    return sorted(one["index"] for one in found)


def forget_deletions(options: Options) -> None:
    """Have the servers forget deletions, as a restart does."""
    for order in ("_close", "_open"):
        assert send("POST", f"{options['url']}/{options['name']}/{order}")
    assert send(
        "GET", f"{options['url']}/_cluster/health/{options['name']}?wait_for_status=yellow&timeout=200s"
    )


def newest_java() -> Path | None:
    """Return the newest Java of this machine that can run the node."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    homes += Path("/usr/lib/jvm").glob("*")
    found = {_version(home): home / "bin" / "java" for home in homes if (home / "bin" / "java").exists()}
    newest = max(found, default=0)
    return found[newest] if newest >= _LEAST_JAVA else None


def _version(home: Path) -> int:
    """Return the main version of a Java, as its `release` file has it."""
    try:
        found = re.search(r'JAVA_VERSION="(\d+)', (home / "release").read_text())
    except OSError:
        return 0
    return int(found[1]) if found else 0
