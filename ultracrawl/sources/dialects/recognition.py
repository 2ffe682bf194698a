"""Recognises the format of a definition file and calls the reader of its dialect; other files are YAML."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ultracrawl import sources
from ultracrawl.errors import UserError
from ultracrawl.sources.dialects.port import Dialect
from ultracrawl.sources.reading.locations import PROJECT_FILE
from ultracrawl.system.plugins import DIALECTS, Plugin, PluginError, duplicate_error

if TYPE_CHECKING:
    from ultracrawl.sources import Loaded

ENVIRONMENT = "ULTRACRAWL_CONFIG"
_HEAD = 65_536
"""Bytes examined at the beginning of a file; some files begin with a long comment."""
_YAML_NAMES = (".yaml", ".yml")
"""Endings of files that are YAML if the only dialect that could say otherwise is unusable."""


def read_definitions(location: str | Path) -> Loaded:
    """Read the definitions of a location in any format; folders and packages contain YAML.

    Raises `PluginError` if the dialect of the file is unusable, or if two recognise it.
    """
    path = Path(location)
    found = _dialect_of(path)
    if found is None:
        return sources.load_project(location)
    plugin, dialect = found
    try:
        return dialect.read(path)
    except UserError:
        raise
    except Exception as error:  # third-party code
        raise _failure(plugin, f"fails on {path}: {_named(error)}") from error


def is_yaml(location: str | Path) -> bool:
    """Whether the definitions of a location are YAML, which does not depend on the machine that reads it."""
    return _dialect_of(Path(location)) is None


def locate_definitions(setting: str | Path | None = None) -> str | None:
    """Return the location of definitions: `setting`, `$ULTRACRAWL_CONFIG`, `ultracrawl.yaml` here, or None."""
    named = setting or os.environ.get(ENVIRONMENT)
    if named:
        return str(named)
    return PROJECT_FILE if Path(PROJECT_FILE).is_file() else None


def format_titles() -> tuple[str, ...]:
    """Return what the help calls a file of each dialect, YAML last; those that cannot be loaded are left out."""
    return (*(dialect.title for _, dialect in _usable([])), "YAML")


def _dialect_of(path: Path) -> tuple[Plugin, Dialect] | None:
    """Return the dialect of a file, None for YAML."""
    if not path.is_file():
        return None
    head, name, unusable = _head_of(path), path.name.lower(), list[PluginError]()
    found = [
        (plugin, dialect)
        for plugin, dialect in _usable(unusable)
        if _recognises(plugin, dialect, name, head, unusable)
    ]
    if len(found) > 1:
        raise duplicate_error(f"the file {path} is recognised", (plugin for plugin, _ in found))
    if found:
        return found[0]
    if unusable and not name.endswith(_YAML_NAMES):
        raise unusable[0]
    return None


def _usable(unusable: list[PluginError]) -> Iterator[tuple[Plugin, Dialect]]:
    """Yield the dialects that can be loaded; the errors of others are appended."""
    try:
        plugins = DIALECTS.all_plugins()
    except PluginError as error:
        unusable.append(error)
        return
    for plugin in plugins:
        try:
            dialect = plugin.load()
            if not isinstance(dialect, Dialect):
                raise plugin.wrong_type_error("an `ultracrawl.sources.dialects.Dialect`")
        except PluginError as error:
            unusable.append(error)
        else:
            yield plugin, dialect


def _recognises(
    plugin: Plugin, dialect: Dialect, name: str, head: bytes, unusable: list[PluginError]
) -> bool:
    try:
        return dialect.recognises(name, head)
    except Exception as error:  # third-party code
        unusable.append(_failure(plugin, f"fails: {_named(error)}"))
        return False


def _failure(plugin: Plugin, problem: str) -> PluginError:
    return PluginError(f"{plugin} {problem}", f"update or uninstall the package {plugin.package}")


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _head_of(path: Path) -> bytes:
    """Return the beginning of a file without byte-order mark and without the zero bytes of UTF-16."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError:
        return b""
    return (
        head.removeprefix(b"\xef\xbb\xbf")
        .removeprefix(b"\xff\xfe")
        .removeprefix(b"\xfe\xff")
        .replace(b"\0", b"")
    )
