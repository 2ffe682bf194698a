"""The pages of the site that no file has: the verbs from their `--help`, and the API from its OpenAPI description."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import click

from ultracrawl.cli.main import GROUPS, cli
from ultracrawl.service.api.app import make_app
from ultracrawl.service.orders import Supervision
from ultracrawl.sources import load_project, require

WIDTH = 80
"""Columns of the texts of help."""
_LINK_TO_SCHEMA = "#/components/schemas/"

_VERBS = """# Verbs

All verbs of the command line, as `ultracrawl VERB --help` describes them. Exit codes and the output of `--json` are on
the page [Commands](../docs/commands.md).
"""
_API = """# Requests of the API

All requests of the HTTP API, made from its OpenAPI description, which the service has at `/api/v1/openapi.json`.
Tokens, roles, public keys and limits are on the page [The API of the service](../docs/api.md).
"""


def verbs_page() -> str:
    """Return the page of all verbs, in the groups of `ultracrawl --help`; verbs of plug-ins come last."""
    context = click.Context(cli, info_name="ultracrawl", **cli.context_settings)
    grouped = {title: names.split() for title, names in GROUPS.items()}
    known = {name for names in grouped.values() for name in names}
    others = [name for name in cli.list_commands(context) if name not in known]
    parts = [_VERBS]
    for title, names in {**grouped, "Of plug-ins": others}.items():
        parts += [f"## {title}\n"] if names else []
        for name in names:
            verb = cli.get_command(context, name)
            assert verb is not None, name
            parts += _help(verb, context, "###")
    return "\n".join(parts)


def _help(command: click.Command, parent: click.Context, heading: str) -> Iterator[str]:
    """Yield a chapter of a command, and those of its members."""
    context = click.Context(
        command, info_name=command.name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH
    )
    yield f"{heading} {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            member = command.get_command(context, name)
            assert member is not None, name
            yield from _help(member, context, f"{heading}#")


def openapi() -> dict[str, Any]:
    """Return the OpenAPI description of the API of a service that crawls nothing."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "ultracrawl.yaml")
        file.write_text("sources: {none: {start_urls: [https://www.example.com/]}}\n", encoding="utf-8")
        project = require(load_project(file))
        return make_app(lambda: project, cast(Supervision, None)).openapi()


def api_page() -> str:
    """Return the page of all requests, by their tags, and of the objects that they take and answer."""
    description = openapi()
    by_tag: dict[str, list[str]] = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            chapter = "\n".join(_operation(f"{method.upper()} {path}", operation))
            by_tag.setdefault(operation["tags"][0], []).append(chapter)
    parts = [_API]
    for tag, chapters in by_tag.items():
        parts += [f"## Requests: {tag}\n", *chapters]
    parts.append("## Objects\n")
    for name, schema in sorted(description["components"]["schemas"].items()):
        parts += _object(name, schema)
    return "\n".join(parts)


def _operation(title: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"### `{title}`\n\n{operation['description']}\n"
    parameters = operation.get("parameters", ())
    if parameters:
        yield "| parameter | in | type | default |\n| --- | --- | --- | --- |"
        for one in parameters:
            default = "required" if one.get("required") else _default(one["schema"])
            yield f"| `{one['name']}` | {one['in']} | {_type(one['schema'])} | {default} |"
        yield ""
    if body := _content(operation.get("requestBody", {})):
        yield f"Body: {_type(body)}.\n"
    for status, response in operation["responses"].items():
        if status[0] == "2":
            answered = _content(response)
            yield f"Answer {status}: {_type(answered) if answered else 'no JSON'}.\n"


def _content(message: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of what a request or an answer carries as JSON; empty if it carries none."""
    return cast("dict[str, Any]", message.get("content", {}).get("application/json", {}).get("schema", {}))


def _object(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f"({_label(name)})=\n### {name}\n\n{schema.get('description', '')}\n"
    if "enum" in schema:
        yield f"One of {', '.join(f'`{one}`' for one in schema['enum'])}.\n"
    if properties := schema.get("properties"):
        needed = schema.get("required", ())
        yield "| member | type | default |\n| --- | --- | --- |"
        for member, value in properties.items():
            default = "always there" if member in needed else _default(value)
            yield f"| `{member}` | {_type(value)} | {default} |"
        yield ""


def _label(name: str) -> str:
    return f"object-{re.sub('[^a-z0-9]+', '-', name.lower()).strip('-')}"


def _default(schema: dict[str, Any]) -> str:
    return f"`{schema['default']!r}`" if schema.get("default") not in (None, "", [], {}) else "none"


def _type(schema: dict[str, Any]) -> str:
    """Return the type of a value in words, with a link to its object."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_LINK_TO_SCHEMA)
        return f"[{name}](#{_label(name)})"
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(_type(one) for one in schema[several])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if "enum" in schema:
        return " or ".join(f"`{one}`" for one in schema["enum"])
    limits = [
        f"{word} {schema[key]}"
        for key, word in (("minimum", "at least"), ("maximum", "at most"))
        if key in schema
    ]
    return ", ".join([str(schema.get("type", "anything")), *limits])
