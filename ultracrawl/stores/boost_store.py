"""Boosts loaded in bulk, in one JSON file of the project's state."""

from __future__ import annotations

import json
from pathlib import Path

from ultracrawl.errors import StateError
from ultracrawl.rules.attributes.boosts import Boosts
from ultracrawl.system.files import cause_and_remedy, replace_file

NAME = "boosts.json"


class BoostStore:
    """The loaded boosts, in a file of the state folder that is replaced atomically."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME

    def read(self) -> Boosts:
        """Return the boosts. Raises `StateError` if the file cannot be read."""
        if not self.path.exists():
            return Boosts()
        try:
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            first = {str(query): tuple(map(str, urls)) for query, urls in stored["first"].items()}
            return Boosts({str(url): float(factor) for url, factor in stored["factors"].items()}, first)
        except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
            raise StateError(
                f"the loaded boosts in {self.path} cannot be read ({error}); remove the file, and load them again "
                "with `ultracrawl load-metadata`"
            ) from error

    def replace(self, boosts: Boosts) -> None:
        """Replace all loaded boosts. Raises `StateError`."""
        stored = {"factors": dict(boosts.factors), "first": dict(boosts.first)}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self.path, json.dumps(stored, ensure_ascii=False).encode())
        except OSError as error:
            raise StateError(
                f"the boosts cannot be written to {self.path}: {cause_and_remedy(error)}"
            ) from error
