"""Writes docs/licences.md: what an installation brings of others, and under which licence.

`python tools/licences.py` writes the page from what the packages installed here say of themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution, metadata
from pathlib import Path

from packaging.requirements import Requirement

PAGE = Path(__file__).resolve().parents[1] / "docs" / "licences.md"
NOT_FOR_USERS = {"all", "bench", "dev", "fast"}
COPYLEFT = re.compile(r"\b[AL]?GPL|Mozilla|MPL", re.IGNORECASE)
"""Licences with duties for who passes the package on."""

_HEAD = """# Licences of others

`ultracrawl` is under the BSD-3-Clause licence. `pip` installs these packages beside it, each under the licence that it
names. Those in **bold** have a licence with conditions for who passes them on (LGPL, MPL and the like).
`make licences` writes this page.
"""
_TABLE = "| package | licence | comes with |\n| --- | --- | --- |"
_CLASSIFIER = "License :: OSI Approved :: "


def licence_of(found: Distribution) -> str:
    """Return the licence that a package declares, in one line; `unknown` if it says nothing."""
    about = found.metadata
    text = about["License-Expression"] or ""
    if not text:
        named = [
            one.removeprefix(_CLASSIFIER)
            for one in about.get_all("Classifier") or []
            if one.startswith(_CLASSIFIER)
        ]
        text = ", ".join(named) or (about["License"] or "").partition("\n")[0]
    return re.sub(r"\s+", " ", text).replace("|", "/").strip() or "unknown"


def packages() -> dict[str, set[str]]:
    """Return each package that users install, with the extras that bring it; an empty name is a plain installation."""
    found: dict[str, set[str]] = {}
    extras = set(metadata("ultracrawl").get_all("Provides-Extra") or []) - NOT_FOR_USERS
    for extra in ["", *sorted(extras)]:
        for name in _needs("ultracrawl", {extra}, set()):
            found.setdefault(name, set()).add(extra)
    return found


def _needs(name: str, extras: set[str], seen: set[str]) -> Iterator[str]:
    for line in distribution(name).requires or []:
        needed = Requirement(line)
        asked = [{"extra": extra} for extra in extras or {""}]
        if needed.marker and not any(needed.marker.evaluate(one) for one in asked):
            continue
        key = _normal(needed.name)
        if f"{key}{sorted(needed.extras)}" in seen:
            continue
        seen.add(f"{key}{sorted(needed.extras)}")
        if key != "ultracrawl":
            yield key
        try:
            yield from _needs(key, needed.extras, seen)
        except PackageNotFoundError:
            continue  # of another platform


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def page() -> str:
    """Return the text of the page."""
    lines = [_HEAD, _TABLE]
    for name, extras in sorted(packages().items()):
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        licence = licence_of(found)
        shown = f"**{name}**" if COPYLEFT.search(licence) else name
        brings = "every installation" if "" in extras else ", ".join(f"`{one}`" for one in sorted(extras))
        lines.append(f"| {shown} | {licence} | {brings} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
