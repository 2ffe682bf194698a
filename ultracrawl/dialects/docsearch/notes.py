"""Findings about a scraper's file, with the lines of its options."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping

from ultracrawl.model import Finding
from ultracrawl.sources.mistakes import format_value, suggestion
from ultracrawl.sources.reading.tree import Data, OptionPath


class Notes:
    """Collects the findings about one file."""

    def __init__(self, file: str, lines: Mapping[OptionPath, int]) -> None:
        self.file = file
        self._lines = lines
        self.findings: list[Finding] = []
        self._told = set[OptionPath]()

    def line(self, path: OptionPath) -> int:
        """Return the line of an option, or of the nearest group above it."""
        return next(
            (self._lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in self._lines), 0
        )

    def mistake(self, path: OptionPath, problem: str, instead: str) -> None:
        """Add a finding that stops a crawl."""
        self._add(path, problem, instead, fatal=True)

    def hint(self, path: OptionPath, problem: str, instead: str = "leave it as it is") -> None:
        """Add advice."""
        self._add(path, problem, instead, fatal=False)

    def unknown_keys(self, group: Iterable[str], known: Iterable[str], path: OptionPath = ()) -> None:
        """Add advice about keys that the format does not have."""
        names = tuple(known)
        for key in group:
            if key not in names:
                self.hint(
                    (*path, key),
                    f"unknown option `{key}`, which is ignored",
                    suggestion(key, names, "remove it"),
                )

    def flag(self, group: Mapping[str, Data], path: OptionPath, *, default: bool = False) -> bool:
        """Return the boolean at the end of a path, which is a member of `group`; the default if there is none."""
        value = group.get(str(path[-1]))
        if isinstance(value, bool):
            return value
        if value is not None:
            self._once(path, f"{format_value(value)} is neither true nor false", "write `true` or `false`")
        return default

    def text(self, value: Data, path: OptionPath) -> str:
        """Return a text, an empty one if there is none."""
        if isinstance(value, str):
            return value
        self._once(path, f"{format_value(value)} is no text", "write a text in quotes")
        return ""

    def _once(self, path: OptionPath, problem: str, instead: str) -> None:
        """Add a mistake in an option that is looked at several times."""
        if path not in self._told:
            self._told.add(path)
            self.mistake(path, problem, instead)

    def is_name(self, name: str, path: OptionPath) -> bool:
        """Return whether something can be the name of an attribute; if not, it is a hint."""
        if re.fullmatch(r"[^\W\d]\w*", name):
            return True
        if (*path, name) not in self._told:
            self._told.add((*path, name))
            problem = f"`{name}` is left out: attributes have names of letters, digits and `_`"
            self.hint(path, problem, "choose another name")
        return False

    def number(self, value: Data, path: OptionPath) -> float:
        """Return a number, 0 if there is none."""
        try:
            number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
        if value is not None:
            self._once(path, f"{format_value(value)} is no number", "write a number")
        return 0.0

    def texts(self, value: Data, path: OptionPath) -> Iterator[str]:
        """Yield the texts of a list, or a single one."""
        for number, member in enumerate(
            value if isinstance(value, list) else [] if value is None else [value]
        ):
            if isinstance(member, str | int | float):
                yield str(member)
            else:
                self.mistake((*path, number), f"{format_value(member)} is no text", "write a text in quotes")

    def _add(self, path: OptionPath, problem: str, instead: str, *, fatal: bool) -> None:
        key = ".".join(str(step) for step in path if isinstance(step, str)) or "file"
        self.findings.append(Finding(self.file, self.line(path), key, problem, instead, fatal))
