"""The consequences of an error for a URL and its document: keep, retry, delete (FAST 5.12, 5.13)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import AdvisedError

NET, TIMEOUT, INTERNAL = "net", "ttl", "int"
"""Errors without a status: network (including DNS), time-out, internal error."""

_PATTERN = re.compile(r"[0-9xX]{3}")
_WORD = re.compile(r"(?P<word>keep|delete|retry)(?::(?P<number>\d{1,6}))?", re.IGNORECASE)
_ACTIONS = "write KEEP or DELETE:n, with or without RETRY:n"
_SEPARATORS = re.compile(r"[\s,、]+")


class FailureRuleError(AdvisedError, ValueError):
    """An invalid pattern or action."""


@dataclass(frozen=True, slots=True)
class FailureRule:
    """The consequences of an error: deletion after `delete_after` errors (None: never), and `retries` retries.

    `retries` None means `limits.retries`.
    """

    pattern: str
    delete_after: int | None = None
    retries: int | None = None

    @classmethod
    def parse(cls, pattern: str, action: str) -> FailureRule:
        """Parse `KEEP`, `DELETE[:n]` and `RETRY[:n]`, in any order and case. Raises `FailureRuleError`."""
        name = checked_pattern(pattern)
        numbers: dict[str, int | None] = {}
        for part in filter(None, _SEPARATORS.split(action)):
            match = _WORD.fullmatch(part)
            word = match["word"].lower() if match else ""
            if match is None or word in numbers or (word != "retry" and {"keep", "delete"} & numbers.keys()):
                raise FailureRuleError(f"`{action}` is no action", _ACTIONS)
            numbers[word] = int(match["number"]) if match["number"] else None
        if not numbers:
            raise FailureRuleError("no action is given", _ACTIONS)
        delete_after = max(numbers["delete"] or 1, 1) if "delete" in numbers else None
        retries = (1 if numbers["retry"] is None else numbers["retry"]) if "retry" in numbers else None
        return cls(name, delete_after, retries)

    def __str__(self) -> str:
        """Return the rule in its normal form."""
        action = "KEEP" if self.delete_after is None else f"DELETE:{self.delete_after}"
        return f"{self.pattern} {action}" + ("" if self.retries is None else f", RETRY:{self.retries}")


def checked_pattern(pattern: str) -> str:
    """Normalise a pattern: three digits or x, or `net`, `ttl`, `int`. Raises `FailureRuleError`."""
    name = pattern.strip().lower()
    if name in (NET, TIMEOUT, INTERNAL) or _PATTERN.fullmatch(name):
        return name
    raise FailureRuleError(
        f"`{pattern}` is no error", "write a status such as 404, 40x or 5xx, or net, ttl or int"
    )


@dataclass(frozen=True, slots=True)
class FailureVerdict:
    """The consequences of one error of one URL."""

    rule: FailureRule
    delete: bool
    retry: bool


class FailurePolicy:
    """The rules of a source; of several matching ones that with the most digits applies; without one, KEEP."""

    def __init__(self, rules: Mapping[str, FailureRule]) -> None:
        self._rules = dict(rules)
        self._cache: dict[str, FailureRule] = {}

    def rule_for(self, error: str) -> FailureRule:
        """Return the rule for a status (`404`) or one of `net`, `ttl` and `int`."""
        rule = self._cache.get(error)
        if rule is None:
            rule = self._cache[error] = self._find(error)
        return rule

    def _find(self, error: str) -> FailureRule:
        matching = [rule for rule in self._rules.values() if _matches(rule.pattern, error)]
        if not matching:
            return FailureRule(error)
        return max(matching, key=lambda rule: (sum(char.isdigit() for char in rule.pattern), rule.pattern))

    def judge(self, error: str, errors: int, attempts: int, retries: int) -> FailureVerdict:
        """Return the consequences of an error: the URL's `errors`-th in a row, after `attempts` retries in this visit.

        `retries` applies if the rule does not set the number of retries.
        """
        rule = self.rule_for(error)
        delete = rule.delete_after is not None and errors >= rule.delete_after
        allowed = retries if rule.retries is None else rule.retries
        return FailureVerdict(rule, delete, not delete and attempts < allowed)


def _matches(pattern: str, error: str) -> bool:
    if not error.isdigit():
        return pattern == error
    return len(pattern) == len(error) and all(
        expected in ("x", digit) for expected, digit in zip(pattern, error, strict=True)
    )


def rules_of(actions: Mapping[str, str]) -> dict[str, FailureRule]:
    """Return rules by pattern. Raises `FailureRuleError`."""
    rules = (FailureRule.parse(pattern, action) for pattern, action in actions.items())
    return {rule.pattern: rule for rule in rules}


DEFAULT_HTTP: Mapping[str, str] = {"404": "DELETE", "410": "DELETE"}
"""Only a status that means "gone" deletes a document, never a network error or a 5xx."""
