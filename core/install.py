"""Compile the core of the index into the Python that runs this, where a Rust compiler is found.

    python core/install.py [--required]

The program works without the core, so nothing that goes wrong here fails an installation: a line says what is missing,
and the status is 0. With `--required` it is 1.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
from enum import Enum
from pathlib import Path

CORE = Path(__file__).resolve().parent
LIMIT = 30 * 60.0
"""Maximum seconds of a build, with what it fetches."""
_LAST_LINES = 3


class Outcome(Enum):
    """What became of the core, and the line that says so."""

    BUILT = "The compiled core is installed."
    NO_COMPILER = "There is no Rust compiler (cargo) here: the compiled core is left out."
    OLD_COMPILER = (
        "This Rust compiler is too old: the compiled core is left out. `rustup update` brings a newer one."
    )
    FAILED = "The compiled core could not be built, and is left out."
    TOO_LONG = f"The compiled core was not built within {LIMIT / 60:.0f} minutes, and is left out."
    STOPPED = "The compiled core is left out."


def main(arguments: list[str] | None = None) -> int:
    """Install the core if that is possible; the status is 1 if it is not and `--required` is given."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--required", action="store_true", help="fail if the core cannot be installed")
    given = parser.parse_args(arguments)
    outcome = install()
    print(outcome.value)
    if outcome is Outcome.BUILT:
        return 0
    print("Everything works without it; it writes the index in a third of the time: docs/compiled-core.md")
    return int(given.required)


def install() -> Outcome:
    """Compile and install the core; say before how long that takes, and what a failed build printed last."""
    version = compiler_version()
    if version is None:
        return Outcome.NO_COMPILER
    if version < needed_version():
        return Outcome.OLD_COMPILER
    print(
        f"Compiling the core of the index with Rust {'.'.join(map(str, version))}: "
        "one to three minutes on two processors. Ctrl-C leaves it out.",
        flush=True,
    )
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(CORE)]
    try:
        built = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return Outcome.TOO_LONG
    except KeyboardInterrupt:
        return Outcome.STOPPED
    if built.returncode:
        print(*built.stderr.strip().splitlines()[-_LAST_LINES:], sep="\n", file=sys.stderr)
        return Outcome.FAILED
    return Outcome.BUILT


def compiler_version() -> tuple[int, ...] | None:
    """Return the version of the Rust compiler; None if there is none that runs."""
    if (cargo := shutil.which("cargo")) is None:
        return None
    try:
        asked = subprocess.run([cargo, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"\d+\.\d+(?:\.\d+)?", asked.stdout)
    return tuple(map(int, found[0].split("."))) if found and asked.returncode == 0 else None


def needed_version() -> tuple[int, ...]:
    """Return the oldest version of the compiler that builds the core."""
    package = tomllib.loads((CORE / "Cargo.toml").read_text(encoding="utf-8"))["package"]
    return tuple(map(int, package["rust-version"].split(".")))


if __name__ == "__main__":
    sys.exit(main())
