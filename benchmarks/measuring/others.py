"""Finds or builds other crawlers, and runs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from judging.peers import omega_root

from measuring.cost import Cost, NotAvailableError, run
from measuring.results import Measured

_HERE = Path(__file__).parent
_BUILD_PATIENCE = 3600


def _tool(name: str, *places: str) -> str:
    path = os.pathsep.join([os.environ.get("PATH", ""), *(str(Path(place).expanduser()) for place in places)])
    found = shutil.which(name, path=path)
    if found is None:
        raise NotAvailableError(f"there is no {name}")
    return found


def _build(folder: Path, *commands: Sequence[str]) -> None:
    """Run build commands. Raises `NotAvailableError` with the last line of output."""
    for command in commands:
        try:
            subprocess.run(
                command, cwd=folder, check=True, capture_output=True, text=True, timeout=_BUILD_PATIENCE
            )
        except subprocess.TimeoutExpired:
            raise NotAvailableError(f"{Path(command[0]).name} took too long") from None
        except subprocess.CalledProcessError as error:
            last = (error.stderr.strip() or error.stdout.strip() or "without a word").splitlines()[-1]
            raise NotAvailableError(f"{Path(command[0]).name} failed: {last}") from None


def _copied(sources: Path, folder: Path) -> bool:
    """Copy sources to the build folder; returns False if it was built from the same sources."""
    built = folder / "built"
    ours = {
        path.relative_to(sources): path.read_bytes() for path in sorted(sources.rglob("*")) if path.is_file()
    }
    if built.exists() and all(
        (folder / name).exists() and (folder / name).read_bytes() == data for name, data in ours.items()
    ):
        return False
    built.unlink(missing_ok=True)
    for name, data in ours.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return True


def _counted(cost: Cost) -> Measured:
    """Return the figures of a crawler that prints its page count as JSON on its last line."""
    return Measured.of(json.loads(cost.output.splitlines()[-1])["pages"], cost)


@dataclass
class Stock:
    """Scrapy and Whoosh, as their guides show them."""

    name: str = "stock"

    def prepare(self, place: Path) -> None:
        """Nothing to build."""

    def measure(self, url: str, folder: Path) -> Iterator[tuple[str, Measured]]:
        """Crawl into an index."""
        script = _HERE.parent / "baseline.py"
        yield self.name, _counted(run([sys.executable, script, url, folder / "index"], folder))


@dataclass
class WgetOmindex:
    """wget makes a mirror, and Xapian's `omindex` an index of that."""

    name: str = "omindex"
    _root: Path = Path("/")

    def prepare(self, place: Path) -> None:
        """Unpack omega if it is not installed."""
        self._wget = _tool("wget")
        root = omega_root(place.parent / "packages")
        if root is None:
            raise NotAvailableError("the package xapian-omega cannot be had")
        self._root = root

    def measure(self, url: str, folder: Path) -> Iterator[tuple[str, Measured]]:
        """Mirror, then index."""
        failed_pages = 8
        command = [self._wget, "-q", "-r", "-l", "inf", "-nH", "-P", "mirror", url]
        mirror = run(command, folder, accepted=(0, failed_pages))
        pages = sum(1 for _ in (folder / "mirror").rglob("*.html"))
        yield "wget", Measured.of(pages, mirror)
        libraries = ":".join(str(path.parent) for path in self._root.glob("usr/lib/*/libxapian.so.*"))
        environment = {"LD_LIBRARY_PATH": libraries} if libraries else {}
        omindex = [self._root / "usr/bin/omindex", "--db", "database", "--url", "/", "--stemmer=english"]
        index = run([*omindex, "mirror"], folder, environment=environment)
        yield self.name, Measured.of(pages, mirror + index)


@dataclass
class Built:
    """A crawler of a few lines that is compiled, or gets an environment of its own."""

    name: str
    command: list[str] = field(default_factory=list)

    def prepare(self, place: Path) -> None:
        """Build it below `place`, unless that was done."""
        folder = place / self.name
        folder.mkdir(parents=True, exist_ok=True)
        self.command = {"colly": _colly, "spider": _spider, "crawlee": partial(python_program, "crawlee")}[
            self.name
        ](folder)

    def measure(self, url: str, folder: Path) -> Iterator[tuple[str, Measured]]:
        """Run it."""
        yield self.name, _counted(run([*self.command, url], folder))


def _colly(folder: Path) -> list[str]:
    go = _tool("go", "/usr/local/go/bin", "/usr/lib/go/bin")
    if _copied(_HERE / "colly", folder):
        _build(folder, [go, "mod", "tidy"], [go, "build", "-o", "crawler", "."])
        (folder / "built").touch()
    return [str(folder / "crawler")]


def _spider(folder: Path) -> list[str]:
    cargo = _tool("cargo", "~/.cargo/bin")
    if _copied(_HERE / "spider", folder):
        _build(folder, [cargo, "build", "--quiet", "--release"])
        (folder / "built").touch()
    return [str(folder / "target/release/peer-spider")]


def python_program(name: str, folder: Path) -> list[str]:
    """Return the command of a crawler in Python, in an environment of its own. Raises `NotAvailableError`."""
    python = str(folder / "venv/bin/python")
    if _copied(_HERE / name, folder):
        venv.create(folder / "venv", with_pip=True, clear=True)
        _build(folder, [python, "-m", "pip", "install", "--quiet", "-r", "requirements.txt"])
        (folder / "built").touch()
    return [python, str(folder / "pages.py")]


OTHERS = (Stock(), WgetOmindex(), Built("colly"), Built("spider"), Built("crawlee"))
