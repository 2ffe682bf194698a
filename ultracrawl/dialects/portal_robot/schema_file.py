"""Reads `schema.conf`: the types of fields of descriptions, and the fields that every search finds words of."""

from __future__ import annotations

import re

from ultracrawl.dataclass import dataclass, field
from ultracrawl.rules.attributes.mapping import DEFAULT_MAPPING
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute, attribute_schema
from ultracrawl.rules.filters.function import SWITCHES
from ultracrawl.sources.filter_files.lexer import ConfigText, Directive, read_text

SCHEMA_FILE = "schema.conf"

FIELDS = {
    "classification": "Classification",
    "keywords": "Keywords",
    "md5": "MD5",
    "depth": "Depth",
    "content-type": "Content_Type",
    "rd-expires": "RD_Expires",
    "rd-last-modified": "RD_Last_Modified",
    "toc": "TOC",
    "ip": "IP",
}
"""The search attributes of fields that every robot has."""

_TYPES = {
    "Depth": AttributeType.NUMBER,
    "RD_Expires": AttributeType.DATE,
    "RD_Last_Modified": AttributeType.DATE,
}
_SEARCHED_ANYWAY = frozenset({"title", "full-text", "partial-text", "url"})
_KEYS = ("name", "type", "searched")
_WORD = re.compile(r"[^\W\d_][\w.:-]{0,99}")


@dataclass(slots=True)
class RobotSchema:
    """The search attributes of a robot: their types, and the field that fills each."""

    attributes: dict[str, AttributeType] = field(
        default_factory=lambda: {name: _TYPES.get(name, AttributeType.STRING) for name in FIELDS.values()}
    )
    fields: dict[str, str] = field(default_factory=lambda: dict(FIELDS))
    """Attribute by field."""
    searched: list[str] = field(default_factory=list)
    """The attributes whose words searches without an attribute find."""


def attribute_of(name: str) -> str:
    """Return the name of the attribute of a field: `author-name` -> `Author_Name`."""
    known = FIELDS.get(name) or DEFAULT_MAPPING.get(name)
    return known or "_".join(word[:1].upper() + word[1:] for word in re.split(r"[^a-z0-9]+", name) if word)


def read_schema(text: str, file: str = SCHEMA_FILE) -> tuple[RobotSchema, ConfigText]:
    """Read lines `Field name=author-name type=string searched=on`; mistakes are in the findings of the text."""
    read, schema = read_text(text, file, ("Field",)), RobotSchema()
    for block in read.blocks:
        read.add_finding(
            block.line, block.kind, "there are no blocks in this file", "write lines `Field name=...`"
        )
    lines: dict[str, int] = {}
    for directive in read.directives:
        name = _field_name(directive, read)
        if name in lines:
            read.add_finding(
                directive.line, "name", f"`{name}` stands in line {lines[name]} already", "remove one of them"
            )
        elif name:
            lines[name] = directive.line
            _add(schema, name, directive, read)
    return schema, read


def _field_name(directive: Directive, read: ConfigText) -> str:
    """Return the name of the field of a line in lower case, empty after a mistake."""
    if directive.word.lower() != "field":
        instead = "write `Field name=... type=... searched=...`"
        read.add_finding(directive.line, directive.word or "line", "is no Field", instead)
        return ""
    for pair in directive.parameters:
        if pair.name not in _KEYS:
            read.add_finding(
                pair.line, pair.name, f"Field takes no `{pair.name}`", f"it takes {', '.join(_KEYS)}"
            )
    name = (directive.get("name") or "").lower()
    if _WORD.fullmatch(name):
        return name
    instead = "write name=FIELD, with a letter first, then letters, digits, `-`, `.`, `:` and `_`"
    read.add_finding(directive.line, "name", f"`{name}` is no name of a field", instead)
    return ""


def _add(schema: RobotSchema, name: str, directive: Directive, read: ConfigText) -> None:
    if name in _SEARCHED_ANYWAY:
        problem = f"every search finds the words of `{name}`, and its type stays as it is"
        read.add_finding(directive.line, "name", problem, "remove the line", fatal=False)
        return
    attribute = attribute_of(name)
    fixed = attribute_schema(SearchAttribute(*one) for one in schema.attributes.items()).get(attribute)
    kind = _type(directive, read, fixed)
    if kind is None:
        return
    if fixed is None:
        schema.attributes[attribute] = kind
    schema.fields[name] = attribute
    searched = directive.get("searched") or "off"
    if searched.lower() not in SWITCHES:
        read.add_finding(directive.line, "searched", f"`{searched}` is not on or off", "write on or off")
    elif SWITCHES[searched.lower()] and kind is not AttributeType.STRING:
        problem = f"`{name}` is a {kind}; only the words of a string are searched"
        read.add_finding(directive.line, "searched", problem, "write type=string, or remove searched")
    elif SWITCHES[searched.lower()] and attribute not in schema.searched:
        schema.searched.append(attribute)


def _type(directive: Directive, read: ConfigText, fixed: SearchAttribute | None) -> AttributeType | None:
    """Return the type of a field, None after a mistake. `fixed` is its attribute, if it has one already."""
    written = (directive.get("type") or (fixed.type if fixed else AttributeType.STRING)).lower()
    if written not in list(AttributeType):
        read.add_finding(
            directive.line, "type", f"`{written}` is no type", f"write {', '.join(AttributeType)}"
        )
        return None
    kind = AttributeType(written)
    if fixed is None or fixed.type is kind:
        return kind
    problem = f"its attribute {fixed.name} has the type {fixed.type}"
    read.add_finding(directive.line, "type", problem, f"write type={fixed.type}, or rename the field")
    return None
