"""What a user does after a release: install it from a package index, by the usual tools, and crawl."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

import pytest
from install.environments import interpreters
from support.project import Ended
from support.site import Reply, Request, Site

from .rehearsal import TOOLS, VERSION

pytestmark = [pytest.mark.servers, pytest.mark.timeout(900)]  # installs sixty packages
PUBLIC = "https://pypi.org/simple"


def upstream() -> str:
    """Return the index that pip uses here."""
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"],
        capture_output=True,
        text=True,
        check=False,
    )
    return (os.environ.get("PIP_INDEX_URL") or asked.stdout.strip() or PUBLIC).rstrip("/")


@pytest.fixture
def index(dist: Path) -> Iterator[str]:
    """The address of an index (PEP 503) that has our packages, and sends clients elsewhere for all others."""
    site, beyond = Site(), upstream()
    projects: dict[str, list[str]] = {}
    for file in sorted((dist / "packages").iterdir()):
        content = file.read_bytes()
        site.file(f"/files/{file.name}", content, "application/octet-stream")
        project = file.name.split("-")[0].replace("_", "-")
        digest = hashlib.sha256(content).hexdigest()
        projects.setdefault(project, []).append(
            f'<a href="/files/{file.name}#sha256={digest}" data-requires-python="{escape(">=3.11")}">{file.name}</a>'
        )

    def answer(request: Request) -> Reply:
        name = request.path.strip("/").split("/")[-1]
        if name not in projects:
            return Reply(302, (("Location", f"{beyond}/{name}/"),), b"")
        page = f"<!DOCTYPE html><html><body>{''.join(projects[name])}</body></html>"
        return Reply(200, (("Content-Type", "text/html"),), page.encode())

    site.dynamic("/simple/*", answer)
    with site.serve() as url:
        yield f"{url}/simple/"


class Tool:
    """A tool that installs, with folders of its own."""

    def __init__(self, name: str, python: str, folder: Path, index: str) -> None:
        self.python, self.folder = python, folder
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("PYTHON", "VIRTUAL_ENV", "UV_"))
        }
        self._environment = kept | {
            "PIP_INDEX_URL": index,
            "UV_DEFAULT_INDEX": index,
            "PIPX_HOME": f"{folder}/pipx",
            "UV_TOOL_DIR": f"{folder}/uv",
            "UV_PYTHON_DOWNLOADS": "never",
            "PIP_NO_COMPILE": "1",  # of sixty packages a crawl imports a part
            "NO_COLOR": "1",
        }
        run: dict[str, list[str | Path]] = {
            "pip": [folder / "venv" / "bin" / "ultracrawl"],
            "pipx": [TOOLS / "pipx", "run", "--quiet", "--python", python, "ultracrawl"],
            "uvx": [TOOLS / "uvx", "--quiet", "--python", python, "ultracrawl"],
        }
        self._command = run[name]
        if name == "pip":
            self._run(python, "-m", "venv", folder / "venv")
            ended = self._run(
                folder / "venv/bin/python", "-m", "pip", "install", "--quiet", "ultracrawl[fast]"
            )
            assert ended.code == 0, ended.err

    def __call__(self, *words: str) -> str:
        """Run ultracrawl, which has to go well; returns what it printed."""
        ended = self._run(*self._command, *words)
        assert ended.code == 0, ended
        return ended.out

    def _run(self, *command: str | Path) -> Ended:
        done = subprocess.run(
            command, cwd=self.folder, env=self._environment, capture_output=True, text=True, check=False
        )
        return Ended(done.returncode, done.stdout, done.stderr)


PYTHONS = {f"3.{minor}": program for minor, (program, _) in interpreters().items()}
_NEWEST = list(PYTHONS)[-1]
_CASES = [
    # pip needs half a minute, because it takes the core as well: for the newest Python each time, for others by night.
    pytest.param(python, tool, id=f"{minor}-{tool}", marks=[pytest.mark.night] * is_late)
    for minor, python in PYTHONS.items()
    for tool in ("pip", "pipx", "uvx")
    for is_late in (tool == "pip" and minor != _NEWEST,)
]


@pytest.mark.parametrize(("python", "name"), _CASES)
def test_installed_from_an_index_it_says_its_version_and_crawls(
    site: Site, url: str, index: str, tmp_path: Path, python: str, name: str
) -> None:
    site.page("/", title="Home", links=["/heron"])
    site.page("/heron", title="Grey heron", text="It waits.")
    ultracrawl = Tool(name, python, tmp_path, index)
    assert ultracrawl("--version").splitlines()[0].split()[-1] == VERSION
    ultracrawl("crawl", "--url", f"{url}/", "--delay", "0")
    assert f"{url}/heron" in ultracrawl("search", "heron")
    if name == "pip":
        assert json.loads(ultracrawl("index", "info", "--json"))["core"] == "used"
