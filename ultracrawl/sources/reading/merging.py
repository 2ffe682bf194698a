"""The defaults of a file under the options of one source."""

from __future__ import annotations

from ultracrawl.sources.reading.tree import Data


def merged(defaults: dict[str, Data], own: dict[str, Data]) -> dict[str, Data]:
    """Return `own` completed by `defaults`: groups option by option, everything else as a whole."""
    result = dict(defaults)
    for name, value in own.items():
        known = result.get(name)
        if isinstance(known, dict) and isinstance(value, dict):
            result[name] = merged(known, value)
        elif not (value is None and isinstance(known, dict)):
            result[name] = value
    return result
