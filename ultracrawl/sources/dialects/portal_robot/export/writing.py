"""Writes blocks, directives and pairs as text that the lexer reads back unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ultracrawl.rules.filters.classification import ClassificationRule
from ultracrawl.rules.filters.matching import Match
from ultracrawl.rules.filters.rules import PROTOCOLS, FilterRule, SiteDefinition
from ultracrawl.sources.dialects.portal_robot.lexer import Directive

_BARE = re.compile(r"[A-Za-z0-9_./:*+@,-]+")
_LOST = re.compile(r'\\(?!\\*\*)(?=[\\"]|\Z)')
_INDENT = "   "


def quoted(text: str) -> str:
    """Return a value in quotes if necessary, with backslashes doubled where they would be lost."""
    return text if _BARE.fullmatch(text) else f'"{between_quotes(text)}"'


def between_quotes(text: str) -> str:
    """Return a value escaped for quotes."""
    return _LOST.sub(r"\\\\", text).replace('"', '\\"')


def line(word: str, *pairs: tuple[str, str]) -> str:
    """Return a directive."""
    return " ".join([word, *(f"{name}={quoted(value)}" for name, value in pairs)])


def directive(parsed: Directive) -> str:
    """Return the text of a parsed directive."""
    return line(parsed.word, *((pair.name, pair.value) for pair in parsed.parameters))


def block(kind: str, pairs: Iterable[tuple[str, str]], lines: Iterable[str]) -> str:
    """Return a block with its directives, followed by an empty line."""
    header = line(f"<{kind}", *pairs)
    return "\n".join([f"{header}>", *(_INDENT + text for text in lines), f"</{kind}>", "", ""])


def filter_block(name: str, lines: Iterable[str]) -> str:
    """Return a filter."""
    return block("Filter", [("name", name)], lines)


def process_block(properties: Mapping[str, object], starts: Iterable[str]) -> str:
    """Return the block of a `robot.conf`; properties that are None are omitted."""
    pairs = [(name, _value(value)) for name, value in properties.items() if value is not None]
    pairs += [("start", url) for url in starts]
    return "\n".join(
        ["<Process", *(f"{_INDENT}{name}={quoted(text)}" for name, text in pairs), "</Process>", ""]
    )


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def rule_block(rule: FilterRule) -> str:
    """Return a filter rule."""
    pairs = [
        ("name", rule.name),
        *([("title", rule.title)] if rule.title else []),
        ("enable", _switch(rule.enabled)),
        ("default", _switch(rule.default)),
        ("behavior", "include" if rule.includes else "exclude"),
    ]
    return block("FilterRule", pairs, [line("Match", *_match(match)) for match in rule.matches])


def site_block(site: SiteDefinition) -> str:
    """Return a site definition."""
    lines = []
    for host in site.hosts:
        port = [("port", str(host.port))] if host.port else []
        protocols = [] if host.protocols == PROTOCOLS else [("protocol", ",".join(host.protocols))]
        lines.append(line("Host", ("name", host.name), *port, *protocols))
    for start in site.starts:
        depth = [] if start.depth is None else [("depth", str(start.depth))]
        lines.append(line("Start", ("url", start.url), *depth, *_off(start.enabled)))
    lines += [line("Use", ("rule", use.rule), *_off(use.enabled)) for use in site.uses]
    return block(
        "Site", [("name", site.name), ("kind", site.kind.value), ("enable", _switch(site.enabled))], lines
    )


def classification_line(rule: ClassificationRule) -> str:
    """Return a classification rule."""
    return line("Classify", *_match(rule.match), ("category", rule.category)) + "\n"


def _match(match: Match) -> list[tuple[str, str]]:
    return [("source", match.source), ("by", match.by.value), ("string", match.string)]


def _switch(on: bool) -> str:
    return "on" if on else "off"


def _off(on: bool) -> list[tuple[str, str]]:
    return [] if on else [("enable", "off")]
