"""A real PostgreSQL for tests: its own folder, loopback only, always stopped."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
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

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The URL of its database."""
        return f"postgresql://{_OWNER}@127.0.0.1:{self.port}/postgres"

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run it while the block runs."""
        self._start()
        try:
            yield
        finally:
            assert self.process is not None
            self.process.send_signal(signal.SIGINT)  # ends the connections of clients
            self.process.wait(timeout=_PATIENCE)

    def restart_at_once(self) -> None:
        """End it without a word to its clients, and start it again; it recovers from its log."""
        assert self.process is not None
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(timeout=_PATIENCE)
        self._start()

    def _start(self) -> None:
        at = ["-h", "127.0.0.1", "-p", str(self.port)]
        words = ["postgres", "-D", str(self.folder / "data"), *at, "-k", "", "-F"]
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(_as_owner(words), stdout=log, stderr=log, cwd=self.folder)
        try:
            _await_ready([_program("pg_isready"), "-q", *at], self.process, self.folder / "log")
        except BaseException:
            self.process.kill()
            raise


@contextmanager
def restartable_postgresql() -> Iterator[PostgresqlServer]:
    """Run a server with one empty database; skip or fail without the programs."""
    made = ["initdb", "-A", "trust", "-U", _OWNER, "--no-sync", "-E", "UTF8", "--locale=C", "-D"]
    with _made(made) as server, server.running():
        yield server


@contextmanager
def standby_of(url: str) -> Iterator[PostgresqlServer]:
    """Run a copy of a server that follows it by its URL; `SELECT pg_promote()` makes it a server of its own."""
    made = ["pg_basebackup", "--dbname", url, "--checkpoint=fast", "--no-sync", "--write-recovery-conf", "-D"]
    with _made(made) as server, server.running():
        yield server


@contextmanager
def _made(words: list[str]) -> Iterator[PostgresqlServer]:
    """Make the folder of a server by a program, whose last parameter it is."""
    found = [_program(one) for one in ("initdb", "postgres", "pg_isready", "pg_basebackup")]
    require(all(found), "PostgreSQL", "postgresql")
    with tempfile.TemporaryDirectory(prefix="postgresql-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        data = folder / "data"
        data.mkdir(mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(data, _OWNER, _OWNER)
        subprocess.run(_as_owner([*words, str(data)]), check=True, capture_output=True, cwd=folder)
        yield PostgresqlServer(folder, free_port())


def _program(name: str) -> str:
    return shutil.which(name, path=f"{_PROGRAMS}:{os.environ.get('PATH', '')}") or ""


def _as_owner(words: list[str]) -> list[str]:
    """Return the words of a program of the server, which refuses to run as root."""
    owner = ["setpriv", f"--reuid={_OWNER}", f"--regid={_OWNER}", "--clear-groups"]
    return [*(owner if os.geteuid() == 0 else []), _program(words[0]), *words[1:]]


def _await_ready(asked: list[str], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while subprocess.run(asked, check=False).returncode:
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"PostgreSQL did not start: {log.read_text()}")
        time.sleep(0.05)
