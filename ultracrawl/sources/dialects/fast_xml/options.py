"""The options of a collection and what each does here, as `options.yaml` lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, Literal

import yaml

Kind = Literal["boolean", "string", "integer", "real", "list-string"]
Value = bool | int | float | str | tuple[str, ...] | None
"""A value as read: None is an empty one, where that has a meaning."""

FREE = "*"
"""The name of options whose name is itself data, and of sections that are."""

RULE_SECTIONS = ("include_domains", "exclude_domains", "include_uris", "exclude_uris")
LOGIN = "Login"
"""The section of the options that belong to a login."""


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """One option: its form, and exactly one of `sets`, `no_effect` and `not_yet`."""

    name: str
    section: str
    """The path of its section, as `adaptive/weights`; empty directly in the collection."""
    number: int
    kind: Kind
    group: Literal["CORE", "OPS", "CLUSTER"]
    meaning: str
    default: Value = None
    sets: tuple[str, ...] = ()
    """Paths in the source definition; an asterisk stands for the name of the option, or of its section."""
    no_effect: str = ""
    not_yet: str = ""
    form: str = "plain"
    """How a value becomes that of the definition, see `forms`."""
    least: float | None = None
    most: float | None = None
    words: tuple[str, ...] = ()
    folds: bool = False
    """Whether case does not count in `words`."""
    empty: bool = False
    """Whether an empty value means something."""
    never_empty: bool = False
    """Whether an empty list stands for the default."""
    aliases: tuple[str, ...] = ()
    sub: bool = False
    """Whether sub-collections may set it."""
    example_only: bool = False
    test: str = ""
    """The module of the test that compares a collection with it and without it."""
    sample: Value = None
    sample_name: str = ""

    @property
    def path(self) -> str:
        """The option with its section, as `storage/datastore`."""
        return f"{self.section}/{self.name}" if self.section else self.name


class OptionList:
    """All options, found by section and name; aliases and nested rule sections included."""

    def __init__(self, specs: Iterator[OptionSpec]) -> None:
        self.all = tuple(specs)
        """The options of the list, each once."""
        self._known = {(spec.section, spec.name): spec for spec in self.all}
        self._aliases = {(spec.section, alias): spec.name for spec in self.all for alias in spec.aliases}
        self._known.update(((spec.section, spec.name), spec) for spec in _nested(self.all))
        self.sections = {spec.section for spec in self._known.values()} | _HOLDERS
        """The paths of all sections."""

    def find(self, section: str, name: str) -> OptionSpec | None:
        """Return the option of a section, or the one that takes any name there."""
        return self._known.get((section, name)) or self._known.get((section, FREE))

    def canonical(self, section: str, name: str) -> str:
        """Return the usual spelling of a name."""
        return self._aliases.get((section, name), name)

    def section(self, parent: str, name: str) -> str | None:
        """Return the path of a section inside another one (free names are asterisks), or None if it has no place."""
        for path in (f"{parent}/{name}".strip("/"), f"{parent}/{FREE}"):
            if path in self.sections:
                return path
        return None

    def is_section(self, name: str) -> bool:
        """Return whether some section has this name."""
        return any(path.rpartition("/")[2] == name for path in self.sections)

    def in_sub_collections(self, section: str) -> bool:
        """Return whether a section may stand in a sub-collection."""
        return any(spec.sub for spec in self._known.values() if spec.section == section)

    def names(self, section: str) -> list[str]:
        """Return the names of the options of a section."""
        return [name for path, name in self._known if path == section and name != FREE]

    def defaults(self) -> Iterator[OptionSpec]:
        """Yield the options that have a default of their own wherever nothing is said."""
        return (spec for spec in self.all if spec.default is not None and FREE not in spec.section)


_HOLDERS = frozenset({"feeding", "adaptive", "workqueue_priority"})
"""Sections that have further ones in them."""

_NESTED = {
    ("workqueue_priority/*", "include_domains"): "priority.level.*.hosts",
    ("workqueue_priority/*", "include_uris"): "priority.level.*.uris",
    ("focused", "exclude_domains"): "focused.exempt",
}
"""Rule sections that stand in other sections, and what their options set."""


def _nested(specs: tuple[OptionSpec, ...]) -> Iterator[OptionSpec]:
    for (outer, inner), target in _NESTED.items():
        for spec in specs:
            if spec.section == inner:
                yield replace(spec, section=f"{outer}/{inner}", sets=(target,), sub=False)


def _spec(entry: Mapping[str, Any]) -> OptionSpec:
    fields = dict(entry)
    for ours, theirs in (("kind", "type"), ("group", "class"), ("form", "as")):
        if theirs in fields:
            fields[ours] = fields.pop(theirs)
    sets = fields.get("sets", ())
    fields["sets"] = (sets,) if isinstance(sets, str) else tuple(sets)
    for name, value in fields.items():
        if isinstance(value, list):
            fields[name] = tuple(value)
    return OptionSpec(**fields)


def _read() -> OptionList:
    text = files(__package__).joinpath("options.yaml").read_text(encoding="utf-8")
    return OptionList(_spec(entry) for entry in yaml.load(text, Loader=yaml.CSafeLoader)["options"])


OPTIONS = _read()
"""The list."""
