"""What an error means for a URL and its document: keep, try again, delete after so many errors (FAST 5.12, 5.13)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ultracrawl.errors import AdvisedError

NET, TIMEOUT, INTERNAL = "net", "ttl", "int"
"""Errors without a status: the network (names included), any time-out, our own processing."""

_PATTERN = re.compile(r"[0-9xX]{3}")
_WORD = re.compile(r"(?P<word>keep|delete|retry)(?::(?P<number>\d{1,6}))?", re.IGNORECASE)
_ACTIONS = "write KEEP or DELETE:n, with or without RETRY:n"
_SEPARATORS = re.compile(r"[\s,、]+")


class FailureRuleError(AdvisedError, ValueError):
    """A pattern or an action that is none."""


@dataclass(frozen=True, slots=True)
class FailureRule:
    """What happens after an error: `delete_after` errors the document goes (None: never), `retries` tries follow.

    `retries` None leaves the number of tries to `limits.retries`.
    """

    pattern: str
    delete_after: int | None = None
    retries: int | None = None

    @classmethod
    def parse(cls, pattern: str, action: str) -> FailureRule:
        """Read `KEEP`, `DELETE[:n]` and `RETRY[:n]`, in any order and case. Raises `FailureRuleError`."""
        name = checked_pattern(pattern)
        found: dict[str, int | None] = {}
        for part in filter(None, _SEPARATORS.split(action)):
            match = _WORD.fullmatch(part)
            word = match["word"].lower() if match else ""
            if match is None or word in found or (word != "retry" and {"keep", "delete"} & found.keys()):
                raise FailureRuleError(f"`{action}` is no action", _ACTIONS)
            found[word] = int(match["number"]) if match["number"] else None
        if not found:
            raise FailureRuleError("no action is given", _ACTIONS)
        delete_after = max(found["delete"] or 1, 1) if "delete" in found else None
        retries = (1 if found["retry"] is None else found["retry"]) if "retry" in found else None
        return cls(name, delete_after, retries)

    def __str__(self) -> str:
        """Return the rule as it is written, in its one form."""
        action = "KEEP" if self.delete_after is None else f"DELETE:{self.delete_after}"
        return f"{self.pattern} {action}" + ("" if self.retries is None else f", RETRY:{self.retries}")


def checked_pattern(pattern: str) -> str:
    """Return a pattern in its one form: three digits or x, or `net`, `ttl`, `int`. Raises `FailureRuleError`."""
    name = pattern.strip().lower()
    if name in (NET, TIMEOUT, INTERNAL) or _PATTERN.fullmatch(name):
        return name
    raise FailureRuleError(
        f"`{pattern}` is no error", "write a status such as 404, 40x or 5xx, or net, ttl or int"
    )


@dataclass(frozen=True, slots=True)
class FailureVerdict:
    """What follows one error of one URL."""

    rule: FailureRule
    delete: bool
    again: bool


class FailurePolicy:
    """The rules of a source; of several that fit a status the one with most digits counts, without one it is KEEP."""

    def __init__(self, rules: Mapping[str, FailureRule]) -> None:
        self._rules = dict(rules)
        self._found: dict[str, FailureRule] = {}

    def rule_for(self, error: str) -> FailureRule:
        """Return the rule for a status (`404`) or one of `net`, `ttl` and `int`."""
        rule = self._found.get(error)
        if rule is None:
            rule = self._found[error] = self._find(error)
        return rule

    def _find(self, error: str) -> FailureRule:
        fitting = [rule for rule in self._rules.values() if _fits(rule.pattern, error)]
        if not fitting:
            return FailureRule(error)
        return max(fitting, key=lambda rule: (sum(char.isdigit() for char in rule.pattern), rule.pattern))

    def judge(self, error: str, errors: int, attempts: int, retries: int) -> FailureVerdict:
        """Return what follows the error number `errors` of a URL, in a visit that was tried again `attempts` times.

        `retries` counts where the rule says nothing about it.
        """
        rule = self.rule_for(error)
        delete = rule.delete_after is not None and errors >= rule.delete_after
        allowed = retries if rule.retries is None else rule.retries
        return FailureVerdict(rule, delete, not delete and attempts < allowed)


def _fits(pattern: str, error: str) -> bool:
    return (
        len(pattern) == len(error)
        and all(one in ("x", other) for one, other in zip(pattern, error, strict=True))
        and (pattern == error or error.isdigit())
    )


def rules_of(actions: Mapping[str, str]) -> dict[str, FailureRule]:
    """Return rules by pattern. Raises `FailureRuleError`."""
    rules = (FailureRule.parse(pattern, action) for pattern, action in actions.items())
    return {rule.pattern: rule for rule in rules}


DEFAULT_HTTP: Mapping[str, str] = {"404": "DELETE", "410": "DELETE"}
"""Only a server that says so makes a document go; no network error and no 5xx ever does."""

FAST_HTTP: Mapping[str, str] = {
    "4xx": "DELETE:0",
    "5xx": "DELETE:10",
    INTERNAL: "KEEP:0",
    NET: "DELETE:3, RETRY:1",
    TIMEOUT: "DELETE:3",
}
"""The defaults of FAST collections for HTTP (FAST 5.12, 135 to 139)."""

FAST_FTP: Mapping[str, str] = {
    "4xx": "DELETE:3",
    "550": "DELETE:0",
    "5xx": "DELETE:3",
    INTERNAL: "KEEP:0",
    NET: "DELETE:3, RETRY:1",
    TIMEOUT: "DELETE:3",
}
"""The defaults of FAST collections for FTP (FAST 5.13, 141 to 146)."""
