"""Data-source definitions: typed, validated, immutable.

`DataSource` holds the options of one source, `Project` the sources of a definition file and the options they share.
`load_project` reads YAML and returns `Loaded` (a project or findings); `load_tree` does so for other formats.
`require` returns the project or raises for any mistake, `usable_project` separates invalid sources instead,
`render_findings` formats findings. `definition_text` writes a project as YAML, `json_schema` describes the files.
`Catalog` finds sources by name, `adhoc_project` makes a project from URLs. `compile_source` turns a source into
`CompiledSource`, the rule objects that a crawl uses. The names are imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.sources.catalog import Catalog, adhoc_boundary, adhoc_project
    from ultracrawl.sources.compilation.pace import compile_level_selector
    from ultracrawl.sources.compilation.source import CompiledSource, compile_source
    from ultracrawl.sources.definition import DataSource
    from ultracrawl.sources.loading.loaded import Loaded, render_findings, require, usable_project
    from ultracrawl.sources.loading.yaml_loader import load_project, load_tree
    from ultracrawl.sources.project import DefinitionHead, InvalidSource, Project, make_project
    from ultracrawl.sources.reading.locations import PROJECT_FILE
    from ultracrawl.sources.reading.tree import Data, OptionPath, PathFinding, Place
    from ultracrawl.sources.schema import json_schema
    from ultracrawl.sources.sections.scope.limits import LimitsSection
    from ultracrawl.sources.writing import definition_text

_LAZY_NAMES = {
    "Catalog": "catalog",
    "adhoc_boundary": "catalog",
    "adhoc_project": "catalog",
    "compile_level_selector": "compilation.pace",
    "CompiledSource": "compilation.source",
    "compile_source": "compilation.source",
    "DataSource": "definition",
    "Loaded": "loading.loaded",
    "render_findings": "loading.loaded",
    "require": "loading.loaded",
    "usable_project": "loading.loaded",
    "load_project": "loading.yaml_loader",
    "load_tree": "loading.yaml_loader",
    "DefinitionHead": "project",
    "InvalidSource": "project",
    "Project": "project",
    "make_project": "project",
    "PROJECT_FILE": "reading.locations",
    "Data": "reading.tree",
    "OptionPath": "reading.tree",
    "PathFinding": "reading.tree",
    "Place": "reading.tree",
    "json_schema": "schema",
    "LimitsSection": "sections.scope.limits",
    "definition_text": "writing",
}

__all__ = [
    "PROJECT_FILE",
    "Catalog",
    "CompiledSource",
    "Data",
    "DataSource",
    "DefinitionHead",
    "InvalidSource",
    "LimitsSection",
    "Loaded",
    "OptionPath",
    "PathFinding",
    "Place",
    "Project",
    "adhoc_boundary",
    "adhoc_project",
    "compile_level_selector",
    "compile_source",
    "definition_text",
    "json_schema",
    "load_project",
    "load_tree",
    "make_project",
    "render_findings",
    "require",
    "usable_project",
]


def __getattr__(name: str) -> object:
    if name not in _LAZY_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY_NAMES[name]}"), name)
