"""Plug-ins: what packages bring under a name by entry points, ours and those of others alike; and dotted paths.

Each `PluginGroup` is one kind of them; docs/plugins.md says what those of a group have to be. Packages are looked
through once, when the first name is looked up; nothing of a plug-in is imported before it is loaded.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, reduce
from importlib import import_module
from pathlib import Path

from ultracrawl.errors import AdvisedError, UserError

PREFIX = "ultracrawl."
"""The beginning of the names of our groups, and of whatever our own entry points name."""


class PluginError(AdvisedError, UserError):
    """A plug-in is not there, is there twice, or cannot be used."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """Something that a package brings under a name, not loaded yet."""

    what: str
    """What plug-ins of its group are called."""
    name: str
    reference: str
    """What it is: `package.module:object`, or a module alone."""
    origin: Path | None = None
    """The folder in which its package is described; None in a process that was told of it by another."""

    @property
    def package(self) -> str:
        """The name of the distribution that brings it, as `pip` knows it."""
        if self.origin is None:
            return self.reference.partition(".")[0]
        from importlib.metadata import Distribution  # noqa: PLC0415 - slow, and only mistakes are told so

        return str(Distribution.at(self.origin).name)

    def load(self) -> object:
        """Import it. Raises `PluginError` with one line if that fails, and a `UserError` of its own as it is."""
        try:
            module, _, attributes = self.reference.partition(":")
            found: object = reduce(
                getattr, filter(None, attributes.split(".")), import_module(module.strip())
            )
        except UserError:
            raise
        except (Exception, SystemExit) as error:  # the edge to code of others, which runs when it is imported
            told = f"{type(error).__name__}: {' '.join(str(error).split())}"
            instead = f"update or uninstall the package {self.package}"
            raise PluginError(f"{self} cannot be loaded: {told}", instead) from error
        return found

    def unfit(self, wanted: str) -> PluginError:
        """Return the error for a plug-in that is loaded and is not what its group wants."""
        return PluginError(f"{self} is something else", f"its entry point has to name {wanted}")

    def __str__(self) -> str:
        return f"the {self.what} {self.name!r} of the package {self.package}"


class PluginGroup:
    """The plug-ins of one kind, by name."""

    def __init__(self, group: str, what: str, *, has_ours: bool = True) -> None:
        self.group = PREFIX + group
        self.what = what
        """What one of them is called in messages."""
        self._has_ours = has_ours
        self._adopted: tuple[Plugin, ...] | None = None
        self._found: Sequence[Plugin] = ()
        self._listed: tuple[Plugin, ...] = ()

    def listed(self) -> tuple[Plugin, ...]:
        """Return all plug-ins, also those that share a name. Raises `PluginError` if our own are not there."""
        if self._adopted is not None:
            return self._adopted
        found = _installed(tuple(sys.path)).get(self.group, ())
        if self._has_ours and not any(one.reference.startswith(PREFIX) for one in found):
            raise PluginError(
                f"ultracrawl is not installed, or not as it is now: its own {self.what} cannot be found",
                "install it (again): pip install --editable . in its folder",
            )
        if found is not self._found:
            self._listed = tuple(Plugin(self.what, one.name, one.reference, one.origin) for one in found)
            self._found = found
        return self._listed

    @property
    def names(self) -> tuple[str, ...]:
        """The names that a definition may write."""
        return tuple(dict.fromkeys(one.name for one in self.listed()))

    def find(self, name: str) -> Plugin:
        """Return the plug-in of a name. Raises `PluginError` if there is none, or more than one."""
        found = [one for one in self.listed() if one.name == name]
        if not found:
            known = ", ".join(self.names) or "none"
            raise PluginError(f"unknown {self.what} {name!r}", f"known are: {known}")
        if len(found) > 1:
            raise clash(f"the {self.what} {name!r} is brought", found)
        return found[0]

    def load(self, name: str) -> object:
        """Import what a name stands for. Raises `PluginError`, or a `UserError` of the plug-in."""
        return self.find(name).load()

    def adopt(self, told: Iterable[Sequence[str]]) -> None:
        """Take the names and references that another process found, and look through no packages in this one."""
        self._adopted = tuple(Plugin(self.what, name, reference) for name, reference in told)


def clash(what: str, bringers: Iterable[Plugin]) -> PluginError:
    """Return the error for one thing that several plug-ins bring; `what` goes on with who does."""
    who = " and by ".join(f"{one.package} ({one.reference})" for one in bringers)
    return PluginError(f"{what} by {who}", "uninstall one of them")


def load_own(
    path: str,
    place: str,
    folders: Iterable[Path] = (),
    *,
    instead: str = "install its package, or run where its scrapy.cfg is",
) -> object:
    """Return what a dotted path names. Raises `UserError` with one line that begins with `place`.

    It is looked for on the import path, then in folders, which are on it from then on; `instead` is what to do where it
    is in none of them.
    """
    sys.path += [str(one) for one in folders if str(one) not in sys.path]
    module, _, name = path.rpartition(".")
    try:
        imported = import_module(module)
        if not hasattr(imported, name):
            raise NameError(f"Module '{module}' doesn't define any object named '{name}'")
    except (ImportError, NameError, ValueError) as error:
        raise UserError(f"{place} cannot be loaded: {error}; {instead}") from error
    except (
        Exception,
        SystemExit,
    ) as error:  # the edge to somebody's module: one line says more than a traceback
        raise UserError(
            f"{place} cannot be loaded: {type(error).__name__}: {error} ({_where(error)})"
        ) from error
    return getattr(imported, name)


def _where(error: BaseException) -> str:
    """Return file and line of what was wrong."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{frame.filename}:{frame.lineno}"


@lru_cache(maxsize=8)
def _installed(path: tuple[str, ...]) -> dict[str, list[Plugin]]:
    """Return the plug-ins of all packages on a search path, by group; what a path has twice counts once."""
    found: dict[str, dict[tuple[str, str], Plugin]] = {}
    for package, text in _entry_points(path):
        group = ""
        for line in map(str.strip, text.splitlines()):
            name, is_entry, reference = map(str.strip, line.partition("="))
            if line.startswith("["):
                group = line.strip("[]").strip()
            elif is_entry and group.startswith(PREFIX) and not line.startswith("#"):
                plugin = Plugin(group, name, reference.partition("[")[0].strip(), package)
                found.setdefault(group, {}).setdefault((name, plugin.reference), plugin)
    return {group: list(plugins.values()) for group, plugins in found.items()}


def _entry_points(path: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """Yield the files of entry points that have some of ours, with the folders of their packages.

    `importlib.metadata` finds the same, after it has loaded what reads mails: a tenth of what a search takes.
    """
    for place in path:
        with suppress(OSError):
            for folder in sorted(os.listdir(place or ".")):
                if folder.endswith((".dist-info", ".egg-info")):
                    package = Path(place, folder)
                    with suppress(OSError):
                        text = package.joinpath("entry_points.txt").read_text("utf-8", "replace")
                        if f"[{PREFIX}" in text:
                            yield package, text


CONVERTERS = PluginGroup("converters", "converters")
"""Lists of `content.converters.registry.Converter`: readers of media types."""
ENGINES = PluginGroup("engines", "index engine")
"""Callables that open an index (`index.engine.OpenEngine`)."""
STORES = PluginGroup("stores", "state store")
"""What keeps what is known of sources (`stores.port.engine.StoreEngine`)."""
SOURCE_KINDS = PluginGroup("source_kinds", "type of source")
"""Subclasses of `spiders.SourceSpider`."""
REWRITERS = PluginGroup("rewriters", "URL rewriter", has_ours=False)
"""Subclasses of `rules.boundary.UrlRewriter`."""
FILTER_FUNCTIONS = PluginGroup("filter_functions", "filter functions")
"""Modules with functions that `rules.filters.filter_function` marks, or their mappings by name."""
DESTINATIONS = PluginGroup("destinations", "type of destination")
"""Callables that open what documents go to (`index.destinations.OpenDestination`)."""
AGENTS = PluginGroup("agents", "crawler agent", has_ours=False)
"""Subclasses of `agents.CrawlerAgent`."""
