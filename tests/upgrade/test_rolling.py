"""A rolling upgrade: nodes of two installed versions, and machines that change to the newer one after another."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from stores.conftest import a_schema
from support.machines import PAGES, Machines
from support.project import ROOT, Ended
from support.until import PATIENCE, until

from ultracrawl import __version__

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(300)]
NEWER = "999.0"
INIT = "ultracrawl/__init__.py"
SCHEMA = "ultracrawl/stores/postgresql/access/schema.py"


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout as it is, installed into a folder."""
    return installed(tmp_path_factory.mktemp("old"), lambda tree: None)


def of_newer_version(tree: Path) -> None:
    """Give a copy of the checkout a higher version."""
    file = tree / INIT
    text = file.read_text().replace(f'"{__version__}"', f'"{NEWER}"')
    assert NEWER in text
    file.write_text(text)


def of_newer_schema(tree: Path) -> None:
    """Give a copy of the checkout a higher version, and tables with one more column."""
    of_newer_version(tree)
    file = tree / SCHEMA
    text, number = re.subn(
        r"\nVERSION = (\d+)\n", lambda one: f"\nVERSION = {int(one[1]) + 1}\n", file.read_text()
    )
    assert number == 1
    step = '    VERSION: "ALTER TABLE url ADD COLUMN later integer; ALTER TABLE node ADD COLUMN later integer",\n'
    file.write_text(
        text.replace("MIGRATIONS: Mapping[int, str] = {\n", f"MIGRATIONS: Mapping[int, str] = {{\n{step}")
    )
    assert step in file.read_text()


def installed(folder: Path, change: Callable[[Path], object]) -> Path:
    """Build a wheel of a changed copy of the checkout, and return the folder into which it is installed."""
    tree, wheels, target = folder / "tree", folder / "wheels", folder / "installed"
    tree.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    shutil.copytree(ROOT / "ultracrawl", tree / "ultracrawl", ignore=shutil.ignore_patterns("__pycache__"))
    change(tree)
    pip("wheel", "--no-build-isolation", "--wheel-dir", wheels, tree)
    pip("install", "--no-index", "--target", target, *wheels.iterdir())
    return target


def pip(verb: str, *words: object) -> None:
    command = [
        sys.executable,
        "-m",
        "pip",
        verb,
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        *words,
    ]
    subprocess.run([str(word) for word in command], check=True, cwd=Path(sys.prefix))


class Rolling(Machines):
    """Machines of which each has a program of its own; the commands are those of `desk`."""

    def __init__(self, folder: Path, options: dict[str, str], stack: ExitStack, desk: Path) -> None:
        super().__init__(folder, options, stack)
        self.desk = desk
        self.definition["index"] = {"path": str(folder / "index")}
        self.holds: dict[str, Event] = {}

    def add(self, *names: str) -> None:
        for name in names:
            self.holds[name] = self.source(name, limits={"timeout": 300}).hold("/7")

    def run(self, node: str, program: Path) -> subprocess.Popen[str]:
        # Nothing here waits for a lease to run out, and a busy machine may keep a process waiting for a short one.
        return self.start(node, PYTHONPATH=str(program), ULTRACRAWL_LEASE_SECONDS="20")

    def command(self, *words: str) -> Ended:
        return self.workspace("desk").command(*words, hosted=False, PYTHONPATH=str(self.desk))

    def node(self, name: str) -> dict[str, Any]:
        return self.listed()[name]

    def crawled(self) -> set[str]:
        """Return the sources whose seventh page was asked for."""
        return {name for name, site in self.sites.items() if site.count("/7")}

    def outcomes(self, source: str) -> list[str]:
        listed = self.command("urls", "--source", source, "--json")
        assert listed.code == 0, listed.err
        return [row["outcome"] for row in listed.lines]


@pytest.mark.parametrize("change", [of_newer_version, of_newer_schema])
def test_machines_get_a_newer_program_one_by_one_and_nothing_is_lost_or_crawled_twice(
    tmp_path: Path, database: str, old: Path, change: Callable[[Path], None]
) -> None:
    new = installed(tmp_path, change)
    with a_schema(database) as options, ExitStack() as stack:
        machines = Rolling(tmp_path / "machines", options, stack, desk=new)
        machines.folder.mkdir()
        a = machines.run("a", old)
        b = machines.run("b", old)
        machines.add("one", "two", "three")
        machines.give({"a": a, "b": b})
        until(lambda: machines.crawled() == {"one", "two", "three"})
        machines.desk = old
        of_a, of_b = machines.node("a"), machines.node("b")
        assert (of_a["program"], of_b["program"]) == (__version__, __version__)
        assert all(node["sources"] for node in (of_a, of_b))
        a.terminate()
        for name in of_a["sources"]:
            machines.holds[name].set()
        assert a.wait(PATIENCE) == 0, machines.log("a")

        a = machines.run("a", new)
        until(lambda: "drains" in machines.log("b"), b)
        machines.desk = new
        until(lambda: machines.node("b")["state"] == "draining", b)
        assert NEWER in machines.node("b")["reason"]
        assert machines.node("a")["reason"] is None
        assert (machines.node("a")["program"], machines.node("b")["program"]) == (NEWER, __version__)
        machines.add("four")
        machines.workspace("a")
        machines.workspace("b")
        machines.holds["four"].set()
        until(lambda: machines.outcomes("four") == ["NEW"] * (PAGES + 1), a)
        assert b.poll() is None, "it has not finished what it runs"
        for name in of_b["sources"]:
            machines.holds[name].set()
        assert b.wait(PATIENCE) == 0, machines.log("b")
        assert "takes four" not in machines.log("b")
        assert (machines.node("b")["state"], NEWER in machines.node("b")["reason"]) == ("drained", True)

        b = machines.run("b", new)
        until(lambda: machines.node("b")["state"] == "running", b)
        until(lambda: not any(node["sources"] for node in machines.listed().values()), a)
        for name, site in machines.sites.items():
            assert machines.outcomes(name) == ["NEW"] * (PAGES + 1), machines.log("a") + machines.log("b")
            twice = {path for path, times in site.counts().items() if times > 1}
            in_flight = {"/7"} if name in of_a["sources"] else set()
            assert twice - {"/robots.txt", "/sitemap.xml"} <= in_flight, name
        found = machines.command("search", "needle", "--json", "--limit", "1000").json["hits"]
        assert len({hit["url"] for hit in found}) == len(found) == 4 * PAGES
        for name, process in (("a", a), ("b", b)):
            machines.end(name, process)
