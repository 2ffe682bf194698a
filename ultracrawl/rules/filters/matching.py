"""Text comparisons of the console's rules: is, contains, begins with, ends with, regular expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import StrEnum

import re2

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.boundary.expressions import compile_pattern
from ultracrawl.rules.boundary.rules import PatternError
from ultracrawl.rules.filters.function import FilterError
from ultracrawl.rules.filters.resource import CASELESS

_NOT_POSIX = {
    re.compile(r"\\[1-9]"): "write the text again: POSIX extended expressions have no back-references",
    re.compile(r"\(\?<?[=!]"): "write two rules: POSIX expressions have no look-around",
}
"""What expressions of other programs have, and what to write instead."""
_ANYTHING = re.compile(r"\\{2,}\*")
_NOTHING_BEFORE = re.compile(r"(?:^|(?<=[(|]))\*")


def expression_of(text: str, *, ignore_case: bool = False) -> str:
    r"""Return the RE2 expression for the text of a rule. Raises `FilterError`.

    Printed files write "anything" as backslashes and a star; that, and a star with nothing to repeat, mean
    `.*`. A single `\*` is a literal star.
    """
    expression = _NOTHING_BEFORE.sub(".*", _ANYTHING.sub(".*", text))
    try:
        compile_pattern(expression)
    except PatternError as error:
        instead = next((advice for sign, advice in _NOT_POSIX.items() if sign.search(text)), "")
        raise FilterError(
            f"invalid expression {text!r}: {error.problem}", instead or "write a POSIX expression"
        ) from None
    return f"(?i){expression}" if ignore_case else expression


Test = Callable[[str], object]


class By(StrEnum):
    """How a rule compares its text with a source."""

    IS = "is"
    CONTAINS = "contains"
    BEGINS_WITH = "begins-with"
    ENDS_WITH = "ends-with"
    REGEX = "regex"


@dataclass(frozen=True, slots=True)
class Match:
    """A line of a rule: `source` (URL, protocol, host, path, type, or a field) compared with `string`."""

    source: str
    by: By
    string: str
    line: int = 0

    @property
    def text(self) -> str:
        """The text to compare with, in lower case for case-insensitive sources."""
        return self.string.lower() if self.source in CASELESS else self.string

    @property
    def expression(self) -> str:
        """The RE2 expression. Raises `FilterError`."""
        return expression_of(self.string, ignore_case=self.source in CASELESS)

    def compile(self) -> Test:
        """Compile the comparison to a test. Raises `FilterError`."""
        text = self.text
        match self.by:
            case By.IS:
                return text.__eq__
            case By.CONTAINS:
                return lambda value: text in value
            case By.BEGINS_WITH:
                return lambda value: value.startswith(text)
            case By.ENDS_WITH:
                return lambda value: value.endswith(text)
            case By.REGEX:
                fullmatch: Test = re2.compile(self.expression).fullmatch
                return fullmatch


def any_of(matches: Iterable[Match]) -> Test:
    """Return a test that passes if any of several comparisons of one source does. Raises `FilterError`."""
    texts: dict[By, list[str]] = {by: [] for by in By}
    for match in matches:
        texts[match.by].append(match.expression if match.by is By.REGEX else match.text)
    exact, substrings = frozenset(texts[By.IS]), texts[By.CONTAINS]
    prefixes, suffixes = tuple(texts[By.BEGINS_WITH]), tuple(texts[By.ENDS_WITH])
    expressions = [re2.compile(text) for text in texts[By.REGEX]]

    def test(value: str) -> bool:
        if value in exact or value.endswith(suffixes) or value.startswith(prefixes):
            return True
        for text in substrings:
            if text in value:
                return True
        for expression in expressions:  # noqa: SIM110 - a generator costs more than the test itself
            if expression.fullmatch(value):
                return True
        return False

    return test
