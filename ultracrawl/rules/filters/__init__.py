"""Filters of robot application functions, compatible with the portal search robot; without I/O.

A robot has two filters (`FilterKind`), each a list of directives by `Phase`. `FilterCompiler` compiles them to a
`FilterProgram`, which runs over a `View` of each `Resource`. `Robot` is the state shared by both filters; `BUILT_IN`
are the thirty functions; `own_function` wraps a user function, `filter_function` declares one. `read_soif` and
`write_soif` exchange resource descriptions.
"""

from ultracrawl.rules.filters.custom import (
    REQ_ABORTED,
    REQ_EXIT,
    REQ_NOACTION,
    REQ_PROCEED,
    REQ_RESTART,
    ResourceHandle,
    filter_function,
)
from ultracrawl.rules.filters.function import FilterHandle

__all__ = [
    "REQ_ABORTED",
    "REQ_EXIT",
    "REQ_NOACTION",
    "REQ_PROCEED",
    "REQ_RESTART",
    "FilterHandle",
    "ResourceHandle",
    "filter_function",
]
