"""Tables that find the rule for a text at a cost that does not grow with the number of rules."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping

from ultracrawl.rules.boundary.expressions import SlowExpression, expression_set, slow_expression

NO_ANSWER = "no answer in time"
"""Stands behind a rule that excludes a text because its expression could not be finished."""


class PrefixTable:
    """Finds the prefix that a text begins with; of nested prefixes the shortest answers for all.

    Prefixes covered by a shorter one are left out, so no prefix begins with another: then the only
    candidate is the last one in sorted order that is not greater than the text, found by bisection.
    """

    __slots__ = ("_prefixes", "_rules")

    def __init__(self, rules: Mapping[str, str]) -> None:
        self._prefixes: list[str] = []
        for prefix in sorted(rules):
            if not (self._prefixes and prefix.startswith(self._prefixes[-1])):
                self._prefixes.append(prefix)
        self._rules = [rules[prefix] for prefix in self._prefixes]

    def find(self, text: str) -> str | None:
        """Return the rule whose prefix the text begins with, or None."""
        at = bisect_right(self._prefixes, text) - 1
        if at >= 0 and text.startswith(self._prefixes[at]):
            return self._rules[at]
        return None


class SuffixTable:
    """Finds the suffix that a text ends with: a `PrefixTable` of everything read backwards."""

    __slots__ = ("_reversed",)

    def __init__(self, rules: Mapping[str, str]) -> None:
        self._reversed = PrefixTable({suffix[::-1]: rule for suffix, rule in rules.items()})

    def find(self, text: str) -> str | None:
        """Return the rule whose suffix the text ends with, or None."""
        return self._reversed.find(text[::-1])


class PatternTable:
    """Finds the first of many regular expressions that covers a whole text, in one pass over it (RE2).

    Expressions that RE2 cannot do are looked at one by one after it, each with a limit of time. One that has no
    answer by then covers the text in a table that `excludes`, and in no other.
    """

    __slots__ = ("_excludes", "_rules", "_set", "_slow")

    def __init__(
        self, rules: Mapping[str, str], ignore_case: bool = False, *, excludes: bool = False
    ) -> None:
        self._excludes = excludes
        self._slow: list[tuple[SlowExpression, str]] = []
        fast: dict[str, str] = {}
        for pattern, rule in rules.items():
            slow = slow_expression(pattern, ignore_case)
            if slow is not None:
                self._slow.append((slow, rule))
            else:
                fast[pattern] = rule
        self._set = expression_set(fast, ignore_case=ignore_case)
        self._rules = list(fast.values())

    def find(self, text: str) -> str | None:
        """Return the rule whose expression covers the text, or None; of several the first that RE2 can do."""
        found: list[int] | None = self._set.Match(text)
        if found:
            return self._rules[min(found)]
        return self._find_slowly(text) if self._slow else None

    def _find_slowly(self, text: str) -> str | None:
        for expression, rule in self._slow:
            covers = expression.fullmatch(text)
            if covers:
                return rule
            if covers is None and self._excludes:
                return f"{rule} ({NO_ANSWER})"
        return None


class TextTable:
    """Exact texts, prefixes, suffixes and expressions in one table, looked at in that order.

    `excludes`: what cannot be told in time counts as found.
    """

    __slots__ = ("_exact", "_finders", "empty")

    def __init__(
        self,
        exact: Mapping[str, str],
        prefixes: Mapping[str, str],
        suffixes: Mapping[str, str],
        patterns: Mapping[str, str],
        ignore_case: bool = False,
        *,
        excludes: bool = False,
    ) -> None:
        self._exact = dict(exact)
        finders: Iterable[PrefixTable | SuffixTable | PatternTable | None] = (
            PrefixTable(prefixes) if prefixes else None,
            SuffixTable(suffixes) if suffixes else None,
            PatternTable(patterns, ignore_case, excludes=excludes) if patterns else None,
        )
        self._finders = tuple(finder.find for finder in finders if finder)
        self.empty = not (exact or self._finders)

    def find(self, text: str) -> str | None:
        """Return the rule that matches the text, or None."""
        rule = self._exact.get(text)
        if rule is None:
            for find in self._finders:
                rule = find(text)
                if rule is not None:
                    break
        return rule
