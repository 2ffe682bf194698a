"""Who may see a document: the condition of those who ask."""

from __future__ import annotations

from collections.abc import Iterable

from ultracrawl.index.keeping import RESTRICTED, reader_term
from ultracrawl.index.query.tree import EVERYTHING, AllOf, HasReader, Node, Not

FIRST_WITH_READERS = 3
"""The schema version of the first indexes that keep readers."""


def hidden_from(principals: Iterable[str]) -> Node:
    """Return the condition that a document is not for everybody, and that none of these principals may see it."""
    readers = (Not(HasReader(reader_term(name))) for name in dict.fromkeys(principals))
    return AllOf((HasReader(RESTRICTED), *readers))


def visible_to(principals: Iterable[str] | None) -> Node:
    """Return the condition that a document may be seen; None stands for those who see everything."""
    return EVERYTHING if principals is None else Not(hidden_from(principals))
