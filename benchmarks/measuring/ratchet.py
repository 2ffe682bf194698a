"""Compares figures with those that are stored: they may grow by little, and are stored anew for a reason."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

Figures = Mapping[str, float]
ALLOWED = {"crawl process": 1.03, "index process": 1.05, "second crawl": 1.03}
"""What the figures of a process may become of those that are stored, by what is before the colon; others by nothing."""
CEILING = 1.05
"""What a figure may become of its budget, whatever is stored."""


def read_figures(file: Path) -> dict[str, dict[str, float]]:
    """Return the figures of a file by version of Python; none if there is no file."""
    found: dict[str, dict[str, float]] = json.loads(file.read_text()) if file.exists() else {}
    return found


def store_figures(file: Path, python: str, figures: Figures) -> None:
    """Store the figures of a version of Python."""
    rounded = {name: round(number, 2) for name, number in figures.items()}
    file.write_text(json.dumps(read_figures(file) | {python: rounded}, indent=1, sort_keys=True) + "\n")


def grown(now: Figures, before: Figures) -> list[str]:
    """Return the names of the figures that have become more than is allowed."""
    return _above(now, before, lambda name: ALLOWED.get(name.partition(":")[0], 1.0))


def over_budget(now: Figures, budget: Figures) -> list[str]:
    """Return the names of the figures that are above the ceiling."""
    return _above(now, budget, lambda _: CEILING)


def _above(now: Figures, before: Figures, allowed: Callable[[str], float]) -> list[str]:
    rounded = {name: round(number, 2) for name, number in now.items()}
    return [name for name, number in rounded.items() if number > before.get(name, number) * allowed(name)]


def not_compared(before: Figures, others: Sequence[str]) -> str:
    """Return why figures cannot be compared, empty if they can: `others` are packages of other versions."""
    if not before:
        return "there are no figures of this version of Python"
    return f"other versions than in requirements.lock: {', '.join(others)}" if others else ""


def failures(now: Figures, before: Figures, budget: Figures, others: Sequence[str]) -> Iterator[str]:
    """Yield why figures are not good enough. Those that cannot be compared are only in CI."""
    if why := not_compared(before, others):
        print(f"not compared: {why}")
        if os.environ.get("CI"):
            yield f"CI compares always: {why}"
        return
    if missing := ", ".join(sorted(before.keys() - now.keys())):
        yield f"stored, but not measured any more: {missing}"
    if more := ", ".join(grown(now, before)):
        yield f"more than is stored: {more}; if it is worth it, store it and say in the commit what it buys"
    if more := ", ".join(over_budget(now, budget)):
        yield f"over the budget by more than {CEILING - 1:.0%}: {more}"


def other_versions(lock: str) -> list[str]:
    """Return the names of packages that are installed in another version than a lock file names."""
    pinned: dict[str, set[str]] = {}
    for line in lock.splitlines():
        name, mark, rest = line.partition("==")
        if mark and not line.startswith((" ", "#")):
            pinned.setdefault(name, {""}).add(rest.split()[0])  # several: the version of Python decides
    return [name for name, versions in pinned.items() if _installed(name) not in versions]


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def unexplained(file: Path) -> list[str]:
    """Return the names of the figures of a file that a commit raised whose body does not say what that buys."""
    raised: list[str] = []
    for entry in _git(file, "log", "--format=%H%x1f%b%x1e", "--", file.name).split("\x1e"):
        commit, _, body = entry.strip().partition("\x1f")
        if commit and not body.strip():
            raised += _raised_in(file, commit)
    return list(dict.fromkeys(raised))


def _raised_in(file: Path, commit: str) -> Iterator[str]:
    before, now = (
        json.loads(_git(file, "show", f"{of}:./{file.name}") or "{}") for of in (f"{commit}^", commit)
    )
    for python, figures in now.items():
        stored = before.get(python, {})
        yield from (name for name, number in figures.items() if number > stored.get(name, number))


def _git(file: Path, *words: str) -> str:
    """Return what git prints; empty where there is no git, or no history."""
    try:
        found = subprocess.run(["git", *words], cwd=file.parent, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return found.stdout if found.returncode == 0 else ""
