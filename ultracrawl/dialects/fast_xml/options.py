"""`OPTIONS`: the options of a collection and their effects, read from `options.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Literal

import yaml

from ultracrawl.dataclass import dataclass, replace

Kind = Literal["boolean", "string", "integer", "real", "list-string"]
Value = bool | int | float | str | tuple[str, ...] | None
"""A parsed value; None is an empty one, for options where that has a meaning."""

FREE = "*"
"""Placeholder for the name of options and sections with free names."""

RULE_SECTIONS = ("include_domains", "exclude_domains", "include_uris", "exclude_uris")
LOGIN = "Login"
"""The section of the options of a login."""
LOGIN_FIELDS = f"{LOGIN}/parameters"
"""The section of the form fields of a login."""
SECRET_SECTIONS = frozenset({"passwd", "ftp_acct", LOGIN_FIELDS})
"""Sections whose options are or contain passwords."""


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """One option: type, form, and exactly one of `sets`, `shown`, `no_effect` and `not_yet`."""

    name: str
    section: str
    """The path of its section, as `adaptive/weights`; empty for the collection itself."""
    number: int
    kind: Kind
    group: Literal["CORE", "OPS", "CLUSTER"]
    meaning: str
    default: Value = None
    sets: tuple[str, ...] = ()
    """The options of a source definition that it sets; an asterisk stands for the free name of option or section."""
    shown: str = ""
    no_effect: str = ""
    not_yet: str = ""
    form: str = "plain"
    """The function that converts the value, see `forms`."""
    least: float | None = None
    most: float | None = None
    words: tuple[str, ...] = ()
    folds: bool = False
    """Whether `words` are case-insensitive."""
    empty: bool = False
    """Whether an empty value has a meaning."""
    never_empty: bool = False
    """Whether an empty list means the default."""
    aliases: tuple[str, ...] = ()
    sub: bool = False
    """Whether sub-collections may set it."""
    example_only: bool = False
    sample: Value = None
    sample_name: str = ""

    @property
    def honoured(self) -> bool:
        """Whether it does what it says: it sets something, or something shows it."""
        return bool(self.sets or self.shown)

    @property
    def path(self) -> str:
        """Section and name, as `storage/datastore`."""
        return f"{self.section}/{self.name}" if self.section else self.name


class OptionList:
    """Options by section and name, aliases and nested rule sections included."""

    def __init__(self, specs: Iterator[OptionSpec]) -> None:
        self.all = tuple(specs)
        """All options, each once."""
        self._known = {(spec.section, spec.name): spec for spec in self.all}
        self._aliases = {(spec.section, alias): spec.name for spec in self.all for alias in spec.aliases}
        self._known.update(((spec.section, spec.name), spec) for spec in _nested(self.all))
        self.sections = {spec.section for spec in self._known.values()} | _PARENT_SECTIONS
        """The paths of all sections."""

    def find(self, section: str, name: str) -> OptionSpec | None:
        """Return the option of a section, or its option with a free name, or None."""
        return self._known.get((section, name)) or self._known.get((section, FREE))

    def canonical(self, section: str, name: str) -> str:
        """Return the canonical name for an alias."""
        return self._aliases.get((section, name), name)

    def section(self, parent: str, name: str) -> str | None:
        """Return the path of a section in a parent section (free names as asterisks), None if not allowed there."""
        for path in (f"{parent}/{name}".strip("/"), f"{parent}/{FREE}"):
            if path in self.sections:
                return path
        return None

    def is_section(self, name: str) -> bool:
        """Return whether some section has this name."""
        return any(path.rpartition("/")[2] == name for path in self.sections)

    def in_sub_collections(self, section: str) -> bool:
        """Return whether a section is allowed in a sub-collection."""
        return any(spec.sub for spec in self._known.values() if spec.section == section)

    def names(self, section: str) -> list[str]:
        """Return the names of the options of a section."""
        return [name for path, name in self._known if path == section and name != FREE]

    def defaults(self) -> Iterator[OptionSpec]:
        """Yield the options with a default."""
        return (spec for spec in self.all if spec.default is not None and FREE not in spec.section)


_PARENT_SECTIONS = frozenset({"feeding", "adaptive", "workqueue_priority"})
"""Sections that contain sections only."""

_NESTED = {
    ("workqueue_priority/*", "include_domains"): "priority.level.*.hosts",
    ("workqueue_priority/*", "include_uris"): "priority.level.*.uris",
    ("focused", "exclude_domains"): "focused.exempt",
}
"""Rule sections inside other sections, and what their options set."""


def _nested(specs: tuple[OptionSpec, ...]) -> Iterator[OptionSpec]:
    for (outer, inner), target in _NESTED.items():
        for spec in specs:
            if spec.section == inner:
                yield replace(spec, section=f"{outer}/{inner}", sets=(target,), sub=False)


def _spec(entry: Mapping[str, Any]) -> OptionSpec:
    fields = dict(entry)
    for field, key in (("kind", "type"), ("group", "class"), ("form", "as")):
        if key in fields:
            fields[field] = fields.pop(key)
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
