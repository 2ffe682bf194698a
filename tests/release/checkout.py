"""A clone of the repository in which a release can be made."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from support.project import ROOT, Ended

HOST = "https://git.example.org/uc"
CHANGES = "### Added\n- A heron ([index](docs/index.md)).\n"


class Checkout:
    """A folder with git; its files are those of `paths`, in the version that they have here."""

    def __init__(self, folder: Path, *paths: str) -> None:
        self.folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *paths],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, folder / name)
        self.git("init", "--quiet", "--initial-branch", "main")

    def git(self, *words: str) -> None:
        """Run git as somebody who is configured nowhere, at a time that is always the same."""
        environment = {
            "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
            "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "PATH": f"{Path(shutil.which('git') or '').parent}",
        }
        author = ("-c", "user.name=Owner", "-c", "user.email=owner@example.org")
        subprocess.run(["git", *author, *words], cwd=self.folder, check=True, env=environment)

    def edit(self, name: str, pattern: str, replacement: str) -> None:
        """Replace what a pattern matches in a file."""
        file = self.folder / name
        text, count = re.subn(pattern, replacement, file.read_text(), flags=re.MULTILINE)
        assert count, f"nothing in {name} matches {pattern}"
        file.write_text(text)

    def prepare(self, version: str) -> None:
        """Do what docs/releasing.md asks of the owner, until the tag."""
        self.edit("ultracrawl/__init__.py", "^__version__ = .*", f'__version__ = "{version}"')
        heading = f"## [Unreleased]\n\n## [{version}] - 2026-01-02\n\n{CHANGES}\n## [0.0.1]\n"
        self.edit("CHANGELOG.md", r"^## \[Unreleased\]\n", heading)
        self.edit("pyproject.toml", "^# (?=.*HOST|.project.urls)", "")
        self.edit("pyproject.toml", "https://HOST/OWNER", HOST)

    def commit(self, tag: str = "") -> None:
        """Commit everything, and tag it."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Release")
        if tag:
            self.git("tag", tag)

    def release(self, *steps: str) -> Ended:
        """Run the program of this checkout that builds releases."""
        return run_release(self.folder, *steps)


def run_release(folder: Path, *steps: str, python: str | Path = sys.executable) -> Ended:
    """Run the program of a checkout that builds releases, with a Python that has what it needs."""
    done = subprocess.run(
        [python, folder / "tools" / "release.py", *steps], capture_output=True, text=True, check=False
    )
    return Ended(done.returncode, done.stdout, done.stderr)
