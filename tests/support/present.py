"""The definitions of a service of a test, read again when their text has changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ultracrawl.sources import Project


def present(file: Path, read: Callable[[], Project]) -> Callable[[], Project]:
    """Return what gives the project of a definition file; `read` is asked once for each text of it."""
    known: list[tuple[str, Project]] = []

    def project() -> Project:
        text = file.read_text()
        if not known or known[-1][0] != text:
            known.append((text, read()))
        return known[-1][1]

    return project
