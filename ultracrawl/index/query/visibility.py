"""Who may see a document: the terms of its readers, and the condition of those who ask."""

from __future__ import annotations

from collections.abc import Iterable

from ultracrawl.index.query.tree import EVERYTHING, AllOf, HasReader, Node, Not
from ultracrawl.index.words.analysis import clean

RESTRICTED = "restricted"
"""The term of a document that is not for everybody; no principal has one like it."""
FIRST_WITH_READERS = 3
"""The schema version of the first indexes that keep readers."""


def acl_terms(acl: Iterable[str]) -> list[str]:
    """Return the terms of a document with these readers; none if it is for everybody, as old ones are."""
    names = list(map(_principal_term, dict.fromkeys(acl)))
    return [RESTRICTED, *names] if names else []


def hidden_from(principals: Iterable[str]) -> Node:
    """Return the condition that a document is not for everybody, and that none of these principals may see it."""
    readers = (Not(HasReader(_principal_term(name))) for name in dict.fromkeys(principals))
    return AllOf((HasReader(RESTRICTED), *readers))


def visible_to(principals: Iterable[str] | None) -> Node:
    """Return the condition that a document may be seen; None stands for those who see everything."""
    return EVERYTHING if principals is None else Not(hidden_from(principals))


def _principal_term(name: str) -> str:
    """Return the term of documents that this user or group may see; names are compared exactly."""
    return f"={clean(name)}"
