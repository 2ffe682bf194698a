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
    FilterHandle,
    ResourceHandle,
    own_function,
)
from ultracrawl.rules.filters.function import FilterError, Function
from ultracrawl.rules.filters.functions import BUILT_IN
from ultracrawl.rules.filters.marked import filter_function, marked_functions
from ultracrawl.rules.filters.parameters import ParameterBlock
from ultracrawl.rules.filters.phase import Answer, FilterKind, Phase
from ultracrawl.rules.filters.program import FilterCompiler, FilterLine, FilterProgram
from ultracrawl.rules.filters.resource import Fetched, Resource, Scripted, View
from ultracrawl.rules.filters.robot import Robot, Rules
from ultracrawl.rules.filters.soif import SoifError, read_soif, write_soif

__all__ = [
    "BUILT_IN",
    "REQ_ABORTED",
    "REQ_EXIT",
    "REQ_NOACTION",
    "REQ_PROCEED",
    "REQ_RESTART",
    "Answer",
    "Fetched",
    "FilterCompiler",
    "FilterError",
    "FilterHandle",
    "FilterKind",
    "FilterLine",
    "FilterProgram",
    "Function",
    "ParameterBlock",
    "Phase",
    "Resource",
    "ResourceHandle",
    "Robot",
    "Rules",
    "Scripted",
    "SoifError",
    "View",
    "filter_function",
    "marked_functions",
    "own_function",
    "read_soif",
    "write_soif",
]
