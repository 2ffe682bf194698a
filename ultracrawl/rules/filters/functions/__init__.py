"""The functions that every robot has, by group; `BUILT_IN` has them by name."""

from collections.abc import Mapping

from ultracrawl.rules.filters.function import Function
from ultracrawl.rules.filters.functions import (
    deciding,
    enumerating,
    generating,
    rules,
    setup,
    sources,
    support,
)

BUILT_IN: Mapping[str, Function] = {
    function.name: function
    for group in (setup, deciding, rules, sources, support, enumerating, generating)
    for function in group.FUNCTIONS
}
"""The thirty functions of the portal robot, and one alias."""

__all__ = ["BUILT_IN"]
