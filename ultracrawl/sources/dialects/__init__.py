"""Readers of definition formats.

`read_definitions` recognises a format by its content and returns `Loaded`, `locate_definitions` finds the
definitions that a setting, the environment or the working directory names. `DIALECTS` lists the formats: a
`Dialect` each.
"""

from ultracrawl.sources.dialects.recognition import (
    DIALECTS,
    Dialect,
    is_yaml,
    locate_definitions,
    read_definitions,
)

__all__ = ["DIALECTS", "Dialect", "is_yaml", "locate_definitions", "read_definitions"]
