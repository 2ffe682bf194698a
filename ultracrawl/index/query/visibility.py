"""Which documents a search may return: conditions on their ACL terms, and on their sources.

This is the only place that decides it: hits, counts, facets, suggestions, completions and documents like another one
all ask here.
"""

from __future__ import annotations

from collections.abc import Iterable

from ultracrawl.index.engine import SearchQuery
from ultracrawl.index.query.tree import EVERYTHING, AllOf, FromSource, HasAclTerm, Node, Not, any_of
from ultracrawl.index.stored_fields import RESTRICTED, principal_term
from ultracrawl.rules.access.readers import BY_HAND, is_typed

FIRST_VERSION_WITH_ACL = 3
"""The first schema version with ACL terms."""


def hides_any(query: SearchQuery) -> bool:
    """Return whether documents may be hidden from who asks."""
    return query.principals is not None or bool(query.excluded_sources)


def hidden_from(query: SearchQuery) -> Node:
    """Return the node of the documents that are hidden from who asks.

    They are of a source that does not count, or restricted, and none of the principals may see them. Without principals
    (None) no document is restricted. In sources with derived readers a name without a type was derived by an earlier
    version, for a user and a group alike: it shows a document to nobody unless people wrote it.
    """
    hidden: list[Node] = [FromSource(source) for source in query.excluded_sources]
    if query.principals is not None:
        hidden.append(_seen_by_none(query.principals))
        typed = [name for name in query.principals if is_typed(name)]
        if query.derived_readers and len(typed) < len(query.principals):
            derived = any_of([FromSource(source) for source in query.derived_readers])
            by_hand = HasAclTerm((principal_term(BY_HAND),))
            hidden.append(AllOf((derived, _seen_by_none(typed), Not(by_hand))))
    return any_of(hidden)


def visible_to(query: SearchQuery) -> Node:
    """Return the node of the documents that may be shown to who asks."""
    return Not(hidden_from(query)) if hides_any(query) else EVERYTHING


def _seen_by_none(principals: Iterable[str]) -> Node:
    terms = tuple(map(principal_term, dict.fromkeys(principals)))
    restricted = HasAclTerm((RESTRICTED,))
    return AllOf((restricted, Not(HasAclTerm(terms)))) if terms else restricted
