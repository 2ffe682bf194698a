"""A project in a scratch directory, driven by the command line in processes of its own, as a user would."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import yaml

from support.clock import AHEAD
from support.hosted import HOSTED, HostedCommand
from ultracrawl.index.project_index import open_index
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions

ROOT = Path(__file__).resolve().parents[2]

DAY = 86_400.0
"""Seconds after which robots.txt is asked for again unless a source says otherwise."""
LOOPBACK = {"networks": ["127.0.0.0/8"]}
"""The boundary section that lets a source reach the sites of the tests."""
ANY_PORT = {"*": {"exclude": []}}
"""`boundary.ports` of a source whose sites are at several ports: by default it keeps to those of its start URLs."""
PATIENCE = 300.0
"""Seconds that a command of a `PatientWorkspace` may take."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What was printed, as one JSON value."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """What was printed, as one JSON value a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def run(self) -> dict[str, Any]:
        """The only run of `crawl --json`."""
        (run,) = self.json["runs"]
        assert isinstance(run, dict)
        return run


class Workspace:
    """A directory with an `ultracrawl.yaml`, and the commands run in it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def define(self, url: str = "", **options: Any) -> None:
        """Write a definition with one source `site`; loopback is allowed.

        What is not said means no delay, not even after errors of the network, and that every run asks for sitemaps,
        so that a second run sees a change.
        """
        source = {"type": "web", "start_urls": [url], **options}
        source["politeness"] = {
            "backoff": {"longest": 0},
            **options.get("politeness", {"delay": 0, "concurrency": 8}),
        }
        source["boundary"] = {**LOOPBACK, **options.get("boundary", {})}
        source["limits"] = {"retries": 1, "retry_delay": 0.05, **options.get("limits", {})}
        source["sitemaps"] = {"ttl": 0, **options.get("sitemaps", {})}
        self.write({"sources": {"site": source}})

    def write(self, definition: dict[str, Any]) -> None:
        """Write a whole definition file."""
        (self.directory / "ultracrawl.yaml").write_text(yaml.safe_dump(definition, sort_keys=False))

    def start(self, *words: str, hosted: bool | None = None, **env: str) -> subprocess.Popen[str]:
        """Start `ultracrawl WORDS` as the leader of a process group of its own; its standard input is a pipe.

        It is really started if its environment counts before the first import, unless `hosted` says otherwise.
        """
        one_process = {"ULTRACRAWL_JOBS": "1"}  # tests of several ones say so by `--jobs`
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **one_process, **env}
        if HOSTED and (not counts_early(env) if hosted is None else hosted):
            return HostedCommand(words, self.directory, environment)
        return subprocess.Popen(
            [sys.executable, "-m", "ultracrawl", *words],
            cwd=self.directory,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def command(
        self, *words: str, timeout: float = 120.0, stdin: str = "", hosted: bool | None = None, **env: str
    ) -> Ended:
        """Run `ultracrawl WORDS` to its end; kills its process group when the time is over."""
        process = self.start(*words, hosted=hosted, **env)
        try:
            out, err = process.communicate(input=stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            kill_group(process)
            raise
        return Ended(process.returncode, out, err)

    def crawl(
        self,
        *words: str,
        code: int | None = 0,
        timeout: float = 120.0,
        hosted: bool | None = None,
        **env: str,
    ) -> Ended:
        """Run `ultracrawl crawl --json` and check its exit code (None: any)."""
        ended = self.command("crawl", "--json", *words, timeout=timeout, hosted=hosted, **env)
        assert code is None or ended.code == code, ended.err
        return ended

    def age(self, seconds: float) -> None:
        """Make what is known of robots.txt and sitemaps older, as if time had gone by between two runs."""
        state = self.directory / "var" / "state"
        with contextlib.closing(sqlite3.connect(state / "sites" / "sites.sqlite")) as db, db:
            change = "UPDATE robots SET received=received-:by, failed=failed-:by, guessed=guessed-:by"
            db.execute(change, {"by": seconds})
        (file,) = state.glob("*.sqlite")
        with contextlib.closing(sqlite3.connect(file)) as db, db:
            of_sitemaps = "WHERE key IN (SELECT key FROM sitemap)"
            db.execute(f"UPDATE url SET last_fetched=last_fetched-:by {of_sitemaps}", {"by": seconds})

    def urls(self) -> dict[str, dict[str, Any]]:
        """Return the document table by path (with query) of the access URL."""
        rows = self.command("urls", "--json").lines
        return {"/" + row["access_url"].split("/", 3)[3]: row for row in rows}

    def outcomes(self) -> dict[str, str]:
        """Return the outcome of every known URL by path."""
        return {path: row["outcome"] for path, row in self.urls().items()}

    def indexed(self) -> list[str]:
        """Return the display paths of all documents in the index, sorted; a document held twice stands twice."""
        index = open_index(require(read_definitions(self.directory / "ultracrawl.yaml")))
        try:
            return sorted("/" + url.split("/", 3)[3] for _, url in index.urls())
        finally:
            index.close()

    def search(self, *words: str) -> list[str]:
        """Return the paths found by `ultracrawl search`."""
        hits = self.command("search", "--json", "--as-typed", "--limit", "1000", *words).json["hits"]
        return ["/" + hit["url"].split("/", 3)[3] for hit in hits]


class PatientWorkspace(Workspace):
    """A workspace whose commands may take as long as a server needs on a busy machine."""

    def command(
        self, *words: str, timeout: float = 0, stdin: str = "", hosted: bool | None = None, **env: str
    ) -> Ended:
        """See `Workspace.command`."""
        return super().command(*words, timeout=max(timeout, PATIENCE), stdin=stdin, hosted=hosted, **env)


def counts_early(env: Mapping[str, str]) -> bool:
    """Return whether an environment changes what a process does before it has imported what it needs."""
    if AHEAD in env:  # the clock of the host looks at it
        return False
    if any(name.startswith("PYTHON") and name != "PYTHONPATH" for name in env):
        return True
    folders = env.get("PYTHONPATH", "").split(os.pathsep)
    return any((Path(folder) / "sitecustomize.py").exists() for folder in folders)


def kill_group(process: subprocess.Popen[str]) -> None:
    """SIGKILL a process started by `Workspace.start` and everything that it started, in whatever session."""
    started = list[psutil.Process]()
    with contextlib.suppress(psutil.NoSuchProcess):
        started = psutil.Process(process.pid).children(recursive=True)
    for one in reversed(
        started
    ):  # before their parents, whose end they would take for an order to end cleanly
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
