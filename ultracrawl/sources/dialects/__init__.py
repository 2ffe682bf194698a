"""Readers for the formats of definition files, found by entry points.

`read_definitions` recognises the format by the content and returns `Loaded`. `locate_definitions` finds the
definitions named by a setting, the environment or the working directory. A plug-in provides a `Dialect`.
"""

from ultracrawl.sources.dialects.port import Dialect
from ultracrawl.sources.dialects.recognition import (
    format_titles,
    is_yaml,
    locate_definitions,
    read_definitions,
)

__all__ = ["Dialect", "format_titles", "is_yaml", "locate_definitions", "read_definitions"]
