"""What is promised to users (docs/promises.md), as the code has it now, and as the last release had it.

    python tools/promises.py            # print what is gone since the last release and stands in no changelog
    python tools/promises.py --release  # with a release: write the list of it

The list is `tests/documentation/last_release.txt`: names and parameters of Python, options of definitions, verbs with
their options, requests of the API with their parameters and objects, groups of plug-ins.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click
import option_tables
import references

from ultracrawl import __version__
from ultracrawl.cli.main import cli
from ultracrawl.system import plugins

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG = ROOT / "CHANGELOG.md"
LIST = ROOT / "tests" / "documentation" / "last_release.txt"
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
TOLD_UNDER = ("Removed", "Changed", "For users of earlier checkouts")
"""Headings of the changelog under which stands what users have to change."""


def main(arguments: list[str] | None = None) -> int:
    """Print what is gone, or write the list; the status is 1 if something is gone that the changelog does not tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--release", action="store_true", help="write the list of this version")
    if parser.parse_args(arguments).release:
        lines = [f"# {__version__}", *promised()]
        LIST.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return 0
    _, before = last_release()
    untold = gone(before, promised(), CHANGELOG.read_text(encoding="utf-8"))
    print(*untold, sep="\n", end="\n" if untold else "")
    return bool(untold)


def last_release() -> tuple[str, list[str]]:
    """Return the version of the last release, and what it promised."""
    version, *lines = LIST.read_text(encoding="utf-8").splitlines()
    return version.removeprefix("# "), lines


def gone(before: Iterable[str], now: Iterable[str], changelog: str) -> list[str]:
    """Return what was promised, is no more, and has no line about the coming release in the changelog.

    A line tells of something if it has its name in backticks, or the name of what it belonged to.
    """
    unreleased = changelog.partition("## [Unreleased]")[2].partition("\n## [")[0]
    chapters = (chapter.partition("\n") for chapter in unreleased.split("\n### "))
    told = [
        name for title, _, text in chapters if title in TOLD_UNDER for name in re.findall("`([^`]+)`", text)
    ]
    return [
        line
        for line in sorted(set(before) - set(now))
        if not any(re.match(rf"{re.escape(name)}(?:$|[ .(?])", line) for name in told)
    ]


def promised() -> list[str]:
    """Return a line for everything that is promised now, as users write it."""
    return sorted({*_python(), *_options(), *_verbs(), *_requests(), *plugin_groups()})


def _options() -> Iterator[str]:
    for option in option_tables.options():
        yield option.path


def _verbs(command: click.Command = cli, words: str = "ultracrawl") -> Iterator[str]:
    yield words
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            for name in (*parameter.opts, *parameter.secondary_opts):
                yield f"{words} {name}"
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            member = command.get_command(context, name)
            assert member is not None, name
            yield from _verbs(member, f"{words} {name}")


def _requests() -> Iterator[str]:
    description = references.openapi()
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            request = f"{method.upper()} {path}"
            yield request
            for parameter in operation.get("parameters", ()):
                yield f"{request}?{parameter['name']}"
    for name, schema in description["components"]["schemas"].items():
        for member in schema.get("properties", ()):
            yield f"{name}.{member}"


def plugin_groups() -> Iterator[str]:
    """Yield the entry-point groups of plug-ins."""
    for group in vars(plugins).values():
        if isinstance(group, plugins.PluginGroup):
            yield group.group


def _python() -> Iterator[str]:
    for line in python_names():
        name, _, parameters = line.partition("(")
        yield name
        for parameter in parameters.rstrip(")").split(", "):
            if (plain := parameter.partition("=")[0]).isidentifier() and plain != "self":
                yield f"{name}({plain})"


def python_names() -> list[str]:
    """Return a line for each public name of Python: its place, and how it is called."""
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


if __name__ == "__main__":
    sys.exit(main())
