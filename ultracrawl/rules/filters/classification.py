"""Classification rules: if a condition holds, a category becomes part of the description."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ultracrawl.rules.filters.functions.sources import CLASSIFICATION
from ultracrawl.rules.filters.matching import Match, Test
from ultracrawl.rules.filters.resource import View, source_name


@dataclass(frozen=True, slots=True)
class ClassificationRule:
    """A condition and the category that it gives; levels of a category are separated by colons."""

    match: Match
    category: str


class Classifier:
    """Tries all rules in their order; every match adds its category, up to the maximum.

    A source of the resource is looked at first, then the field of the description of that name.
    """

    def __init__(self, rules: Iterable[ClassificationRule], most: int) -> None:
        self._rules: list[tuple[str, str, Test, str]] = [
            (source_name(rule.match.source), rule.match.source, rule.match.compiled(), rule.category)
            for rule in rules
        ]
        self._most = most

    def classify(self, view: View) -> None:
        """Add categories to the field `classification` of a finished description."""
        for source, field, test, category in self._rules:
            if len(view.rd.get(CLASSIFICATION, ())) >= self._most:
                return
            values = (*view.values(source), *view.rd.get(field, ()))
            if view.matches(source, test) or any(test(value) for value in values):
                view.add_field(CLASSIFICATION, category)
