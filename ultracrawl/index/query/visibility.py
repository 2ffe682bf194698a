"""Who may see a document: the terms of its readers, and the condition of those who ask."""

from __future__ import annotations

from collections.abc import Iterable

from ultracrawl.index.words.analysis import clean

RESTRICTED = "restricted"
"""The term of a document that is not for everybody; no principal has one like it."""


def acl_terms(acl: Iterable[str]) -> list[str]:
    """Return the terms of a document with these readers; none if it is for everybody, as old ones are."""
    names = list(map(principal_term, dict.fromkeys(acl)))
    return [RESTRICTED, *names] if names else []


def principal_term(name: str) -> str:
    """Return the term of documents that this user or group may see; names are compared exactly."""
    return f"={clean(name)}"
