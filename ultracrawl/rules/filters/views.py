"""What both filters of a source know of one resource."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ultracrawl.model.cause import NO_CAUSE, Cause

if TYPE_CHECKING:
    from ultracrawl.rules.filters.resource import Resource, View


@dataclass(slots=True)
class FilterViews:
    """What both filters know of one resource; None for a filter that denied it."""

    resource: Resource
    enumeration: View | None
    generation: View | None
    denied: bool = False
    """Both filters denied it."""
    cause: Cause = NO_CAUSE
    """Why it gets no description, or why it is not looked at at all; about a rule, as it is counted."""
