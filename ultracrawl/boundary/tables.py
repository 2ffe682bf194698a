"""Tables that find the rule for a text at a cost that does not grow with the number of rules."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping

import re2

from ultracrawl.boundary.rules import PatternError

_SET_MEMORY = 256 << 20
_PROBE = "\x00probe"


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
    """Finds the first of many regular expressions that covers a whole text, in one pass over it (RE2)."""

    __slots__ = ("_rules", "_set")

    def __init__(self, rules: Mapping[str, str], ignore_case: bool = False) -> None:
        options = _options(ignore_case)
        options.max_mem = _SET_MEMORY
        self._set = re2.Set.FullMatchSet(options)
        self._rules = list(rules.values())
        for pattern in rules:
            compiled(pattern)
            self._set.Add(pattern)
        self._set.Add(_PROBE)
        self._set.Compile()
        if not self._set.Match(_PROBE):
            raise PatternError(
                next(iter(rules), ""), f"{len(rules)} expressions together are too large for RE2"
            )

    def find(self, text: str) -> str | None:
        """Return the rule whose expression covers the text, or None; of several the first."""
        found: list[int] | None = self._set.Match(text)
        return self._rules[min(found)] if found else None


def compiled(pattern: str, ignore_case: bool = False) -> re2._Regexp:
    """Compile one expression; `PatternError` says what RE2 does not take."""
    try:
        return re2.compile(pattern, _options(ignore_case))
    except re2.error as error:
        detail = error.args[0].decode("utf-8", "replace") if error.args else ""
        problem, _, offending = detail.partition(": ")
        raise PatternError(pattern, problem, offending) from None
    except UnicodeEncodeError:
        raise PatternError(pattern, "holds half a character (a lone surrogate)") from None


def _options(ignore_case: bool) -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    return options


class TextTable:
    """Exact texts, prefixes, suffixes and expressions in one table, looked at in that order."""

    __slots__ = ("_exact", "_finders", "empty")

    def __init__(
        self,
        exact: Mapping[str, str],
        prefixes: Mapping[str, str],
        suffixes: Mapping[str, str],
        patterns: Mapping[str, str],
        ignore_case: bool = False,
    ) -> None:
        self._exact = dict(exact)
        finders: Iterable[PrefixTable | SuffixTable | PatternTable | None] = (
            PrefixTable(prefixes) if prefixes else None,
            SuffixTable(suffixes) if suffixes else None,
            PatternTable(patterns, ignore_case) if patterns else None,
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
