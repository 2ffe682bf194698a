"""Comparison of a source with a text of a directive: exact, by prefix, by regular expression."""

from ultracrawl.rules.filters.function import FilterHandle, Robot
from ultracrawl.rules.filters.matching import By, Match, Test

COMPARISONS = {"exact": By.IS, "prefix": By.BEGINS_WITH, "regex": By.REGEX}
"""By the suffixes of function names."""


def comparison(by: By, source: str, text: str, place: FilterHandle, robot: Robot) -> Test:
    """Return the test of a source; expressions use the cache of the filter. Raises `FilterError`."""
    match = Match(source, by, text)
    if by is not By.REGEX:
        return match.compile()
    expression = match.expression
    return lambda value: robot.cache_of(place.name)(expression).fullmatch(value)
