"""A real PostgreSQL for tests: its own folder, loopback only, always stopped."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.free_port import free_port
from support.requirement import require

_PATIENCE = 60.0
_OWNER = "postgres"
_PROGRAMS = "/usr/lib/postgresql/15/bin"


@contextmanager
def postgresql_server() -> Iterator[str]:
    """Run a server with one empty database, and give its URL; skip or fail without the programs."""
    with restartable_postgresql() as server:
        yield server.url


@dataclass
class PostgresqlServer:
    """A server that a test may end at once, as a loss of power would, and start again."""

    url: str
    start: Callable[[], subprocess.Popen[bytes]]
    process: subprocess.Popen[bytes]

    def restart_at_once(self) -> None:
        """End it without a word to its clients, and start it again; it recovers from its log."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(timeout=_PATIENCE)
        self.process = self.start()


@contextmanager
def restartable_postgresql() -> Iterator[PostgresqlServer]:
    """Run a server with one empty database; skip or fail without the programs."""
    path = f"{_PROGRAMS}:{os.environ.get('PATH', '')}"
    programs = [shutil.which(one, path=path) for one in ("initdb", "postgres", "pg_isready")]
    require(all(programs), "PostgreSQL", "postgresql")
    initdb, postgres, is_ready = (str(one) for one in programs)
    with tempfile.TemporaryDirectory(prefix="postgresql-") as name:
        folder, port = Path(name), free_port()
        folder.chmod(0o755)
        data = folder / "data"
        data.mkdir(mode=0o700)
        as_owner: list[str] = []
        if os.geteuid() == 0:  # the server refuses to run as root
            shutil.chown(data, _OWNER, _OWNER)
            as_owner = ["setpriv", f"--reuid={_OWNER}", f"--regid={_OWNER}", "--clear-groups"]
        made = [
            *as_owner,
            initdb,
            "-D",
            str(data),
            "-A",
            "trust",
            "-U",
            _OWNER,
            "--no-sync",
            "-E",
            "UTF8",
            "--locale=C",
        ]
        subprocess.run(made, check=True, capture_output=True, cwd=folder)
        served = [*as_owner, postgres, "-D", str(data), "-h", "127.0.0.1", "-p", str(port), "-k", "", "-F"]

        def start() -> subprocess.Popen[bytes]:
            with (folder / "log").open("a") as log:
                process = subprocess.Popen(served, stdout=log, stderr=log, cwd=folder)
            try:
                _await_ready([is_ready, "-q", "-h", "127.0.0.1", "-p", str(port)], process, folder / "log")
            except BaseException:
                process.kill()
                raise
            return process

        server = PostgresqlServer(f"postgresql://{_OWNER}@127.0.0.1:{port}/postgres", start, start())
        try:
            yield server
        finally:
            server.process.send_signal(signal.SIGINT)  # ends the connections of clients
            server.process.wait(timeout=_PATIENCE)


def _await_ready(asked: list[str], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while subprocess.run(asked, check=False).returncode:
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"PostgreSQL did not start: {log.read_text()}")
        time.sleep(0.05)
