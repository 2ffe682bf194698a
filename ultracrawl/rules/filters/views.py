"""The views of both filters on one resource."""

from __future__ import annotations

from ultracrawl.dataclass import dataclass
from ultracrawl.model.cause import NO_CAUSE, Cause
from ultracrawl.rules.filters.resource import Resource, View


@dataclass(slots=True)
class FilterViews:
    """The views of both filters on one resource; None for a filter that denied it."""

    resource: Resource
    enumeration: View | None
    generation: View | None
    denied: bool = False
    """Whether both filters denied it."""
    cause: Cause = NO_CAUSE
    """Why it gets no description or was denied; its subject is the rule under which reports count it."""
