"""Who may see a document: the condition of those who ask."""

from __future__ import annotations

from collections.abc import Iterable

from ultracrawl.index.query.tree import EVERYTHING, AllOf, HasAclTerm, Node, Not
from ultracrawl.index.stored_fields import RESTRICTED, principal_term

FIRST_VERSION_WITH_ACL = 3
"""The schema version of the first indexes that keep readers."""


def hidden_from(principals: Iterable[str]) -> Node:
    """Return the condition that a document is not for everybody, and that none of these principals may see it."""
    readers = (Not(HasAclTerm(principal_term(name))) for name in dict.fromkeys(principals))
    return AllOf((HasAclTerm(RESTRICTED), *readers))


def visible_to(principals: Iterable[str] | None) -> Node:
    """Return the condition that a document may be seen; None stands for those who see everything."""
    return EVERYTHING if principals is None else Not(hidden_from(principals))
