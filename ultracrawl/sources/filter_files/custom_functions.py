"""Loads filter functions: those of installed packages, and custom ones by dotted path or marker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TypeVar

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError
from ultracrawl.rules.filters.custom import marked_functions, own_function
from ultracrawl.rules.filters.function import Function
from ultracrawl.rules.filters.program import NoteMistake
from ultracrawl.system.plugins import FILTER_FUNCTIONS, Plugin, duplicate_error

LOAD_MODULES = "load-modules"
"""The function of `Setup` lines before all filters that loads custom functions."""

Got = TypeVar("Got")


@dataclass(frozen=True, slots=True)
class InstalledFunctions:
    """The functions of installed packages, built-in ones included, and a message for each package not loaded."""

    by_name: dict[str, Function]
    lost: tuple[str, ...]


def installed_functions() -> InstalledFunctions:
    """Return the installed functions. Raises `PluginError` for duplicate names."""
    functions: dict[str, Function] = {}
    providers: dict[str, Plugin] = {}
    lost: list[str] = []
    for plugin in FILTER_FUNCTIONS.all_plugins():
        try:
            brought = _functions_of(plugin)
        except UserError as error:
            lost.append(str(error))
            continue
        for name, function in brought.items():
            if name in providers:
                raise duplicate_error(f"the filter function {name!r} is provided", [providers[name], plugin])
            functions[name], providers[name] = function, plugin
    return InstalledFunctions(functions, tuple(lost))


def _functions_of(plugin: Plugin) -> dict[str, Function]:
    found = plugin.load()
    brought = marked_functions(found) if isinstance(found, ModuleType) else found
    if not isinstance(brought, Mapping) or not brought:
        raise plugin.wrong_type_error("a module with functions that filter_function marks")
    return {
        name: function if isinstance(function, Function) else own_function(name, function)
        for name, function in brought.items()
    }


class CustomFunctions:
    """Adds custom functions to those available to directives; failures are reported to `note_mistake`."""

    def __init__(self, functions: dict[str, Function], note_mistake: NoteMistake) -> None:
        self._functions = functions
        self._note_mistake = note_mistake

    def load(self, module: str, names: str, line: int) -> None:
        """Load the functions of a `load-modules` line: the comma-separated names, or all marked ones of the module."""
        if not module:
            instead = 'write module="package.module", and funcs="one,two" unless its functions are marked'
            self._note_mistake(line, LOAD_MODULES, "names no module", instead)
        elif names:
            self.add({name.strip(): f"{module}.{name.strip()}" for name in names.split(",")}, line)
        else:
            self.add_module(module, line)

    def add(self, places: Mapping[str, str], line: int = 0) -> None:
        """Add functions: dotted paths by name."""
        for name, dotted in places.items():
            module, _, attribute = dotted.rpartition(".")
            call = self._tried(name, line, partial(_function, module, attribute))
            if call is None:
                continue
            if callable(call):
                self._functions[name] = own_function(name, call)
            else:
                self._note_mistake(line, name, "is no function", "name a function of three parameters")

    def add_module(self, module: str, line: int = 0) -> None:
        """Add all functions of a module that are marked with `filter_function`."""
        loaded = self._tried(module, line, lambda: import_module(module))
        if loaded is None:
            return
        found = marked_functions(loaded)
        if not found:
            instead = "mark them with @filter_function(), or name them: funcs=..."
            self._note_mistake(line, module, "marks no functions", instead)
        for name, call in found.items():
            self._functions[name] = own_function(name, call)

    def _tried(self, name: str, line: int, get: Callable[[], Got]) -> Got | None:
        try:
            return get()
        except Exception as error:  # importing runs foreign code
            told = str(error) if isinstance(error, ImportError | AttributeError) else repr(error)
            instead = "install its package, or correct its name"
            self._note_mistake(line, name, f"cannot be loaded: {told}", instead)
            return None


def _function(module: str, name: str) -> object:
    return getattr(import_module(module), name)
