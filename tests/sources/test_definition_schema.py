"""The JSON schema accepts what the loader accepts, refuses plain mistakes, and describes every option."""

import functools
import json
import re
from pathlib import Path

import pytest
import yaml

from ultracrawl.sources import json_schema
from ultracrawl.sources.schema import DIALECT

EXAMPLES = Path(__file__).parents[2] / "examples"
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


@functools.cache
def whole_schema():
    """Return the schema, made once: that takes a second, and nobody here changes it."""
    return json_schema()


def is_type(value, name):
    if name in ("integer", "number"):
        kinds = (int,) if name == "integer" else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def accepts(schema, value, root):
    """Judge a value by the part of JSON Schema that our schema uses."""
    if not schema or schema is True:
        return True
    if "$ref" in schema and not accepts(root["$defs"][schema["$ref"].rpartition("/")[2]], value, root):
        return False
    if "anyOf" in schema and not any(accepts(one, value, root) for one in schema["anyOf"]):
        return False
    if "if" in schema:
        way = "then" if accepts(schema["if"], value, root) else "else"
        return accepts(schema.get(way, True), value, root)
    if "type" in schema and not is_type(value, schema["type"]):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "const" in schema and value != schema["const"]:
        return False
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return schema.get("minimum", value) <= value <= schema.get("maximum", value)
    if isinstance(value, str):
        return re.search(schema.get("pattern", ""), value) is not None and len(value) >= schema.get(
            "minLength", 0
        )
    if isinstance(value, list):
        return all(accepts(schema.get("items", True), item, root) for item in value)
    return not isinstance(value, dict) or accepts_object(schema, value, root)


def accepts_object(schema, value, root):
    properties, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        return False
    if not value.keys() >= set(schema.get("required", ())):
        return False
    for key, item in value.items():
        rule = properties.get(
            key, next((one for text, one in patterns.items() if re.search(text, key)), None)
        )
        if rule is None:
            rule = schema.get("additionalProperties", True)
        if rule is False or not accepts(rule, item, root):
            return False
    return True


def accepts_text(text):
    schema = whole_schema()
    return accepts(schema, yaml.safe_load(text), schema)


def test_the_schema_names_its_dialect_and_is_json():
    schema = whole_schema()
    assert schema["$schema"] == DIALECT == "https://json-schema.org/draft/2020-12/schema"
    assert json.loads(json.dumps(schema)) == schema


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.name)
def test_examples_are_accepted(file):
    assert accepts_text(file.read_text())


SHORT_FORMS = [
    ("index: var/i\nsources: {a: {start_urls: 'https://a.example/ https://b.example/'}}", True),
    ("sources: {a: {depth: FULL, robots: , limits: {max_size: 3 MB}}}", True),
    ("sources: {a: {boundary: {domains: {include: [.a.example, {regexp: x}]}}}}", True),
    ("sources: {a: {boundary: {domains: {include: .a.example}}}}", True),
    ("sources: {a: {settings: {LOG_LEVEL: INFO, X: [1, {a: b}]}}}", True),
    ("sources: {a: {class: my.Spider}}", True),
    ("sources: {a: {dept: 3}}", False),
    ("sources: {a: {depth: -1}}", False),
    ("sources: {a: {robots: {obey: maybe}}}", False),
    ("sources: {a: {boundary: {domains: {include: [{regxp: x}]}}}}", False),
    ("sources: {a: {boundary: {domains: {include: [{prefix: x, suffix: y}]}}}}", False),
    ("sources: {a: {spider_class: my.Spider}}", False),
    ("defaults: {start_urls: [x]}", False),
    ("index: {engine: lucene}", False),
    ("attributes: {Price: money}", False),
    ("documents: d\nlogs: l\nindexes: {archive: var/archive}\nsources: {}", True),
]


def test_short_forms_and_mistakes(subtests):
    for text, good in SHORT_FORMS:
        with subtests.test(text):
            assert accepts_text(text) == good


def options(schema):
    for group in (schema, *schema["$defs"].values()):
        for form in (group, *group.get("anyOf", [])):
            for name, option in form.get("properties", {}).items():
                if "description" in form:
                    yield f"{form['title']}.{name}", option


def test_every_option_has_title_or_reference_description_and_example():
    found = dict(options(whole_schema()))
    assert len(found) > 40
    lacking = [
        name for name, option in found.items() if not option.get("description") or not option.get("examples")
    ]
    assert lacking == []
