"""`Suggestion`: a change of a definition, or advice, with what in the state speaks for it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from typing import Any

import yaml

from ultracrawl.dataclass import dataclass, field
from ultracrawl.model import UrlRecord
from ultracrawl.sources.reading.tree import Data, OptionPath

EXAMPLES = 3
"""Examples of a suggestion."""
_AT_ONCE = 500
"""Records whose twins are looked up by one statement."""


class SuggestionKind(StrEnum):
    """What a suggestion is about; the values are part of the JSON output: never change one."""

    STEP = "step"
    """A step of `urls.normalise` merges URLs with one content."""
    PATTERN = "pattern"
    """URLs of a pattern brought no content of their own."""
    TRAP = "trap"
    """URLs of a pattern are not requested any more, because it is a crawler trap."""
    VERSION = "version"
    """Pages of one version have nearly the words of those of another."""
    CAUSE = "cause"
    """Pages were not read for one cause."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One suggestion for a source."""

    kind: SuggestionKind
    subject: str
    """The step, pattern, trap, version or cause."""
    counts: dict[str, int]
    """Numbers of URLs, by what they are."""
    examples: tuple[tuple[str, ...], ...]
    """URLs; where another one is kept in its place, this is the second."""
    option: OptionPath = ()
    """The list in the definition to which something is to be added; empty if there is only advice."""
    value: Data = None
    """What is to be added."""
    advice: str = ""

    def as_json(self, source: str) -> dict[str, Any]:
        """Return the suggestion in the shape of `ultracrawl suggest --json`."""
        return {
            "source": source,
            "kind": self.kind.value,
            "subject": self.subject,
            "option": ".".join(map(str, self.option)) or None,
            "value": self.value,
            "counts": self.counts,
            "examples": [list(example) for example in self.examples],
            "advice": self.advice or None,
        }

    @property
    def line(self) -> str:
        """The line of the definition; empty if there is only advice."""
        return one_line(self.option, [self.value]) if self.option else ""


def one_line(option: OptionPath, items: list[Data]) -> str:
    """Return an option with a list as one line of a definition."""
    data: Data = items
    for name in reversed(option):
        data = {str(name): data}
    return yaml.safe_dump(data, default_flow_style=True, width=10_000, allow_unicode=True).strip()[1:-1]


@dataclass(slots=True)
class Tally:
    """A number of URLs with the first examples."""

    number: int = 0
    examples: list[tuple[str, ...]] = field(default_factory=list)

    def add(self, *example: str) -> None:
        """Count one more."""
        self.number += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(example)


def in_blocks(records: Iterator[UrlRecord]) -> Iterator[list[UrlRecord]]:
    """Yield some hundreds of records at a time, whose twins are looked up together."""
    while block := [*islice(records, _AT_ONCE)]:
        yield block


def has_content(record: UrlRecord) -> bool:
    """Return whether the latest visits of a URL read a content."""
    return bool(record.fingerprint or record.checksum) and not record.outcome.without_content
