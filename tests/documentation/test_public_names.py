"""Public names, by which projects of others use this one, stay as they are listed.

`ULTRACRAWL_PUBLIC=write` writes the list anew: a changed or missing line breaks such projects, and belongs into the
changelog.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

LIST = Path(__file__).with_name("public_names.txt")
NAMED = {
    "ultracrawl": ("crawl", "Searcher", "UltracrawlError", "UserError", "WorkError", "__version__"),
    "ultracrawl.addon": ("UltracrawlAddon",),
    "ultracrawl.model": ("Document",),
    "ultracrawl.run": ("context_of",),
    "ultracrawl.scheduler": ("UltracrawlScheduler",),
}
"""Names of modules of which only these are public."""
WHOLE = (
    "ultracrawl.agents",
    "ultracrawl.agents.port",
    "ultracrawl.middlewares",
    "ultracrawl.pipelines",
    "ultracrawl.settings",
    "ultracrawl.spiders",
)
"""Modules and faces of packages in which every name without an underscore is public."""


def listed() -> list[str]:
    """Return a line for each public name: its place, and how it is called."""
    lines = {line for module, names in NAMED.items() for name in names for line in _lines(module, name)}
    for place in WHOLE:
        lines.update(line for name in _names(import_module(place)) for line in _lines(place, name))
    return sorted(lines)


def _names(module: ModuleType) -> list[str]:
    """Return the names that a module offers: those of its face, or what it defines itself."""
    faces = getattr(module, "__all__", None)
    if faces is not None:
        return [*faces]
    own = (name for name in vars(module) if not name.startswith("_"))
    return [
        name
        for name in own
        if name.isupper() or getattr(vars(module)[name], "__module__", "") == module.__name__
    ]


def _lines(module: str, name: str) -> Iterator[str]:
    value, place = getattr(import_module(module), name), f"{module}.{name}"
    if inspect.isclass(value):
        yield f"{place}{_called(value)}"
        for method, function in inspect.getmembers(value):
            if not method.startswith("_") and getattr(function, "__module__", "").startswith("ultracrawl"):
                yield f"{place}.{method}{_called(function)}"
    else:
        yield f"{place}{_called(value) if inspect.isroutine(value) else ''}"


def _called(value: object) -> str:
    """Return the names and defaults of parameters, without their types."""
    try:
        signature = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    shown = [one.replace(default="...") if one.default is not one.empty else one for one in plain]
    return str(signature.replace(parameters=shown, return_annotation=inspect.Signature.empty)).replace(
        "'...'", "..."
    )


def test_public_names_stay() -> None:
    found = listed()
    if os.environ.get("ULTRACRAWL_PUBLIC") == "write":
        LIST.write_text("\n".join(found) + "\n", encoding="utf-8")
    known = LIST.read_text(encoding="utf-8").splitlines()
    assert sorted(set(known) - set(found)) == [], "gone, or called otherwise"
    assert sorted(set(found) - set(known)) == [], "new: add them with ULTRACRAWL_PUBLIC=write"


def test_what_a_project_of_others_names_is_there() -> None:
    places = {line.partition("(")[0] for line in LIST.read_text(encoding="utf-8").splitlines()}
    needed = {
        "ultracrawl.crawl",
        "ultracrawl.Searcher",
        "ultracrawl.addon.UltracrawlAddon",
        "ultracrawl.model.Document",
        "ultracrawl.run.context_of",
    }
    assert needed <= places
    for package in WHOLE:
        assert any(place.startswith(f"{package}.") for place in places), package
