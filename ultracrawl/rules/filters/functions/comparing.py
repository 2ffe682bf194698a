"""How functions compare a source with a text that a directive gives: as a whole, its beginning, by an expression."""

from ultracrawl.rules.filters.function import FilterHandle, Robot
from ultracrawl.rules.filters.matching import By, Match, Test

COMPARISONS = {"exact": By.IS, "prefix": By.BEGINS_WITH, "regex": By.REGEX}
"""By the ends of the names of functions."""


def comparison(by: By, source: str, text: str, place: FilterHandle, robot: Robot) -> Test:
    """Return the test of a source. Raises `FilterError`."""
    match = Match(source, by, text)
    if by is not By.REGEX:
        return match.compiled()
    expression = match.expression
    return lambda value: robot.cache_of(place.name)(expression).fullmatch(value)
