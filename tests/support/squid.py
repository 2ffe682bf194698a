"""A real squid for tests, with a user and a password if told so: own folder, loopback only, always stopped."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.free_port import serving
from support.requirement import require
from support.until import until

_HELPER = """\
import sys
from urllib.parse import unquote
for line in sys.stdin:
    given = [unquote(word) for word in line.split()]
    print("OK" if given == [{user!r}, {password!r}] else "ERR", flush=True)
"""


class Squid:
    """A running squid and what it has logged: user, method, what was asked for, status."""

    def __init__(self, url: str, log: Path) -> None:
        self.url = url
        self._log = log

    def lines(self) -> list[tuple[str, str, str, int]]:
        """Return the requests whose connection is at rest; waits for the first, which is written after its answer."""
        until(lambda: any(method != "-" for _, method, *_ in self._written()))
        return self._written()

    def _written(self) -> list[tuple[str, str, str, int]]:
        words = (line.split(" ") for line in self._log.read_text().splitlines())
        return [(user, method, target, int(status)) for user, method, target, status in words]


@contextmanager
def squid_proxy(user: str = "", password: str = "") -> Iterator[Squid]:
    """Run it; everything on loopback may be reached through it, tunnels to any port included."""
    program = shutil.which("squid") or shutil.which("squid", path="/usr/sbin")
    require(program, "squid", "squid")
    assert program is not None
    with tempfile.TemporaryDirectory(prefix="squid-") as name:
        folder = Path(name)
        folder.chmod(0o777)  # started by root, squid becomes another user
        with _running(program, folder, user, password) as squid:
            yield squid


@contextmanager
def _running(program: str, folder: Path, user: str, password: str) -> Iterator[Squid]:
    helper = folder / "helper.py"
    helper.write_text(_HELPER.format(user=user, password=password))
    log = folder / "squid.log"
    log.touch()
    log.chmod(0o666)
    file = folder / "squid.conf"

    def command(port: int) -> list[str]:
        file.write_text(_configuration(folder, port, helper if user else None))
        return [program, "-N", "-f", str(file)]

    with serving(command, folder / "errors.txt") as port:
        yield Squid(f"http://127.0.0.1:{port}", log)


def _configuration(folder: Path, port: int, helper: Path | None) -> str:
    login = ""
    if helper is not None:
        login = f"""\
auth_param basic program /usr/bin/env python3 {helper}
auth_param basic children 1
acl known proxy_auth REQUIRED
http_access deny !known
"""
    return f"""\
http_port 127.0.0.1:{port}
pid_filename none
cache deny all
cache_mem 8 MB
cache_log {folder}/cache.log
coredump_dir {folder}
logformat short %un %rm %ru %>Hs
access_log stdio:{folder}/squid.log short
buffered_logs off
shutdown_lifetime 0 seconds
max_filedescriptors 1024
pinger_enable off
{login}http_access allow all
"""
