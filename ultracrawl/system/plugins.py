"""Plug-ins found by entry points, built-in and third-party, and objects named by dotted paths.

Each `PluginGroup` is one entry-point group; docs/plugins.md describes what its plug-ins have to be. Installed packages
are scanned once, at the first look-up. A plug-in is imported only by `load`.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, reduce
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ultracrawl import __version__
from ultracrawl.dataclass import dataclass
from ultracrawl.errors import AdvisedError, UserError

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

PREFIX = "ultracrawl."
"""Prefix of our entry-point groups, and of the references of the built-in plug-ins."""


class PluginError(AdvisedError, UserError):
    """A plug-in is missing, ambiguous or unusable."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point of a package, not loaded yet."""

    label: str
    """What messages call plug-ins of its group."""
    name: str
    reference: str
    """`package.module:object`, or a module."""
    origin: Path | None = None
    """The `.dist-info` or `.egg-info` folder of its package; None if another process passed the plug-in on."""

    @property
    def package(self) -> str:
        """The name of the distribution, as `pip` knows it."""
        if self.origin is None:
            return self.reference.partition(".")[0]
        from importlib.metadata import Distribution  # noqa: PLC0415 - slow, and used by error messages only

        return str(Distribution.at(self.origin).name)

    def load(self) -> object:
        """Import the plug-in. Raises `PluginError` if that fails, or its package is for other versions of ultracrawl.

        A `UserError` of the plug-in passes through.
        """
        self._check_versions()
        try:
            module, _, attributes = self.reference.partition(":")
            loaded: object = reduce(
                getattr, filter(None, attributes.split(".")), import_module(module.strip())
            )
        except UserError:
            raise
        except (Exception, SystemExit) as error:  # third-party code runs at import
            detail = f"{type(error).__name__}: {' '.join(str(error).split())}"
            instead = f"update or uninstall the package {self.package}"
            raise PluginError(f"{self} cannot be loaded: {detail}", instead) from error
        return loaded

    def _check_versions(self) -> None:
        """Raise `PluginError` if the package requires other versions of ultracrawl than this one."""
        if self.origin is None or self.reference.startswith(PREFIX):
            return
        unfit = [
            wanted
            for wanted in _required_versions(self.origin)
            if not wanted.contains(__version__, prereleases=True)
        ]
        if unfit:
            raise PluginError(
                f"{self} is for ultracrawl {' and '.join(map(str, unfit))}, and this is {__version__}",
                f"update the package {self.package}, or install a version of ultracrawl that it is for",
            )

    def wrong_type_error(self, wanted: str) -> PluginError:
        """Return the error for a loaded plug-in that is not what its group requires."""
        return PluginError(f"{self} has the wrong type", f"its entry point has to name {wanted}")

    def __str__(self) -> str:
        return f"the {self.label} {self.name!r} of the package {self.package}"


class PluginGroup:
    """The plug-ins of one entry-point group, by name."""

    def __init__(self, group: str, label: str, *, has_built_in: bool = True) -> None:
        self.group = PREFIX + group
        self.label = label
        """What messages call one of them."""
        self._has_built_in = has_built_in
        self._passed_on: tuple[Plugin, ...] | None = None
        self._installed: Sequence[Plugin] = ()
        self._plugins: tuple[Plugin, ...] = ()

    def all_plugins(self) -> tuple[Plugin, ...]:
        """Return all plug-ins, duplicate names included. Raises `PluginError` if the built-in ones are missing."""
        if self._passed_on is not None:
            return self._passed_on
        installed = _installed_plugins(tuple(sys.path)).get(self.group, ())
        if self._has_built_in and not any(plugin.reference.startswith(PREFIX) for plugin in installed):
            raise PluginError(
                f"the built-in {self.label} cannot be found: ultracrawl is not installed, or an older version is",
                "install it (again): pip install --editable . in its folder",
            )
        if installed is not self._installed:
            self._plugins = tuple(
                Plugin(self.label, plugin.name, plugin.reference, plugin.origin) for plugin in installed
            )
            self._installed = installed
        return self._plugins

    @property
    def names(self) -> tuple[str, ...]:
        """The names that a definition may use."""
        return tuple(dict.fromkeys(plugin.name for plugin in self.all_plugins()))

    def find(self, name: str) -> Plugin:
        """Return the plug-in of a name. Raises `PluginError` if there is none, or more than one."""
        plugins = [plugin for plugin in self.all_plugins() if plugin.name == name]
        if not plugins:
            known = ", ".join(self.names) or "none"
            raise PluginError(f"unknown {self.label} {name!r}", f"known are: {known}")
        if len(plugins) > 1:
            raise duplicate_error(f"the {self.label} {name!r} is provided", plugins)
        return plugins[0]

    def load(self, name: str) -> object:
        """Import the plug-in of a name. Raises `PluginError`, or a `UserError` of the plug-in."""
        return self.find(name).load()

    def use_plugins(self, names_and_references: Iterable[Sequence[str]]) -> None:
        """Use the plug-ins that another process has found, instead of scanning the packages in this one."""
        self._passed_on = tuple(
            Plugin(self.label, name, reference) for name, reference in names_and_references
        )


def duplicate_error(what: str, plugins: Iterable[Plugin]) -> PluginError:
    """Return the error for plug-ins that provide the same thing; the message is `what` followed by their packages."""
    packages = " and by ".join(f"{plugin.package} ({plugin.reference})" for plugin in plugins)
    return PluginError(f"{what} by {packages}", "uninstall one of them")


def load_dotted_path(
    path: str,
    place: str,
    folders: Iterable[Path] = (),
    *,
    instead: str = "install its package, or run where its scrapy.cfg is",
) -> object:
    """Return the object that a dotted path names.

    `folders` are appended to the import path. Raises `PluginError`, whose text begins with `place`; its advice is
    `instead` if the object is not found.
    """
    sys.path += [str(folder) for folder in folders if str(folder) not in sys.path]
    module, _, name = path.rpartition(".")
    try:
        imported = import_module(module)
        if not hasattr(imported, name):
            raise NameError(f"Module '{module}' doesn't define any object named '{name}'")
    except (ImportError, NameError, ValueError) as error:
        raise PluginError(f"{place} cannot be loaded: {error}", instead) from error
    except (
        Exception,
        SystemExit,
    ) as error:  # third-party code runs at import: one line instead of a traceback
        problem = f"{place} cannot be loaded: {type(error).__name__}: {error}"
        raise PluginError(problem, f"correct it at {_where(error)}") from error
    return getattr(imported, name)


def _where(error: BaseException) -> str:
    """Return the file and line where an error was raised."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{frame.filename}:{frame.lineno}"


@lru_cache(maxsize=8)
def _installed_plugins(path: tuple[str, ...]) -> dict[str, list[Plugin]]:
    """Return the plug-ins of all packages on an import path, by group, without duplicates."""
    plugins: dict[str, dict[tuple[str, str], Plugin]] = {}
    for package, text in _entry_points(path):
        group = ""
        for line in map(str.strip, text.splitlines()):
            name, is_entry, reference = map(str.strip, line.partition("="))
            if line.startswith("["):
                group = line.strip("[]").strip()
            elif is_entry and group.startswith(PREFIX) and not line.startswith("#"):
                plugin = Plugin(group, name, reference.partition("[")[0].strip(), package)
                plugins.setdefault(group, {}).setdefault((name, plugin.reference), plugin)
    return {group: list(members.values()) for group, members in plugins.items()}


def _entry_points(path: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """Yield the metadata folder and the text of each `entry_points.txt` that has groups of ours.

    `importlib.metadata` does the same, but imports the `email` package: a tenth of the time of a search.
    """
    for directory in path:
        with suppress(OSError):
            for folder in sorted(os.listdir(directory or ".")):
                if folder.endswith((".dist-info", ".egg-info")):
                    package = Path(directory, folder)
                    with suppress(OSError):
                        text = package.joinpath("entry_points.txt").read_text("utf-8", "replace")
                        if f"[{PREFIX}" in text:
                            yield package, text


def _required_versions(package: Path) -> Iterator[SpecifierSet]:
    """Yield the versions of ultracrawl, such as `>=0.1,<0.2`, that the metadata of a package require."""
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - third-party plug-ins only

    for name in ("METADATA", "PKG-INFO"):
        with suppress(OSError):
            headers = package.joinpath(name).read_text("utf-8", "replace").partition("\n\n")[0]
            for line in headers.splitlines():
                header, _, value = line.partition(":")
                if header.lower() == "requires-dist" and value.strip().lower().startswith("ultracrawl"):
                    with suppress(InvalidRequirement):  # what `pip` cannot read requires nothing
                        wanted = Requirement(value)
                        is_meant = wanted.name.lower() == "ultracrawl" and (
                            wanted.marker is None or wanted.marker.evaluate({"extra": ""})
                        )
                        if is_meant and wanted.specifier:
                            yield wanted.specifier


CONVERTERS = PluginGroup("converters", "converters")
"""Lists of `content.converters.registry.Converter`: readers of media types."""
ENGINES = PluginGroup("engines", "index engine")
"""Functions that open an index (`index.engine.OpenEngine`)."""
DIALECTS = PluginGroup("dialects", "format of definitions")
"""Formats of definition files beside YAML (`sources.dialects.Dialect`)."""
STORES = PluginGroup("stores", "state store")
"""State stores (`stores.port.engine.StoreEngine`)."""
SOURCE_KINDS = PluginGroup("source_kinds", "type of source")
"""Subclasses of `spiders.SourceSpider`."""
REWRITERS = PluginGroup("rewriters", "URL rewriter", has_built_in=False)
"""Subclasses of `rules.boundary.UrlRewriter`."""
FILTER_FUNCTIONS = PluginGroup("filter_functions", "filter functions")
"""Modules with functions decorated by `rules.filters.filter_function`, or mappings of names to such functions."""
DESTINATIONS = PluginGroup("destinations", "type of destination")
"""Functions that open a destination of documents (`index.destinations.OpenDestination`)."""
STAGES = PluginGroup("stages", "stage", has_built_in=False)
"""Functions that make stages of the candidate list (`sources.compilation.plugin_stages.MakeStage`)."""
FEATURES = PluginGroup("features", "feature", has_built_in=False)
"""Subclasses of `run.hooks.Feature` (`run.composition.plugin_features`)."""
VERBS = PluginGroup("verbs", "verb")
"""Verbs of the command line (`cli.plugin_verbs.PluginVerb`)."""
AGENTS = PluginGroup("agents", "crawler agent", has_built_in=False)
"""Subclasses of `agents.CrawlerAgent`."""
