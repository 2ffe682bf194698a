"""Finds the values in a definition file that may be secrets, by the declarations of their options."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, get_args

import yaml
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from ultracrawl.sources.definition import SourceEntry
from ultracrawl.sources.editing.option_changes import groups_in, is_mapping, options_of
from ultracrawl.sources.kinds import entry_model, find_kind
from ultracrawl.sources.project import DefinitionFile
from ultracrawl.sources.reading.tree import OptionPath
from ultracrawl.sources.secrets import is_clear_text

_PASSWORD_IN_URL = re.compile(r"://[^/\s@]*:[^/\s@]*@")
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_NO_TEXTS = (":int", ":float", ":bool", ":null")
Span = tuple[int, int]
"""The first character of a value, and the one behind its last."""


def hidden_spans(text: str, root: yaml.Node, *, is_source: bool) -> list[Span]:
    """Return the places of values that may be secrets, in order; with `is_source` the whole file is one source.

    References (`${NAME}`, `file:PATH`) and encrypted values are none. The text of an unknown option may be a password.
    """
    nodes = _of_source(root) if is_source else _of_group(root, DefinitionFile)
    return sorted({_span(text, node) for node in nodes})


def scalar_paths(text: str, root: yaml.Node) -> dict[int, set[OptionPath]]:
    """Return all paths of each value of a file, by its first character; aliases give it several."""
    found = defaultdict[int, set[OptionPath]](set)
    waiting: list[tuple[OptionPath, yaml.Node]] = [((), root)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, yaml.ScalarNode):
            found[_span(text, node)[0]].add(path)
        elif isinstance(node, yaml.SequenceNode):
            waiting += [((*path, number), item) for number, item in enumerate(node.value)]
        else:
            waiting += [((*path, str(key.value)), value) for key, value in node.value]
    return found


def source_entry_model(kind: object) -> type[SourceEntry]:
    """Return the model of a source as it is written, by the value of its option `type`."""
    found = find_kind(kind)
    return SourceEntry if found is None else entry_model(found, SourceEntry)


def _span(text: str, node: yaml.ScalarNode) -> Span:
    """Return the place of a value without anchor and tag, which other parts of the file may need."""
    start, end = node.start_mark.index, node.end_mark.index
    found = _PROPERTIES.match(text, start, end)
    start = found.end() if found else start
    return start, start + len(text[start:end].rstrip())


def _of_source(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    members = node.value if isinstance(node, yaml.MappingNode) else ()
    kind = next((value.value for key, value in members if key.value == "type"), None)
    yield from _of_group(node, source_entry_model(kind))


def _of_group(node: yaml.Node, model: type[BaseModel]) -> Iterator[yaml.ScalarNode]:
    if not isinstance(node, yaml.MappingNode):
        yield from _clear_texts(node)
        return
    options = options_of(model)
    for key, value in node.value:
        if key.tag.endswith(":merge"):
            merged = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for one in merged:
                yield from _of_group(one, model)
            continue
        info = options.get(key.value)
        if info is None:
            yield from (scalar for scalar in _clear_texts(value) if not scalar.tag.endswith(_NO_TEXTS))
        else:
            yield from _of_option(value, info)


def _of_option(node: yaml.Node, info: FieldInfo) -> Iterator[yaml.ScalarNode]:
    groups = groups_in(info.annotation)
    if not groups:
        may_be_secret = info.repr is False or _holds_secrets(info.annotation)
        yield from _clear_texts(node) if may_be_secret else _passwords_in_urls(node)
    elif len(groups) == 1 and is_mapping(info.annotation) and isinstance(node, yaml.MappingNode):
        for _, entry in node.value:
            yield from (
                _of_source(entry) if issubclass(groups[0], SourceEntry) else _of_group(entry, groups[0])
            )
    elif len(groups) == 1 and isinstance(node, yaml.MappingNode):
        yield from _of_group(node, groups[0])
    else:
        yield from _clear_texts(node)


def _holds_secrets(annotation: Any) -> bool:
    return annotation is SecretStr or any(map(_holds_secrets, get_args(annotation)))


def _scalars(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _scalars(item)
    elif isinstance(node, yaml.MappingNode):
        for _, value in node.value:
            yield from _scalars(value)


def _clear_texts(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    for scalar in _scalars(node):
        if scalar.value and is_clear_text(SecretStr(scalar.value)):
            yield scalar


def _passwords_in_urls(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    yield from (scalar for scalar in _scalars(node) if _PASSWORD_IN_URL.search(scalar.value))
