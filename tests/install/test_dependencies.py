"""What `pyproject.toml` declares is what the package imports."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from support.project import ROOT

_FILE = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, BUILD = _FILE["project"], _FILE["build-system"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
FOR_USERS = sorted(EXTRAS.keys() - {"all", "bench", "dev", "fast"})
"""`fast` brings the compiled core, which has no release yet."""

WITHOUT_KNOWN_HOLES = {
    "certifi": ("2024.7.4", "CVE-2024-39689"),
    "cryptography": ("46.0.5", "CVE-2026-26007"),
    "dnspython": ("2.6.1", "CVE-2023-29483"),
    "h11": ("0.16", "CVE-2025-43859"),
    "jinja2": ("3.1.6", "CVE-2025-27516"),
    "pillow": ("12.1.1", "CVE-2026-25990"),
    "pymysql": ("1.1.1", "CVE-2024-36039"),
    "scrapy": ("2.13.4", "CVE-2025-6176"),
    "setuptools": ("78.1.1", "CVE-2025-47273"),
    "starlette": ("0.49.1", "CVE-2025-62727"),
    "twisted": ("24.7", "CVE-2024-41671"),
}
"""The first version of a package without holes that its advisories name, and the latest of these."""


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


@pytest.mark.parametrize("name", WITHOUT_KNOWN_HOLES)
def test_no_version_with_a_known_hole_is_allowed(name: str) -> None:
    everything = [
        *BUILD["requires"],
        *PROJECT["dependencies"],
        *(one for extra in EXTRAS.values() for one in extra),
    ]
    specifiers = [one.specifier for one in map(Requirement, everything) if normal(one.name) == name]
    bounds = [Version(one.version) for specifier in specifiers for one in specifier if one.operator == ">="]
    first, advisory = WITHOUT_KNOWN_HOLES[name]
    assert bounds
    assert min(bounds) >= Version(first), advisory


def test_the_lock_has_a_version_that_is_allowed_of_each_package() -> None:
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    extras = [one for name in [*FOR_USERS, "bench", "dev"] for one in EXTRAS[name]]
    for one in map(Requirement, [*PROJECT["dependencies"], *extras]):
        if one.name != "ultracrawl":
            assert one.specifier.contains(locked[normal(one.name)]), one


def test_the_extra_all_has_every_extra_for_users() -> None:
    (everything,) = EXTRAS["all"]
    assert sorted(re.findall(r"[\w-]+", everything.removeprefix("ultracrawl"))) == FOR_USERS
