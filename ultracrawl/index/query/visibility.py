"""Access control: conditions on the ACL terms of documents."""

from __future__ import annotations

from collections.abc import Iterable

from ultracrawl.index.query.tree import EVERYTHING, AllOf, HasAclTerm, Node, Not
from ultracrawl.index.stored_fields import RESTRICTED, principal_term

FIRST_VERSION_WITH_ACL = 3
"""The first schema version with ACL terms."""


def hidden_from(principals: Iterable[str]) -> Node:
    """Return the node of documents that are restricted and visible to none of these principals."""
    readers = (Not(HasAclTerm(principal_term(name))) for name in dict.fromkeys(principals))
    return AllOf((HasAclTerm(RESTRICTED), *readers))


def visible_to(principals: Iterable[str] | None) -> Node:
    """Return the node of documents that the principals may see; None stands for everything."""
    return EVERYTHING if principals is None else Not(hidden_from(principals))
