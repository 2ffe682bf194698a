"""The JSON schema of definition files, for editors."""

from __future__ import annotations

from pydantic import JsonValue
from pydantic.json_schema import GenerateJsonSchema

from ultracrawl.sources.project import DefinitionFile

Schema = dict[str, JsonValue]

DIALECT = GenerateJsonSchema.schema_dialect
"""JSON Schema draft 2020-12."""

_STORAGE = ("IndexSection", "StateSection", "CacheSection")


def json_schema() -> Schema:
    """Return the schema of a definition file, short forms included."""
    schema: Schema = DefinitionFile.model_json_schema(by_alias=True, mode="validation")
    definitions = schema.get("$defs")
    assert isinstance(definitions, dict)
    for name, group in definitions.items():
        if isinstance(group, dict) and group.get("type") == "object":
            definitions[name] = _with_short_forms(name, group)
    return {"$schema": DIALECT, **schema, "title": "ultracrawl definitions"}


def _with_short_forms(name: str, group: Schema) -> Schema:
    """Let a group also be empty, and a storage group be its path alone."""
    forms: list[JsonValue] = [group, {"type": "null"}]
    if name in _STORAGE:
        forms.append({"type": "string", "minLength": 1})
    return {"anyOf": forms, "description": group.get("description", "")}
