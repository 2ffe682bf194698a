"""The Basic scheme (RFC 7617)."""

from __future__ import annotations

from base64 import b64encode


def basic_answer(user: str, password: str) -> str:
    """Return the value of an Authorization header, in UTF-8."""
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"
