"""Rewrite rules written as `@pattern@replacement@` (FAST 5.1 B7)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import re2

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.boundary.expressions import compile_pattern, expression_set
from ultracrawl.rules.boundary.rules import PatternError, RuleError

_GROUP = re.compile(r"\\(?:g<(?P<name>\w+)>|(?P<number>\d{1,2})|(?P<other>.)|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RewriteRule:
    r"""A pattern and its replacement; in that, `\1` and `\g<name>` are groups, `\\` is `\`."""

    pattern: str
    replacement: str

    @classmethod
    def parse(cls, member: str) -> RewriteRule:
        """Parse `@pattern@replacement@`; the first character is the separator and occurs three times."""
        parts = member.strip()[1:].split(member.strip()[:1] or " ")
        if len(parts) != 3 or parts[2]:
            raise RuleError(
                f"rewrite rule {member!r}: write separator, pattern, separator, replacement, separator; "
                "the separator must not occur in either part"
            )
        return cls(parts[0], parts[1])

    def __str__(self) -> str:
        return f"rewrite {self.pattern} to {self.replacement}"


class _CompiledRule:
    __slots__ = ("_parts", "_regexp")

    def __init__(self, rule: RewriteRule) -> None:
        self._regexp = compile_pattern(rule.pattern)
        self._parts = _template(rule, self._regexp)

    def apply(self, text: str) -> str:
        return str(self._regexp.sub(self._expand, text))

    def _expand(self, match: re2._Match) -> str:
        return "".join(part if isinstance(part, str) else match.group(part) or "" for part in self._parts)


class RewriteRules:
    """The compiled rewrite rules of a source, applied in order, each to the result of the one before.

    A URL that no rule matches costs one pass, however many rules there are.
    """

    __slots__ = ("_any", "_rules", "rules")

    def __init__(self, rules: Iterable[RewriteRule] = ()) -> None:
        self.rules: Sequence[RewriteRule] = tuple(rules)
        self._rules = [_CompiledRule(rule) for rule in self.rules]
        self._any = expression_set((rule.pattern for rule in self.rules), search=True)

    def rewrite(self, url: str) -> str:
        """Return the rewritten text, which is not canonical; a lone surrogate in it becomes `?`."""
        if not self._rules:
            return url
        try:
            matching = self._any.Match(url)
        except UnicodeEncodeError:
            return self.rewrite(url.encode("utf-8", "replace").decode("utf-8"))
        if not matching:
            return url
        for rule in self._rules[min(matching) :]:
            url = rule.apply(url)
        return url


def _template(rule: RewriteRule, regexp: re2._Regexp) -> tuple[str | int, ...]:
    parts: list[str | int] = []
    at = 0
    for match in _GROUP.finditer(rule.replacement):
        parts.append(rule.replacement[at : match.start()])
        parts.append(_group(rule, match, regexp))
        at = match.end()
    parts.append(rule.replacement[at:])
    return tuple(part for part in parts if part != "")


def _group(rule: RewriteRule, match: re.Match[str], regexp: re2._Regexp) -> str | int:
    name, other = match["name"] or match["number"], match["other"]
    if name is None:
        return other if other and not other.isalnum() else match[0]
    group: int = int(name) if name.isdecimal() else regexp.groupindex.get(name, -1)
    if not 0 <= group <= regexp.groups:
        raise PatternError(
            rule.pattern, f"the replacement names {match[0]}, the pattern has {regexp.groups} groups"
        )
    return group
