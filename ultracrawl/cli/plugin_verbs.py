"""Verbs that packages bring: what their entry points in the group `ultracrawl.verbs` name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ultracrawl.dataclass import dataclass
from ultracrawl.system.plugins import VERBS, PluginError

PLUGIN_VERB = "ultracrawl.cli.plugin_verb"
"""The key in the `meta` of a context under which `cli.main` puts the `PluginVerb` that is run."""


@dataclass(frozen=True, slots=True)
class PluginVerb:
    """A verb, or a group of verbs; the name of its entry point is what people type."""

    line: str
    """Its line in `ultracrawl --help`."""
    command: str
    """Where its `click.Command` is, as `package.module:name`; imported when the verb is used."""
    section: str = "Plug-ins"
    """The heading in `ultracrawl --help` under which it is listed."""
    changing: frozenset[str] = frozenset()
    """What is typed for those that change something: the audit log has them when they end."""
    long: frozenset[str] = frozenset()
    """What is typed for those that run until they are stopped: the audit log has them when they begin."""


def find_plugin_verb(name: str) -> PluginVerb | None:
    """Return the verb of a package by its name, None if no package has one. Raises `PluginError`."""
    return _load(name) if name in VERBS.names else None


def plugin_verbs() -> Iterator[tuple[str, PluginVerb]]:
    """Yield the verbs of packages by name; of one that cannot be used, the line says why."""
    try:
        names = sorted(VERBS.names)
    except PluginError:
        return
    for name in names:
        try:
            yield name, _load(name)
        except PluginError as error:
            yield name, PluginVerb(f"Cannot be used: {error}", "")


@lru_cache
def _load(name: str) -> PluginVerb:
    plugin = VERBS.find(name)
    verb = plugin.load()
    if not isinstance(verb, PluginVerb):
        raise plugin.wrong_type_error("an `ultracrawl.cli.plugin_verbs.PluginVerb`")
    return verb
