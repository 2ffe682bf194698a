"""Exports the filters of a source, with the files that they name, to another folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ultracrawl.errors import UserError
from ultracrawl.sources.dialects.portal_robot.custom_functions import LOAD_MODULES
from ultracrawl.sources.dialects.portal_robot.export.writing import (
    classification_line,
    directive,
    filter_block,
    line,
    rule_block,
    site_block,
)
from ultracrawl.sources.dialects.portal_robot.file_text import read_file
from ultracrawl.sources.dialects.portal_robot.filter_file import read_filters
from ultracrawl.sources.dialects.portal_robot.lexer import Directive
from ultracrawl.sources.dialects.portal_robot.rules_file import RulesFile, read_classification, read_rules
from ultracrawl.sources.sections.scope.filters import FiltersSection

_RULES_SETUP = "filterrules-setup"
_FILES = {_RULES_SETUP: "config", "setup-type-by-extension": "file"}
"""Functions with a file parameter, and its name."""


class FilterExport:
    """Reads the files named in the section `filters`. Raises `UserError` for unreadable files."""

    def __init__(self, section: FiltersSection) -> None:
        assert section.file is not None, "only for sources with filters"
        self._section = section
        self._text = read_filters(_read(section.file), str(section.file))
        wanted = (section.enumeration, section.generation)
        self._blocks = {name: block for name, block in self._text.filters.items() if name in wanted}
        self._rules = {path: self._rules_at(path) for path in self._rule_paths()}
        self.omissions: list[tuple[str, str, str]] = []
        """Option, problem and advice for what cannot be expressed."""

    def starts_beside(self, seeds: Iterable[str]) -> list[str]:
        """Return the start URLs that are not starting points of a site, for `robot.conf`."""
        known = {start.url for rules in self._rules.values() for start in rules.starting_points()}
        return [url for url in seeds if url not in known]

    def files(self, enumeration: Sequence[str], generation: Sequence[str]) -> dict[str, str]:
        """Return the files by name; both filters get additional MetaData directives in front of their own."""
        blocks = []
        for name, block in self._blocks.items():
            more = enumeration if name == self._section.enumeration else generation
            blocks.append(filter_block(name, [*more, *(self._line(parsed) for parsed in block.directives)]))
        found = {"filter.conf": "".join([*self._loads(), *blocks])}
        for path, rules in self._rules.items():
            found[_name(path)] = "".join([*map(rule_block, rules.rules), *map(site_block, rules.sites)])
        if self._section.classification is not None:
            categories, _ = read_classification(_read(self._section.classification))
            found["classification.conf"] = "".join(map(classification_line, categories))
        return found

    def _loads(self) -> list[str]:
        """Return the lines that load custom functions: those of the file, and one for each function of the section."""
        lines = [directive(parsed) for parsed in self._text.text.directives]
        lines += [line("Setup", ("fn", LOAD_MODULES), ("module", module)) for module in self._section.modules]
        for name, dotted in self._section.functions.items():
            module, _, function = dotted.rpartition(".")
            if name != function:
                problem = f"the function {dotted} cannot be called `{name}`"
                instead = f'mark it: @filter_function("{name}")'
                self.omissions.append(("filters.functions", problem, instead))
            lines.append(line("Setup", ("fn", LOAD_MODULES), ("module", module), ("funcs", function)))
        return [f"{text}\n" for text in dict.fromkeys(lines)]

    def _line(self, parsed: Directive) -> str:
        """Return a directive with file names adapted to the new folder."""
        function = parsed.get("fn") or ""
        parameter = _FILES.get(function)
        pairs = []
        for pair in parsed.parameters:
            value = pair.value
            if pair.name == parameter:
                moved = (
                    f"./config/{_name(value)}"
                    if value in self._rules
                    else str(self._section.instance / value)
                )
                value = moved
            pairs.append((pair.name, value))
        return line(parsed.word, *pairs)

    def _rule_paths(self) -> list[str]:
        return list(
            dict.fromkeys(
                parsed.get("config") or ""
                for block in self._blocks.values()
                for parsed in block.directives
                if parsed.get("fn") == _RULES_SETUP
            )
        )

    def _rules_at(self, path: str) -> RulesFile:
        return read_rules(_read(self._section.instance / path), path)[0]


def _name(path: str) -> str:
    return Path(path).name


def _read(path: Path) -> str:
    try:
        return read_file(path).text
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error}") from error
