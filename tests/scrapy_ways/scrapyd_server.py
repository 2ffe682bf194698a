"""A real Scrapyd on loopback with directories of its own; always stopped, with everything that it started."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

from scrapy_ways.runs import environment
from support.free_port import free_port
from support.project import kill_group

PATIENCE = 40.0

CONFIGURATION = """
[scrapyd]
bind_address = 127.0.0.1
http_port = {port}
poll_interval = 0.2
max_proc = 2
eggs_dir = {folder}/eggs
logs_dir = {folder}/logs
items_dir = {folder}/items
jobs_dir = {folder}/jobs
dbs_dir = {folder}/dbs
"""

_direct = build_opener(ProxyHandler({}))


@dataclass(frozen=True, slots=True)
class Scrapyd:
    """A running Scrapyd: its address and its directory."""

    url: str
    folder: Path

    def get(self, service: str, **fields: str) -> dict[str, Any]:
        """Ask a service and return its answer."""
        return _answer(Request(f"{self.url}/{service}.json?{urlencode(fields)}"))

    def post(self, service: str, fields: list[tuple[str, str]]) -> dict[str, Any]:
        """Tell a service and return its answer; a field may be repeated."""
        return _answer(Request(f"{self.url}/{service}.json", urlencode(fields).encode()))

    def run(self, project: str, spider: str, *settings: str) -> str:
        """Schedule a spider, wait for its end, and return the id of the job."""
        fields = [("project", project), ("spider", spider), *(("setting", setting) for setting in settings)]
        answer = self.post("schedule", fields)
        assert answer["status"] == "ok", answer
        job = str(answer["jobid"])
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if any(done["id"] == job for done in self.get("listjobs", project=project)["finished"]):
                return job
            time.sleep(0.1)
        raise TimeoutError(f"the job {job} of {spider} did not end: {self.log(project, spider, job)}")

    def log(self, project: str, spider: str, job: str) -> str:
        """Return the log of a job."""
        path = self.folder / "logs" / project / spider / f"{job}.log"
        return path.read_text() if path.exists() else (self.folder / "scrapyd.log").read_text()

    def items(self, project: str, spider: str, job: str) -> list[dict[str, Any]]:
        """Return the items that a job exported."""
        path = self.folder / "items" / project / spider / f"{job}.jl"
        return [json.loads(line) for line in path.read_text().splitlines()]


@contextmanager
def scrapyd(folder: Path, **env: str) -> Iterator[Scrapyd]:
    """Run Scrapyd in a directory."""
    folder.mkdir()
    port = free_port()
    (folder / "scrapyd.conf").write_text(CONFIGURATION.format(port=port, folder=folder))
    with (folder / "scrapyd.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "scrapyd", "--pidfile="],
            cwd=folder,
            env=environment(folder, **env),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            text=True,
            start_new_session=True,
        )
        server = Scrapyd(f"http://127.0.0.1:{port}", folder)
        try:
            _wait_for(server, process)
            yield server
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
    kill_group(process)


def _wait_for(server: Scrapyd, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            server.get("daemonstatus")
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"Scrapyd did not start: {(server.folder / 'scrapyd.log').read_text()}")


def _answer(request: Request) -> dict[str, Any]:
    with _direct.open(request, timeout=PATIENCE) as response:
        answer = json.load(response)
    assert isinstance(answer, dict)
    return answer
