"""Classification rules: a condition, and the category that it adds to the description."""

from __future__ import annotations

from collections.abc import Iterable

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.filters.functions.sources import CLASSIFICATION
from ultracrawl.rules.filters.matching import Match, Test
from ultracrawl.rules.filters.resource import View, source_name


@dataclass(frozen=True, slots=True)
class ClassificationRule:
    """A condition and its category; the levels of a category are separated by colons."""

    match: Match
    category: str


class Classifier:
    """Applies all rules in order; every match adds its category, up to `limit` categories.

    A rule matches a source of the resource, or else the field of the description of that name.
    """

    def __init__(self, rules: Iterable[ClassificationRule], limit: int) -> None:
        self._rules: list[tuple[str, str, Test, str]] = [
            (source_name(rule.match.source), rule.match.source, rule.match.compile(), rule.category)
            for rule in rules
        ]
        self._limit = limit

    def classify(self, view: View) -> None:
        """Add categories to the field `classification` of a finished description."""
        for source, field, test, category in self._rules:
            if len(view.rd.get(CLASSIFICATION, ())) >= self._limit:
                return
            values = (*view.values(source), *view.rd.get(field, ()))
            if view.matches(source, test) or any(test(value) for value in values):
                view.add_field(CLASSIFICATION, category)
