"""The built-in functions of robots, by group; `BUILT_IN` has all by name."""

from collections.abc import Mapping

from ultracrawl.rules.filters.function import Function
from ultracrawl.rules.filters.functions import deciding, describing, sources

BUILT_IN: Mapping[str, Function] = {
    function.name: function for group in (sources, deciding, describing) for function in group.FUNCTIONS
}
"""The thirty functions of the portal robot, and one alias."""
