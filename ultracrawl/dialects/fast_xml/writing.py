"""Writes collections as XML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from ultracrawl.dialects.fast_xml.collection import Scope
from ultracrawl.dialects.fast_xml.forms.masks import masked as without_passwords
from ultracrawl.dialects.fast_xml.options import LOGIN, Value
from ultracrawl.dialects.fast_xml.values import Setting

_INDENT = "    "

Tree = dict[str, "Tree | Setting"]
"""Sections by name, options by name with a leading slash, so that both can have the same name."""


def collections_xml(collections: Iterable[Scope], *, masked: bool = False) -> str:
    """Return an XML file with collections; reading it returns equal ones.

    With `masked`, for export: passwords are masked, and logins and sub-collections are written as elements, so that
    loading the file deletes none. Otherwise those that replace the ones of lower layers stay in a section.
    """
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<CrawlerConfig>"]
    for collection in collections:
        lines += _scope(collection, 1, masked)
    return "\n".join([*lines, "</CrawlerConfig>", ""])


def _scope(scope: Scope, depth: int, masked: bool) -> Iterator[str]:
    indent = _INDENT * depth
    yield f"{indent}<{scope.kind} name={quoteattr(scope.name)}>"
    yield from _content(scope, depth + 1, masked)
    yield f"{indent}</{scope.kind}>"


def _content(scope: Scope, depth: int, masked: bool) -> Iterator[str]:
    yield from _tree(_nested(scope), depth, masked)
    for name, parts, all_there_are in (
        ("logins", scope.logins, scope.all_logins),
        ("subdomains", scope.subs, scope.all_subs),
        ("", scope.nodes, False),
    ):
        if all_there_are and not masked:
            yield from _section(name, parts.values(), depth)
        else:
            for part in parts.values():
                yield from _scope(part, depth, masked)


def _section(name: str, parts: Iterable[Scope], depth: int) -> Iterator[str]:
    indent = _INDENT * depth
    yield f'{indent}<section name="{name}">'
    for part in parts:
        yield f"{indent}{_INDENT}<section name={quoteattr(part.name)}>"
        yield from _content(part, depth + 2, masked=False)
        yield f"{indent}{_INDENT}</section>"
    yield f"{indent}</section>"


def _nested(scope: Scope) -> Tree:
    tree: Tree = {}
    for (section, name), setting in scope.settings.items():
        group = tree
        for step in filter(None, section.removeprefix(LOGIN).split("/")):
            inner = group.setdefault(step, {})
            assert isinstance(inner, dict)
            group = inner
        group[f"/{name}"] = setting
    return tree


def _tree(tree: Tree, depth: int, masked: bool) -> Iterator[str]:
    indent = _INDENT * depth
    for name, inner in tree.items():
        if isinstance(inner, dict):
            yield f"{indent}<section name={quoteattr(name)}>"
            yield from _tree(inner, depth + 1, masked)
            yield f"{indent}</section>"
        else:
            yield from _option(inner, indent, masked)


def _option(setting: Setting, indent: str, masked: bool) -> Iterator[str]:
    value = without_passwords(setting) if masked else setting.value
    head = f'{indent}<attrib name={quoteattr(setting.name)} type="{setting.spec.kind}">'
    if isinstance(value, tuple):
        yield head
        for member in value:
            yield f"{indent}{_INDENT}<member> {escape(member)} </member>"
        yield f"{indent}</attrib>"
    else:
        yield f"{head}{_text(value)}</attrib>"


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return " yes " if value else " no "
    return "" if value is None else f" {escape(str(value))} "
