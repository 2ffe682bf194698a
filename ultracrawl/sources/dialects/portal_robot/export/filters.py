"""The filters that a source has of its own, with the files that they name, for another folder."""

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
"""Functions that name a file, and their parameter for it."""


class FilterExport:
    """Reads what the section `filters` names. Raises `UserError` for what cannot be read."""

    def __init__(self, section: FiltersSection) -> None:
        assert section.file is not None, "only asked of a source with filters"
        self._section = section
        self._text = read_filters(_read(section.file), str(section.file))
        wanted = (section.enumeration, section.generation)
        self._blocks = {name: block for name, block in self._text.filters.items() if name in wanted}
        self._rules = {path: self._rules_at(path) for path in self._rule_paths()}
        self.omissions: list[tuple[str, str, str]] = []
        """Option, problem and advice of what is left out."""

    def starts_beside(self, seeds: Iterable[str]) -> list[str]:
        """Return the start URLs that are no starting points of a site, for `robot.conf`."""
        known = {start.url for rules in self._rules.values() for start in rules.starting_points()}
        return [url for url in seeds if url not in known]

    def files(self, enumeration: Sequence[str], generation: Sequence[str]) -> dict[str, str]:
        """Return the files by name; the two filters get further MetaData directives ahead of their own."""
        blocks = []
        for name, block in self._blocks.items():
            more = enumeration if name == self._section.enumeration else generation
            blocks.append(filter_block(name, [*more, *(self._line(one) for one in block.directives)]))
        found = {"filter.conf": "".join([*self._loads(), *blocks])}
        for path, rules in self._rules.items():
            found[_name(path)] = "".join([*map(rule_block, rules.rules), *map(site_block, rules.sites)])
        if self._section.classification is not None:
            categories, _ = read_classification(_read(self._section.classification))
            found["classification.conf"] = "".join(map(classification_line, categories))
        return found

    def _loads(self) -> list[str]:
        """Return the lines that load functions of your own: those of the file, and those that the section names."""
        lines = [directive(one) for one in self._text.text.directives]
        lines += [line("Setup", ("fn", LOAD_MODULES), ("module", module)) for module in self._section.modules]
        for name, dotted in self._section.functions.items():
            module, _, function = dotted.rpartition(".")
            if name != function:
                problem = f"the function {dotted} cannot be called `{name}`"
                instead = f'mark it: @filter_function("{name}")'
                self.omissions.append(("filters.functions", problem, instead))
            lines.append(line("Setup", ("fn", LOAD_MODULES), ("module", module), ("funcs", function)))
        return [f"{one}\n" for one in dict.fromkeys(lines)]

    def _line(self, one: Directive) -> str:
        """Return a directive, whose files are named as they are found from the new folder."""
        function = one.get("fn") or ""
        parameter = _FILES.get(function)
        pairs = []
        for pair in one.parameters:
            value = pair.value
            if pair.name == parameter:
                moved = (
                    f"./config/{_name(value)}"
                    if value in self._rules
                    else str(self._section.instance / value)
                )
                value = moved
            pairs.append((pair.name, value))
        return line(one.word, *pairs)

    def _rule_paths(self) -> list[str]:
        return list(
            dict.fromkeys(
                one.get("config") or ""
                for block in self._blocks.values()
                for one in block.directives
                if one.get("fn") == _RULES_SETUP
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
