"""Write the tables of options in docs/configuration.md from the docstrings of the options.

    python tools/option_tables.py [--check]

The effect of an option is its docstring. In the page it may have links, and further sentences behind it; type, default
and example stay as they are written. An option without a row gets one below the option before it. With `--check`
nothing is written, and the exit status is 1 if the page differs.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from ultracrawl.sources.project import DefinitionFile
from ultracrawl.sources.schema import option_descriptions
from ultracrawl.sources.sections.section import Section

PAGE = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"
_ROW = re.compile(r"\| `([a-z0-9_.]+)` \|(?: (?:\\\||[^|])*\|){4}$")
_CELL = re.compile(r"(?<!\\)\|")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_TYPES = {bool: "true or false", int: "number", float: "number", str: "text"}


@dataclass(frozen=True)
class Option:
    """An option: its path as the page writes it, its docstring, and a row for it."""

    path: str
    effect: str
    row: str


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or with `--check` print the options that differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing, and print what differs")
    check = parser.parse_args(arguments).check
    before = PAGE.read_text(encoding="utf-8")
    after = with_options(before, list(options()))
    if check:
        differing = sorted(set(after.splitlines()) - set(before.splitlines()))
        print(*differing, sep="\n", end="\n" if differing else "")
        if differing:
            print(f"{len(differing)} options differ from the code: python tools/option_tables.py")
        return bool(differing)
    PAGE.write_text(after, encoding="utf-8")
    return 0


def options(model: type[BaseModel] = DefinitionFile, group: str = "") -> Iterator[Option]:
    """Yield the options of a group and then those of its sections; `defaults` has those of a source."""
    effects = dict(option_descriptions(model))
    for name, field in model.model_fields.items():
        option = field.alias or name
        path = f"{group}.{option}".strip(".")
        effect = effects[name].replace("|", r"\|")
        default = "required" if field.is_required() else f"`{_shown(field.default)}`"
        example = f"`{option}: {_shown((field.examples or [field.default])[0])}`"
        yield Option(
            path, effect, f"| `{path}` | {_type(field.annotation)} | {default} | {effect} | {example} |"
        )
    if issubclass(model, Section) and model.KEEPS_WRITTEN:
        return  # its sections are those of a source
    for name, field in model.model_fields.items():
        section = (
            get_args(field.annotation)[-1] if get_origin(field.annotation) is Mapping else field.annotation
        )
        if name != "defaults" and isinstance(section, type) and issubclass(section, BaseModel):
            yield from options(section, f"{group}.{field.alias or name}".strip(".").removeprefix("sources"))


def with_options(page: str, wanted: list[Option]) -> str:
    """Return the page with the effect of each option, and with a row for those that have none."""
    lines = page.splitlines()
    before = -1
    for option in wanted:
        found = _place(lines, option)
        if found is None:
            lines.insert(before + 1, option.row)
            before += 1
            continue
        cells = _CELL.split(lines[found])
        cells[4] = f" {_effect(cells[4].strip(), option.effect)} "
        lines[found], before = "|".join(cells), found
    return "\n".join(lines) + "\n"


def _place(lines: list[str], option: Option) -> int | None:
    """Return the row of an option; of two with one name that whose effect is more like its docstring."""
    rows = [
        number for number, line in enumerate(lines) if (row := _ROW.match(line)) and row[1] == option.path
    ]
    exact = [number for number in rows if option.effect in _LINK.sub(r"\1", lines[number])]
    return next(iter(exact or rows), None)


def _effect(written: str, effect: str) -> str:
    """Return the text of the page if it has the docstring at its beginning, apart from links; else the docstring."""
    plain = _LINK.sub(r"\1", written)
    return written if plain.startswith(effect.removesuffix(".")) else effect


def _type(annotation: Any) -> str:
    if get_origin(annotation) in (Union, UnionType):
        annotation = next(one for one in get_args(annotation) if one is not type(None))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "section"
    return _TYPES.get(annotation, "list" if get_origin(annotation) in (tuple, list) else "text")


def _shown(value: object) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, default=str)


if __name__ == "__main__":
    sys.exit(main())
