"""From collections back to XML: what they set, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from ultracrawl.dialects.fast_xml.collection import Scope
from ultracrawl.dialects.fast_xml.options import LOGIN, Value
from ultracrawl.dialects.fast_xml.values import Setting

MASK = "****"
_INDENT = "    "
_ACCOUNTS = frozenset({"passwd", "ftp_acct"})
_FORM = f"{LOGIN}/parameters"

Tree = dict[str, "Tree | Setting"]
"""Sections by name, options by name with a slash in front, so that both may have the same one."""


def collections_xml(collections: Iterable[Scope], *, masked: bool = False) -> str:
    """Return a file with collections; reading it gives the same ones. `masked` hides passwords.

    Logins and sub-collections are elements, so that loading the file deletes none.
    """
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<CrawlerConfig>"]
    for collection in collections:
        lines += _scope(collection, 1, masked)
    return "\n".join([*lines, "</CrawlerConfig>", ""])


def _scope(scope: Scope, depth: int, masked: bool) -> Iterator[str]:
    indent = _INDENT * depth
    yield f"{indent}<{scope.kind} name={quoteattr(scope.name)}>"
    yield from _tree(_nested(scope), depth + 1, masked)
    for part in (*scope.logins.values(), *scope.subs.values(), *scope.nodes.values()):
        yield from _scope(part, depth + 1, masked)
    yield f"{indent}</{scope.kind}>"


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
    value = _masked(setting) if masked else setting.value
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


def _masked(setting: Setting) -> Value:
    value, section = setting.value, setting.spec.section
    if section in _ACCOUNTS:
        return f"{str(value).partition(':')[0]}:{MASK}"
    if section == _FORM:
        return MASK
    if setting.spec.name == "proxy" and isinstance(value, tuple):
        return tuple(_without_password(member) for member in value)
    return value


def _without_password(proxy: str) -> str:
    user, at, host = proxy.rpartition("@")
    scheme, mark, account = user.rpartition("://")
    return f"{scheme}{mark}{account.partition(':')[0]}:{MASK}{at}{host}" if at else proxy
