"""Readers for the formats of definition files.

`read_definitions` recognises the format by the content and returns `Loaded`. `locate_definitions` finds the
definitions named by a setting, the environment or the working directory. `DIALECTS` lists the formats.
"""

from ultracrawl.sources.dialects.recognition import (
    DIALECTS,
    Dialect,
    is_yaml,
    locate_definitions,
    read_definitions,
)

__all__ = ["DIALECTS", "Dialect", "is_yaml", "locate_definitions", "read_definitions"]
