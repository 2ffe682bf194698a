"""Make the data of a version, and note what that version itself does with them.

In the tree of the present version, with the Python of an environment in which the other one is installed
(`git worktree add /tmp/then COMMIT; python -m venv /tmp/env; /tmp/env/bin/pip install '/tmp/then[tantivy]'`):

    PYTHONPATH=tests python -m upgrade.make /tmp/env/bin/python NAME [PROJECT ...]

NAME is what the version is called: a tag, or a commit. It becomes a folder here, with `data.tar.xz`, in which every
project is a folder with its definition and its `var`, and `expected.json`. Both are made anew as a
whole, of all projects unless some are named: those that what has changed since concerns.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from support.project import Workspace, kill_group
from support.site import Site
from support.until import until

from upgrade.journey import condensed, definitions, journey, served
from upgrade.projects import CRAWL, PROJECTS, PROXY, Project

HERE = Path(__file__).parent
HOSTS = ["handbook", "crowd", "drafts", "copies", "announced", "fast", "described"]
MOST_LEVELS = 5
NAMES = [f"{host}.example" for host in HOSTS]


class OfVersion(Workspace):
    """A workspace whose commands are those of another version."""

    python = ""

    def start(self, *words: str, hosted: bool | None = None, **env: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.python, "-m", "ultracrawl", *words],
            cwd=self.directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def does(self, project: Project, *words: str) -> None:
        """Run a command that must end well, or only with the news that pages are to leave."""
        ended = self.command(*words, *project.config)
        assert ended.code in (0, 1), (words, ended.err)
        print(" ".join(words), ended.code, ended.err.strip()[:200], file=sys.stderr)


def made(workspace: OfVersion, project: Project, site: Site) -> None:
    """Have the version crawl the site of a project, and leave the data as the project wants them."""
    for name, text in project.files.items():
        (workspace.directory / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace.directory / name).write_text(text)
    with served(site, workspace.directory, NAMES):
        if project.special == "robot":
            robot_files(workspace, project)
        for run in range(1, project.runs + 1):
            project.fill(site, run)
            if project.special == "killed" and run == project.runs:
                kill(workspace, site)
                continue
            if project.special == "pause-second" and run == project.runs:
                workspace.does(project, "feeding", "pause", "crowd", "second")
            workspace.does(project, *CRAWL)
            if project.special == "approve-one" and run == 1:
                workspace.does(project, "approve", "drafts", "http://drafts.example/a")
                workspace.does(project, "approve", "drafts", "http://drafts.example/c", "--remove")
        if project.special == "lists":
            workspace.does(project, "load-metadata", "--type", "lov", "lists.xml")
        if project.special == "robot":
            workspace.does(project, "robot", "import-rds", "partner.json", "--as", "partner")
        unplaced(workspace.directory)


def robot_files(workspace: OfVersion, project: Project) -> None:
    """Let the version write the files of a new robot, apart from `robot.conf`."""
    folder = workspace.directory
    ended = workspace.command("robot", "create", "new", "--email", "robot@described.example")
    assert ended.code == 0, ended.err
    for path in (folder / "new" / "config").iterdir():
        if path.name != "robot.conf":
            path.rename(folder / "config" / path.name)
    shutil.rmtree(folder / "new")
    workspace.does(project, "robot", "create-site", "described.example")


def kill(workspace: OfVersion, site: Site) -> None:
    """Kill a crawl that has pages in flight and in its queue, and documents in segments that no index has."""
    late = ("/p9", "/p14", "/p18")
    held = [site.hold(path) for path in late]
    var = workspace.directory / "var"
    found: list[list[int]] = []
    with index_locked(var / "index" / "MAIN_WRITELOCK"):
        process = workspace.start(*CRAWL)
        until(lambda: sum(map(site.count, late)) > 1 and (found.append(waits(var)) or found[-1]), process)
        kill_group(process)
    for event in held:
        event.set()
    print("killed:", found[-1], file=sys.stderr)


def waits(var: Path) -> list[int]:
    """Return how many URLs, sealed segments and open ones wait, or nothing as long as one of them is missing."""
    sealed, opened = (list((var / "cache").rglob(f"*.{kind}")) for kind in ("sealed", "open"))
    with closing(sqlite3.connect(var / "state" / "crowd.sqlite")) as db:
        ((queued,),) = db.execute("SELECT count(*) FROM queue")
    found = [queued, len(sealed), sum(path.stat().st_size > 0 for path in opened)]
    return found if queued > 4 and len(sealed) > 1 and found[2] else []


@contextmanager
def index_locked(path: Path) -> Iterator[None]:
    """Hold the lock of an index, so that nothing is written to it."""
    with path.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def unplaced(directory: Path) -> None:
    """Take the address of the proxy out of the definitions again."""
    for path in definitions(directory):
        lines = path.read_text().split("http://127.0.0.1:")
        rest = [PROXY.partition(":")[2] + line.lstrip("0123456789") for line in lines[1:]]
        path.write_text("http://127.0.0.1:".join([lines[0], *rest]))


def main(python: str, name: str, *projects: str) -> None:
    """Make the folder of a version, with all projects or some."""
    OfVersion.python = python
    target, expected = HERE / name, {}
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for called in projects or PROJECTS:
            project = PROJECTS[called]
            print(f"== {called}", time.strftime("%X"), file=sys.stderr)
            workspace, site = OfVersion(Path(folder) / called), Site()
            workspace.directory.mkdir()
            made(workspace, project, site)
            again = OfVersion(Path(folder) / f"{called}.again")
            shutil.copytree(workspace.directory, again.directory)
            with served(site, again.directory, NAMES):
                expected[called] = condensed(journey(again, project, site))
        with tarfile.open(target / "data.tar.xz", "w:xz", preset=9) as archive:
            for called in expected:
                archive.add(Path(folder) / called, called)
    (target / "expected.json").write_text("".join(readable(expected)) + "\n")


def readable(value: object, depth: int = 0) -> Iterator[str]:
    """Yield JSON in which what is listed has a line for each, and none is spread over several."""
    pairs = value.items() if isinstance(value, dict) else None
    if not value or not isinstance(value, dict | list) or depth > MOST_LEVELS or "url" in value:
        yield json.dumps(value, ensure_ascii=False, sort_keys=True)
        return
    for number, one in enumerate(value if pairs is None else sorted(pairs)):
        yield ("[{"[pairs is not None] if not number else ",") + "\n" + " " * (depth + 1)
        yield "" if pairs is None else json.dumps(one[0], ensure_ascii=False) + ": "
        yield from readable(one if pairs is None else one[1], depth + 1)
    yield "\n" + " " * depth + "]}"[pairs is not None]


if __name__ == "__main__":
    main(*sys.argv[1:])
