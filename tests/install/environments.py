"""Installs the wheel without extras as a user would: for the oldest Python that can run it, and for the newest.

`python tests/install/environments.py` makes an environment for each in `var/plain`; again only what has changed.
One more has the oldest Python and the oldest version of each package that `pyproject.toml` allows.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "var" / "plain"
SINCE, UNTIL = 11, 14
"""The minor versions of Python 3 that are looked for."""

LOWEST = FOLDER / "lowest"
"""The environment with the oldest versions of packages."""

_STAMP = ".installed"
_ABOUT = "import sys, venv, ensurepip; print(sys.version_info.minor, sys.version)"


def environments() -> list[Path]:
    """Return the environments that were made, the oldest Python first."""
    return sorted(path.parent for path in FOLDER.glob(f"python3.*/{_STAMP}"))


def lower_bounds() -> list[str]:
    """Return the oldest version that is allowed of each package, as constraints of pip."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = (re.match(r"([\w.-]+)>=([\w.]+)", one) for one in project["dependencies"])
    return [f"{one[1]}=={one[2]}" for one in found if one]


def interpreters() -> dict[int, tuple[str, str]]:
    """Return a program and its version for each minor version that really starts here."""
    found: dict[int, tuple[str, str]] = {}
    for program in [sys.executable, *_candidates()]:
        ended = subprocess.run(
            [program, "-c", _ABOUT], capture_output=True, text=True, check=False, env=_environment()
        )
        if ended.returncode == 0:
            minor, _, version = ended.stdout.strip().partition(" ")
            found.setdefault(int(minor), (program, version))
    return {minor: found[minor] for minor in sorted(found) if SINCE <= minor <= UNTIL}


def _candidates() -> list[str]:
    names = [f"python3.{minor}" for minor in range(SINCE, UNTIL + 1)]
    on_path = [program for name in names if (program := shutil.which(name))]
    # A shim of pyenv starts only versions that are switched on; those it has lie beside it.
    roots = [Path(folder).parent for folder in os.get_exec_path() if Path(folder).name == "shims"]
    return on_path + [
        str(path) for root in roots for name in names for path in root.glob(f"versions/*/bin/{name}")
    ]


def _environment() -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }


def _run(*command: object) -> None:
    subprocess.run([str(word) for word in command], check=True, env=_environment())


def _pip(python: object, *words: object) -> None:
    _run(python, "-m", "pip", "--quiet", "--disable-pip-version-check", *words)


def _digest(*paths: Path) -> str:
    made = hashlib.sha256()
    for path in sorted(paths):
        made.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return made.hexdigest()


def _wheel(digest: str) -> Path:
    """Return the wheel of the tree as it is; it is built from a copy, so that nothing old gets into it."""
    folder = FOLDER / "wheel"
    stamp = folder / digest
    if not stamp.exists():
        shutil.rmtree(folder, ignore_errors=True)
        with tempfile.TemporaryDirectory() as scratch:
            for name in ("pyproject.toml", "README.md", "LICENSE"):
                shutil.copy(ROOT / name, scratch)
            shutil.copytree(
                ROOT / "ultracrawl", Path(scratch, "ultracrawl"), ignore=shutil.ignore_patterns("__pycache__")
            )
            _pip(sys.executable, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, scratch)
        stamp.touch()
    (wheel,) = folder.glob("*.whl")
    return wheel


def _install(
    environment: Path, found: tuple[str, str], wheel: Path, built: str, constraints: tuple[str, ...] = ()
) -> None:
    program, version = found[0], found[1].replace("\n", " ")
    needed = f"{version} {_digest(ROOT / 'pyproject.toml')}"
    stamp = environment / _STAMP
    has = stamp.read_text().splitlines() if stamp.exists() else []
    if has == [needed, built]:
        return
    stamp.unlink(missing_ok=True)
    python = environment / "bin" / "python"
    if has[:1] == [needed]:
        _pip(python, "install", "--no-compile", "--no-deps", "--force-reinstall", wheel)
    else:
        print(f"Installing ultracrawl without extras for Python {version.split(maxsplit=1)[0]}", flush=True)
        _run(program, "-m", "venv", "--clear", environment)
        listed = environment / "constraints.txt"
        listed.write_text("\n".join(constraints))
        _pip(python, "install", "--no-compile", "--constraint", listed, wheel)
    stamp.write_text(f"{needed}\n{built}\n")


def main() -> int:
    """Make the environments; 1 if in continuous integration there is one Python only."""
    found = interpreters()
    chosen = sorted({min(found), max(found)})
    files = [
        path
        for path in (ROOT / "ultracrawl").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    built = _digest(ROOT / "pyproject.toml", ROOT / "README.md", *files)
    wheel = _wheel(built)
    for environment in FOLDER.glob("python3.*"):
        if int(re.sub(r".*\.", "", environment.name)) not in chosen:
            shutil.rmtree(environment)
    for minor in chosen:
        _install(FOLDER / f"python3.{minor}", found[minor], wheel, built)
    _install(LOWEST, found[chosen[0]], wheel, built, tuple(lower_bounds()))
    if len(chosen) == 1:
        print(
            f"Python 3.{chosen[0]} is the only one here: what another Python makes of an index is not tried",
            flush=True,
        )
        return int(os.environ.get("CI") == "true")
    return 0


if __name__ == "__main__":
    sys.exit(main())
