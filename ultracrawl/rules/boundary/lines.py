"""Parsing of files with one domain or URI rule per line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.boundary.matcher import URI_KINDS, check_rule
from ultracrawl.rules.boundary.rules import Action, DomainRule, Kind, RuleError, UriRule

Rule = TypeVar("Rule", DomainRule, UriRule)


@dataclass(frozen=True, slots=True)
class LineError:
    """A line that is not a valid rule; `line` counts from 1."""

    line: int
    text: str
    problem: str


@dataclass(frozen=True, slots=True)
class ParsedLines(Generic[Rule]):
    """The rules of a text, and the invalid lines."""

    rules: tuple[Rule, ...]
    errors: tuple[LineError, ...]


def parse_domain_lines(
    text: str, action: Action = Action.INCLUDE, default: Kind = Kind.EXACT
) -> ParsedLines[DomainRule]:
    """Parse domain rules: `kind pattern` or `kind: pattern` per line; a line without a kind has the default one.

    Blank lines and lines that begin with `#` are skipped (FAST 5.2, option `file`). With the default
    `suffix` a trailing `*` makes a line without a kind a prefix (Ultra Search 9.1).
    """

    def build(kind: Kind | None, pattern: str) -> DomainRule:
        if kind is None and default is Kind.SUFFIX:
            return plain_domain_rule(pattern, action)
        if (kind or default) is Kind.EXACT and (pattern.startswith(".") or "*" in pattern):
            raise RuleError(f"{pattern} is no host name; write `domain {pattern.strip('.*')}` with its kind")
        return DomainRule(kind or default, pattern, action)

    return _parse(text, Kind, build)


def parse_uri_lines(
    text: str, action: Action = Action.INCLUDE, default: Kind = Kind.EXACT
) -> ParsedLines[UriRule]:
    """Parse URI rules, in the syntax of domain rules; the kinds are exact, prefix, suffix and regexp."""
    return _parse(text, URI_KINDS, lambda kind, pattern: UriRule(kind or default, pattern, action))


def plain_domain_rule(text: str, action: Action = Action.INCLUDE) -> DomainRule:
    """Return the rule of a text without a kind: suffix, or prefix if it ends in `*` (Ultra Search 9.1)."""
    text = text.strip()
    if text.endswith("*"):
        return DomainRule(Kind.PREFIX, text[:-1], action)
    return DomainRule(Kind.SUFFIX, text, action)


def _parse(text: str, kinds: Iterable[Kind], build: Callable[[Kind | None, str], Rule]) -> ParsedLines[Rule]:
    rules: list[Rule] = []
    errors: list[LineError] = []
    names = {kind.value: kind for kind in kinds}
    for number, line in _lines(text):
        try:
            rule = build(*_kind_and_pattern(line, names))
            check_rule(rule)
        except RuleError as error:
            errors.append(LineError(number, line, str(error)))
        else:
            rules.append(rule)
    return ParsedLines(tuple(rules), tuple(errors))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield number, stripped


def _kind_and_pattern(line: str, names: dict[str, Kind]) -> tuple[Kind | None, str]:
    for name, kind in names.items():
        if line[: len(name)].lower() == name and line[len(name) : len(name) + 1] in (":", " ", "\t"):
            return kind, line[len(name) :].lstrip().removeprefix(":").strip()
    return None, line
