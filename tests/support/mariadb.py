"""A real MariaDB for tests: its own folder, loopback only, always stopped."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.free_port import serving
from support.requirement import require

_PATIENCE = 60.0


@contextmanager
def mariadb_server() -> Iterator[str]:
    """Run a server with one empty database, and give its URL; skip or fail without the programs."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin"
    server = shutil.which("mariadbd", path=path)
    require(server, "MariaDB", "mariadb-server-core")
    with tempfile.TemporaryDirectory(prefix="mariadb-") as name:
        data = Path(name) / "data"
        common = ["--no-defaults", f"--datadir={data}", *(["--user=root"] if os.geteuid() == 0 else [])]
        data.mkdir()

        def command(port: int) -> list[str]:
            served = ["--bind-address=127.0.0.1", f"--port={port}", f"--socket={name}/socket"]
            # Without the tables of rights nothing has to be set up; only this machine gets in.
            return [
                str(server),
                *common,
                *served,
                "--skip-grant-tables",
                "--innodb-flush-log-at-trx-commit=0",
            ]

        with serving(command, Path(name) / "log") as port:
            yield _with_database(f"mariadb+pymysql://root@127.0.0.1:{port}/")


def _with_database(url: str) -> str:
    import sqlalchemy as sa

    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            with sa.create_engine(url, poolclass=sa.NullPool).connect() as connection:
                connection.exec_driver_sql("CREATE DATABASE tickets CHARACTER SET utf8mb4")
        except sa.exc.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return f"{url}tickets"
