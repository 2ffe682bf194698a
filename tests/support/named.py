"""What a sentence for people is about, whatever its wording."""

from __future__ import annotations

import re

_NAMED = re.compile(r"`([^`]+)`|(?<!\w)'([^']+)'(?!\w)|(?<![\w.,])(\d+)(?!\w)")


def named(sentence: str) -> list[str]:
    """Return the names that a sentence has in backticks or quotes, and its numbers, in their order."""
    return ["".join(found) for found in _NAMED.findall(sentence)]
