"""Expressions of rules: RE2 for whatever it can do, for the rest another engine with a limit of time for each text."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import re2

from ultracrawl.rules.boundary.rules import PatternError

if TYPE_CHECKING:
    import regex

logger = logging.getLogger(__name__)

LIMIT = 0.1
"""Seconds of processor time after which an expression has no answer for a text."""
PATIENCE = 100
"""Texts without an answer after which an expression gets `LATER_LIMIT` for each."""
LATER_LIMIT = 0.001
"""Seconds that it gets then: enough for ordinary texts, and next to nothing for those made to take long."""
SET_MEMORY = 256 << 20
"""Bytes that a set of expressions may take."""
_PROBE = "\x00probe"


class SlowExpression:
    """An expression for a backtracking engine, where a hostile text may take any time."""

    __slots__ = ("_compiled", "_unanswered", "pattern")

    def __init__(self, pattern: str, compiled: regex.Pattern[str]) -> None:
        self.pattern = pattern
        self._compiled = compiled
        self._unanswered = 0

    def fullmatch(self, text: str) -> bool | None:
        """Return whether the expression covers a whole text; None if that did not come out in time, which is logged."""
        impatient = self._unanswered >= PATIENCE
        try:
            return self._compiled.fullmatch(text, timeout=LATER_LIMIT if impatient else LIMIT) is not None
        except TimeoutError:
            if not impatient:
                self._note(text)
            return None

    def _note(self, text: str) -> None:
        self._unanswered += 1
        logger.warning("%.500s has no answer after %g s for %.500s", self.pattern, LIMIT, text)
        if self._unanswered == PATIENCE:
            told = "%.500s had no answer for %d texts: it gets %g s for each from now on, and is not told of again"
            logger.warning(told, self.pattern, PATIENCE, LATER_LIMIT)


def options(ignore_case: bool) -> re2.Options:
    """Return how RE2 reads expressions."""
    found = re2.Options()
    found.log_errors = False
    found.case_sensitive = not ignore_case
    return found


def compiled(pattern: str, ignore_case: bool = False) -> re2._Regexp:
    """Compile one expression; `PatternError` says what RE2 does not take."""
    try:
        return re2.compile(pattern, options(ignore_case))
    except re2.error as error:
        detail = error.args[0].decode("utf-8", "replace") if error.args else ""
        problem, _, offending = detail.partition(": ")  # sentence: RE2 gives both in one text
        raise PatternError(pattern, problem, offending) from None
    except UnicodeEncodeError:
        raise PatternError(pattern, "holds half a character (a lone surrogate)") from None


def expression_set(patterns: Iterable[str], *, search: bool = False, ignore_case: bool = False) -> re2.Set:
    """Return expressions that RE2 takes, looked for in one pass: they cover a whole text, with `search` a part of it.

    Raises `PatternError` if they are too large together.
    """
    made = options(ignore_case)
    made.max_mem = SET_MEMORY
    found = re2.Set.SearchSet(made) if search else re2.Set.FullMatchSet(made)
    several = list(patterns)
    for pattern in several:
        found.Add(pattern)
    found.Add(_PROBE)
    try:
        found.Compile()
        usable = bool(found.Match(_PROBE))
    except re2.error:
        usable = False
    if not usable:
        raise PatternError(
            next(iter(several), ""), f"{len(several)} expressions together are too large for RE2"
        )
    return found


def covering(pattern: str) -> Callable[[str], bool | None]:
    """Return what tells whether an expression covers a whole text; None: no answer in time. Raises `PatternError`."""
    slow = slow_expression(pattern)
    if slow is not None:
        return slow.fullmatch
    fullmatch = compiled(pattern).fullmatch
    return lambda text: fullmatch(text) is not None


def check_expression(pattern: str, ignore_case: bool = False) -> None:
    """Raise `PatternError` for an expression that neither engine takes."""
    slow_expression(pattern, ignore_case)


def slow_expression(pattern: str, ignore_case: bool = False) -> SlowExpression | None:
    """Return an expression that RE2 does not take in another engine, None if RE2 takes it. Raises `PatternError`."""
    try:
        compiled(pattern, ignore_case)
    except PatternError as refused:
        import regex  # noqa: PLC0415 - few definitions need it

        try:
            pattern.encode()
            return SlowExpression(pattern, regex.compile(pattern, regex.IGNORECASE if ignore_case else 0))
        except (regex.error, ValueError, OverflowError, RecursionError):
            raise refused from None
    return None
