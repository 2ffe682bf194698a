"""What `pyproject.toml` declares is what the package imports."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions

from support.project import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
FOR_USERS = sorted(EXTRAS.keys() - {"all", "bench", "dev", "fast"})
"""`fast` brings the compiled core, which has no release yet."""


def names(requirements: list[str]) -> set[str]:
    return {normal(re.split(r"[\[<>=!~; ]", one)[0]) for one in requirements}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imported() -> Iterator[tuple[str, str]]:
    """Yield file and package of every import from elsewhere."""
    for path in sorted((ROOT / "ultracrawl").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found = [node.module or ""]
            else:
                continue
            for package in (
                {name.partition(".")[0] for name in found} - sys.stdlib_module_names - {"ultracrawl"}
            ):
                yield str(path.relative_to(ROOT)), package


def test_everything_imported_is_declared() -> None:
    """All but pytest, under which authors run the kit for their agents."""
    declared = {"pytest"} | names(
        [*PROJECT["dependencies"], *(one for extra in FOR_USERS for one in EXTRAS[extra])]
    )
    brought_by = packages_distributions()
    undeclared = {
        (file, package)
        for file, package in imported()
        if not declared & {normal(one) for one in brought_by.get(package, [package])}
    }
    assert undeclared == set()


def test_the_extra_all_has_every_extra_for_users() -> None:
    (everything,) = EXTRAS["all"]
    assert sorted(re.findall(r"[\w-]+", everything.removeprefix("ultracrawl"))) == FOR_USERS
