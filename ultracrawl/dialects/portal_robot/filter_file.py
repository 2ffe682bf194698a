"""`filter.conf`: the filters that it holds, and the two of a robot compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module

from ultracrawl.dialects.portal_robot.lexer import Block, ConfigText, Directive, read_text
from ultracrawl.filters import (
    BUILT_IN,
    FilterCompiler,
    FilterKind,
    FilterLine,
    FilterProgram,
    Function,
    Phase,
    Robot,
    own_function,
)

FILE = "filter.conf"
LOAD_MODULES = "load-modules"
WORDS = tuple(phase.value for phase in Phase)

LoadFunction = Callable[[str, str], object]
"""Returns a function by module and name. Raises `ImportError` or `AttributeError`."""


def load_function(module: str, name: str) -> object:
    """Import a module and return its function."""
    return getattr(import_module(module), name)


@dataclass(slots=True)
class FilterFile:
    """The filters of a `filter.conf` by name, and the functions that may stand in them."""

    text: ConfigText
    filters: dict[str, Block] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=lambda: dict(BUILT_IN))

    def compile(self, name: str, kind: FilterKind, robot: Robot) -> FilterProgram:
        """Compile one of the filters; what is wrong with it goes to the findings of the text."""
        block = self.filters.get(name)
        if block is None:
            near = get_close_matches(name, self.filters, 1)
            known = ", ".join(self.filters) or "none"
            instead = f"did you mean `{near[0]}`" if near else f"the filters of the file are: {known}"
            self.text.blame(0, f"{kind}-filter", f"there is no filter `{name}`", instead)
            return FilterProgram(name, kind)
        compiler = FilterCompiler(robot, self.functions, self.text.blame)
        return compiler.compile(name, kind, map(_line, block.directives))


def read_filters(text: str, file: str = FILE, load: LoadFunction = load_function) -> FilterFile:
    """Read a `filter.conf`; modules with functions of your own are imported by `load`."""
    read = read_text(text, file, WORDS)
    result = FilterFile(read)
    for one in read.directives:
        _load(one, result, load)
    for block in read.blocks:
        name = block.get("name") or ""
        if block.kind != "filter":
            read.blame(
                block.line, block.kind, f"there is no <{block.kind}> in this file", "write <Filter name=...>"
            )
        elif not name:
            read.blame(block.line, "name", "a filter without a name", "add name=NAME")
        elif name in result.filters:
            read.blame(block.line, "name", f"a second filter `{name}`", "give it another name")
        else:
            result.filters[name] = block
    return result


def _line(one: Directive) -> FilterLine:
    return FilterLine(one.word, [(pair.name, pair.value) for pair in one.parameters], one.line)


def _load(one: Directive, result: FilterFile, load: LoadFunction) -> None:
    """Take up the functions of a `Setup fn=load-modules` line."""
    blame = result.text.blame
    if Phase.named(one.word) is not Phase.SETUP or one.get("fn") != LOAD_MODULES:
        problem, instead = (
            "a directive outside of every filter",
            "move it into a <Filter>, or load modules here",
        )
        blame(one.line, one.word or "line", problem, instead)
        return
    module, names = one.get("module") or "", one.get("funcs") or ""
    if not module or not names:
        blame(
            one.line, LOAD_MODULES, "needs module and funcs", 'write module="package.module" funcs="one,two"'
        )
        return
    add_functions(result, {name.strip(): (module, name.strip()) for name in names.split(",")}, load, one.line)


def add_functions(
    result: FilterFile,
    places: Mapping[str, tuple[str, str]],
    load: LoadFunction = load_function,
    line: int = 0,
) -> None:
    """Add functions of your own by name, each from its module."""
    for name, (module, attribute) in places.items():
        try:
            call = load(module, attribute)
        except (ImportError, AttributeError, SyntaxError) as error:
            result.text.blame(
                line, name, f"cannot be loaded: {error}", "install its package, or correct its name"
            )
            continue
        if not callable(call):
            result.text.blame(line, name, "is no function", "name a function of three parameters")
        else:
            result.functions[name] = own_function(name, call)
