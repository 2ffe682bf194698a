"""The JSON schema of definition files, for editors."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from typing import cast

from pydantic import BaseModel, JsonValue
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from ultracrawl.sources.definition import SourceEntry
from ultracrawl.sources.kinds import entry_model, load_kind
from ultracrawl.sources.project import DefinitionFile
from ultracrawl.sources.sections.project import StorageSection
from ultracrawl.system.plugins import SOURCE_KINDS

Schema = dict[str, JsonValue]

DIALECT = GenerateJsonSchema.schema_dialect
"""JSON Schema draft 2020-12."""

_STORAGE = frozenset(section.__name__ for section in StorageSection.__subclasses__())


def json_schema() -> Schema:
    """Return the schema of a definition file, short forms included."""
    schema: Schema = DefinitionFile.model_json_schema(schema_generator=_Generator)
    definitions = schema.get("$defs")
    assert isinstance(definitions, dict)
    _add_kinds(schema, definitions)
    for name, group in definitions.items():
        if isinstance(group, dict) and group.get("type") == "object":
            definitions[name] = _with_short_forms(name, group)
    return {"$schema": DIALECT, **schema, "title": "ultracrawl definitions"}


def _add_kinds(schema: Schema, definitions: Schema) -> None:
    """Add a schema for the sources of each kind with options of its own, chosen by `type`."""
    sources = cast("dict[str, Schema]", schema["properties"])["sources"]
    ((pattern, described),) = cast(Schema, sources["patternProperties"]).items()
    for name in SOURCE_KINDS.names:
        kind = load_kind(name)
        if kind is None:
            continue
        entry = entry_model(kind, SourceEntry)
        own = entry.model_json_schema(schema_generator=_Generator)
        for key, group in cast(Schema, own.pop("$defs", {})).items():
            definitions.setdefault(key, group)
        definitions[entry.__name__] = own
        described = {
            "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
            "then": {"$ref": f"#/$defs/{entry.__name__}"},
            "else": described,
        }
    sources["patternProperties"] = {pattern: described}


class _Generator(GenerateJsonSchema):
    """Describes options by the docstrings below them.

    Pydantic can do this itself, but at class definition, which would slow down every command.
    """

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        fields = schema["cls"].model_fields
        for name, text in option_descriptions(schema["cls"]):
            made["properties"][fields[name].alias or name]["description"] = text
        return made


def option_descriptions(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Yield the options of a group, inherited ones included, with the docstring of each."""
    for base in reversed(model.__mro__):
        if not issubclass(base, BaseModel) or base is BaseModel:
            continue
        try:
            (group,) = ast.parse(inspect.getsource(base)).body
        except OSError:  # an installation without source files: the schema has no descriptions
            continue
        assert isinstance(group, ast.ClassDef)
        for option, below in pairwise(group.body):
            match option, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str() as text)),
                ) if name in model.model_fields:
                    yield name, " ".join(text.split())


def _with_short_forms(name: str, group: Schema) -> Schema:
    """Allow a group to be empty, and a storage group to be just a path."""
    forms: list[JsonValue] = [group, {"type": "null"}]
    if name in _STORAGE:
        forms.append({"type": "string", "minLength": 1})
    return {"anyOf": forms, "description": group.get("description", "")}
