"""Texts of other programs without the secrets that they may repeat."""

from __future__ import annotations

import re
from collections.abc import Iterable

MASK = "***"
_CERTAIN = 4
"""Letters from which on a secret is hidden inside of words, too. A shorter one would tear most words apart."""


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return a text with a mask in place of secrets; short ones are hidden where they are words of their own."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        if len(secret) >= _CERTAIN:
            text = text.replace(secret, MASK)
        else:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", MASK, text)
    return text
