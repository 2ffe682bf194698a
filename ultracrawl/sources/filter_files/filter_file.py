"""Reads `filter.conf`, and compiles its filters."""

from __future__ import annotations

from difflib import get_close_matches

from ultracrawl.dataclass import dataclass, field
from ultracrawl.rules.filters.function import Function, Robot
from ultracrawl.rules.filters.phase import FilterKind, Phase
from ultracrawl.rules.filters.program import FilterCompiler, FilterLine, FilterProgram
from ultracrawl.sources.filter_files.custom_functions import (
    LOAD_MODULES,
    CustomFunctions,
    InstalledFunctions,
    installed_functions,
)
from ultracrawl.sources.filter_files.layout import ALL_WORDS, BLOCKS, is_whole_robot
from ultracrawl.sources.filter_files.lexer import Block, ConfigText, Directive, read_text

FILE = "filter.conf"
FILTER = frozenset({"filter"})


@dataclass(slots=True)
class FilterFile:
    """The filters of a `filter.conf` by name, and the functions available to them."""

    text: ConfigText
    filters: dict[str, Block] = field(default_factory=dict)
    installed: InstalledFunctions = field(default_factory=installed_functions)
    functions: dict[str, Function] = field(init=False)

    def __post_init__(self) -> None:
        self.functions = dict(self.installed.by_name)

    @property
    def custom_functions(self) -> CustomFunctions:
        """The loader for further functions of this file."""
        return CustomFunctions(self.functions, self.text.add_finding)

    def compile(self, name: str, kind: FilterKind, robot: Robot) -> FilterProgram:
        """Compile one of the filters; mistakes go to the findings of the text."""
        block = self.filters.get(name)
        if block is None:
            near = get_close_matches(name, self.filters, 1)
            known = ", ".join(self.filters) or "none"
            instead = f"did you mean `{near[0]}`" if near else f"the filters of the file are: {known}"
            self.text.add_finding(0, f"{kind}-filter", f"there is no filter `{name}`", instead)
            return FilterProgram(name, kind)
        compiler = FilterCompiler(robot, self.functions, self.text.add_finding, self.installed.lost)
        return compiler.compile(name, kind, map(_line, block.directives))


def read_filters(text: str, file: str = FILE) -> FilterFile:
    """Read a `filter.conf`, importing the modules with custom functions that it names.

    In older layouts all blocks are in one file; other kinds of blocks are skipped there.
    """
    read = read_text(text, file, ALL_WORDS)
    result = FilterFile(read)
    whole = is_whole_robot(read)
    for directive in read.directives:
        _load(directive, result)
    for block in read.blocks:
        name = block.get("name") or ""
        if whole and block.kind in BLOCKS - FILTER:
            continue
        if block.kind not in FILTER:
            read.add_finding(
                block.line, block.kind, f"there is no <{block.kind}> in this file", "write <Filter name=...>"
            )
        elif not name:
            read.add_finding(block.line, "name", "a filter without a name", "add name=NAME")
        elif name in result.filters:
            read.add_finding(block.line, "name", f"a second filter `{name}`", "give it another name")
        else:
            result.filters[name] = block
    return result


def _line(directive: Directive) -> FilterLine:
    return FilterLine(
        directive.word, [(pair.name, pair.value) for pair in directive.parameters], directive.line
    )


def _load(directive: Directive, result: FilterFile) -> None:
    """Load the functions of a `Setup fn=load-modules` line."""
    if Phase.named(directive.word) is Phase.SETUP and directive.get("fn") == LOAD_MODULES:
        result.custom_functions.load(
            directive.get("module") or "", directive.get("funcs") or "", directive.line
        )
        return
    problem, instead = "a directive outside of every filter", "move it into a <Filter>, or load modules here"
    result.text.add_finding(directive.line, directive.word or "line", problem, instead)
