"""Reads `robot.conf`: the properties of a robot, which are listed in `properties.yaml`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib.resources import files
from typing import Any, Literal

import yaml

from ultracrawl.dataclass import dataclass, field
from ultracrawl.rules.filters.resource import LOCAL_SCHEME
from ultracrawl.rules.filters.rules import PROTOCOLS
from ultracrawl.sources.filter_files.layout import ALL_WORDS, BLOCKS, split_start, split_url
from ultracrawl.sources.filter_files.lexer import Block, ConfigText, Parameter, read_text

FILE = "robot.conf"
_YES, _NO = frozenset({"true", "yes", "on"}), frozenset({"false", "no", "off"})


class PropertyError(ValueError):
    """An invalid value of a property; the message describes valid ones."""


@dataclass(frozen=True, slots=True)
class Property:
    """A property of `robot.conf`; `effect` describes its effect here.

    `idle` properties are accepted without effect.
    """

    name: str
    effect: str
    kind: Literal["text", "flag", "url", "start", "number", "seconds", "level", "word"] = "text"
    default: Any = None
    idle: bool = False
    repeats: bool = False
    least: int = 0
    most: int | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    """The meaning of each allowed value, in lower case."""
    aliases: tuple[str, ...] = ()
    sets: str = ""
    """The equivalent option of a source, with its section; empty if there is no single one."""

    def read(self, text: str) -> Any:
        """Parse a value. Raises `PropertyError`."""
        value, wanted = self._value(text)
        if value is None:
            raise PropertyError(wanted)
        return value

    def _value(self, text: str) -> tuple[Any, str]:
        """Return the parsed value (None if invalid) and a description of valid values."""
        lower = text.lower()
        match self.kind:
            case "flag":
                return (lower in _YES if lower in _YES | _NO else None), "true or false"
            case "url":
                return (text if split_url(text) else None), "a whole URL, as http://www.example.com/"
            case "start":
                return (
                    text if split_start(text) else None
                ), f"a whole URL of {', '.join((*PROTOCOLS, LOCAL_SCHEME))}"
            case "number":
                number = _number(text, int) if len(text) <= 18 else None
                most = self.most or 10**18
                right = number is not None and self.least <= number <= most
                bounds = f"{self.least} to {most}" if self.most else f"{self.least} or more"
                return (number if right else None), f"a whole number, {bounds}"
            case "seconds":
                seconds = _number(text, float)
                right = seconds is not None and 0 <= seconds < 1e9
                return (seconds if right else None), "seconds, 0 or more"
            case "level":
                return (int(text) if re.fullmatch("[0-5]", text) else None), "a number from 0 to 5"
            case "word":
                return self.words.get(lower), " or ".join(self.words)
        return text, ""


def _number(text: str, kind: Callable[[str], float]) -> float | None:
    try:
        return kind(text)
    except ValueError:
        return None


def _read_list() -> dict[str, Property]:
    text = files(__package__).joinpath("properties.yaml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = yaml.load(text, Loader=yaml.CSafeLoader)["properties"]
    for row in rows:
        row |= {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
    return {row["name"]: Property(**row) for row in rows}


PROPERTIES: Mapping[str, Property] = _read_list()
"""All properties by name, with the defaults of the portal robot."""

_ALIASES = {alias: prop.name for prop in PROPERTIES.values() for alias in prop.aliases}


@dataclass(slots=True)
class RobotProperties:
    """The properties of one robot: the values that are set, and their lines."""

    file: str
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        """Return the value of a property, or its default."""
        return self.values.get(name, PROPERTIES[name].default)

    def options(self) -> dict[str, dict[str, Any]]:
        """Return the options set by single properties, by section; empty values set none."""
        found: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for prop in PROPERTIES.values():
            section, _, option = prop.sets.partition(".")
            value = self[prop.name]
            if prop.kind == "seconds":
                value = value or prop.default
            if option and value not in (None, ""):
                found[section][option] = value
        return found

    def is_set(self, name: str) -> bool:
        """Return whether the file sets a property."""
        return name in self.values


def read_properties(text: str, file: str = FILE) -> tuple[RobotProperties, ConfigText]:
    """Read a `robot.conf`; mistakes are in the findings of the text. Unknown properties are warnings."""
    read = read_text(text, file, ALL_WORDS)
    properties = RobotProperties(file)
    processes = [block for block in read.blocks if block.kind == "process"]
    if not processes:
        read.add_finding(
            0, "Process", "there is no <Process ...> block", "write <Process csid=... and its properties"
        )
    for block in read.blocks:
        if block.kind not in BLOCKS:
            problem = f"there is no <{block.kind}> in this file; it is ignored"
            read.add_finding(block.line, block.kind, problem, "remove it", fatal=False)
    for extra in processes[1:]:
        read.add_finding(extra.line, "Process", "a second <Process> block", "remove it")
    for block in processes[:1]:
        for stray in (directive for directive in block.directives if directive.word):
            read.add_finding(stray.line, stray.word, "a stray line; it is ignored", "remove it", fatal=False)
        for pair in _pairs(block):
            _set_property(pair, properties, read)
    return properties, read


def _pairs(block: Block) -> list[Parameter]:
    return [*block.parameters, *(pair for directive in block.directives for pair in directive.parameters)]


def _set_property(pair: Parameter, properties: RobotProperties, read: ConfigText) -> None:
    name = _ALIASES.get(pair.name, pair.name)
    known = PROPERTIES.get(name)
    if known is None:
        near = get_close_matches(name, PROPERTIES, 1)
        instead = f"did you mean `{near[0]}`" if near else "remove it"
        read.add_finding(pair.line, pair.name, "an unknown property; it is ignored", instead, fatal=False)
        return
    try:
        value = known.read(pair.value)
    except PropertyError as error:
        read.add_finding(pair.line, pair.name, f"`{pair.value}` is not {error}", f"write {error}")
        return
    if known.repeats:
        properties.values[name] = (*properties[name], value)
    elif name in properties.values:
        read.add_finding(
            pair.line, pair.name, "given twice; the first is used", "remove one of them", fatal=False
        )
        return
    else:
        properties.values[name] = value
    properties.lines.setdefault(name, pair.line)
