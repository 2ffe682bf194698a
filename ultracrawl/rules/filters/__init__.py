"""Filters made of robot application functions, as the portal search robot has them; pure, no I/O.

A robot has two filters (`FilterKind`), each a list of directives by `Phase`. `FilterCompiler` makes a `FilterProgram`
of them once; it runs over a `View` of each `Resource`. `Robot` is what both filters share; `BUILT_IN` are the thirty
functions, `own_function` makes one of yours, `filter_function` marks it. `read_soif` and `write_soif` exchange
descriptions.
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
