"""Which documents a search may return: conditions on their ACL terms, and on their sources."""

from __future__ import annotations

from collections.abc import Iterable

from ultracrawl.index.query.tree import EVERYTHING, AllOf, FromSource, HasAclTerm, Node, Not, any_of
from ultracrawl.index.stored_fields import RESTRICTED, principal_term

FIRST_VERSION_WITH_ACL = 3
"""The first schema version with ACL terms."""


def hidden_from(principals: Iterable[str] | None, excluded_sources: Iterable[str] = ()) -> Node:
    """Return the node of documents that are restricted and visible to none of these principals, or of these sources.

    Without principals (None) no document is restricted.
    """
    hidden: list[Node] = [FromSource(source) for source in excluded_sources]
    if principals is not None:
        readers = (Not(HasAclTerm(principal_term(name))) for name in dict.fromkeys(principals))
        hidden.append(AllOf((HasAclTerm(RESTRICTED), *readers)))
    return any_of(hidden)


def visible_to(principals: Iterable[str] | None, excluded_sources: Iterable[str] = ()) -> Node:
    """Return the node of documents that the principals (None: the administrator) may see, without excluded sources."""
    sources = tuple(excluded_sources)
    return EVERYTHING if principals is None and not sources else Not(hidden_from(principals, sources))
