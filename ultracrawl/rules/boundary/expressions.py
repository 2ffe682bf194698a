"""Regular expressions of rules: RE2 where it supports them, else the `regex` module with a time limit per text."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import re2

from ultracrawl.rules.boundary.rules import PatternError

if TYPE_CHECKING:
    import regex

logger = logging.getLogger(__name__)

TIME_LIMIT = 0.1
"""Seconds of CPU time after which the match of a text is given up."""
MAX_TIMEOUTS = 100
"""Number of time-outs after which an expression gets `REDUCED_TIME_LIMIT` per text."""
REDUCED_TIME_LIMIT = 0.001
"""Seconds; enough for ordinary texts, and next to nothing for those made to take long."""
SET_MEMORY = 256 << 20
"""Maximum number of bytes of a set of expressions."""
_PROBE = "\x00probe"


class SlowExpression:
    """An expression for a backtracking engine, which may take any time for a hostile text."""

    __slots__ = ("_compiled", "_timeouts", "pattern")

    def __init__(self, pattern: str, compiled: regex.Pattern[str]) -> None:
        self.pattern = pattern
        self._compiled = compiled
        self._timeouts = 0

    def fullmatch(self, text: str) -> bool | None:
        """Return whether the expression matches a whole text; None after a time-out, which is logged."""
        reduced = self._timeouts >= MAX_TIMEOUTS
        time_limit = REDUCED_TIME_LIMIT if reduced else TIME_LIMIT
        try:
            return self._compiled.fullmatch(text, timeout=time_limit) is not None
        except TimeoutError:
            if not reduced:
                self._note_timeout(text)
            return None

    def _note_timeout(self, text: str) -> None:
        self._timeouts += 1
        logger.warning(
            "The regular expression %.500s takes more than %g s for %.500s", self.pattern, TIME_LIMIT, text
        )
        if self._timeouts == MAX_TIMEOUTS:
            message = "%.500s timed out for %d texts: its limit is %g s from now on; further time-outs are not logged"
            logger.warning(message, self.pattern, MAX_TIMEOUTS, REDUCED_TIME_LIMIT)


def _options(ignore_case: bool) -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    return options


def compile_pattern(pattern: str, ignore_case: bool = False) -> re2._Regexp:
    """Compile one expression. Raises `PatternError` if RE2 does not accept it."""
    try:
        return re2.compile(pattern, _options(ignore_case))
    except re2.error as error:
        detail = error.args[0].decode("utf-8", "replace") if error.args else ""
        problem, _, offending = detail.partition(": ")  # sentence: RE2 gives both in one text
        raise PatternError(pattern, problem, offending) from None
    except UnicodeEncodeError:
        raise PatternError(pattern, "holds half a character (a lone surrogate)") from None


def expression_set(patterns: Iterable[str], *, search: bool = False, ignore_case: bool = False) -> re2.Set:
    """Compile expressions to a set that RE2 matches in one pass, to the whole text or, with `search`, to a part of it.

    Raises `PatternError` if they are too large together.
    """
    options = _options(ignore_case)
    options.max_mem = SET_MEMORY
    result = re2.Set.SearchSet(options) if search else re2.Set.FullMatchSet(options)
    all_patterns = list(patterns)
    for pattern in all_patterns:
        result.Add(pattern)
    result.Add(_PROBE)
    try:
        result.Compile()
        usable = bool(result.Match(_PROBE))
    except re2.error:
        usable = False
    if not usable:
        raise PatternError(
            next(iter(all_patterns), ""), f"{len(all_patterns)} expressions together are too large for RE2"
        )
    return result


def compile_fullmatch(pattern: str) -> Callable[[str], bool | None]:
    """Compile an expression to a function that tells whether it matches a whole text; None: time-out.

    Raises `PatternError`.
    """
    slow = slow_expression(pattern)
    if slow is not None:
        return slow.fullmatch
    fullmatch = compile_pattern(pattern).fullmatch
    return lambda text: fullmatch(text) is not None


def check_expression(pattern: str, ignore_case: bool = False) -> None:
    """Raise `PatternError` for an expression that neither engine accepts."""
    slow_expression(pattern, ignore_case)


def slow_expression(pattern: str, ignore_case: bool = False) -> SlowExpression | None:
    """Compile an expression with `regex` if RE2 does not accept it, else return None. Raises `PatternError`."""
    try:
        compile_pattern(pattern, ignore_case)
    except PatternError as refused:
        import regex  # noqa: PLC0415 - few definitions need it

        try:
            pattern.encode()
            return SlowExpression(pattern, regex.compile(pattern, regex.IGNORECASE if ignore_case else 0))
        except (regex.error, ValueError, OverflowError, RecursionError):
            raise refused from None
    return None
