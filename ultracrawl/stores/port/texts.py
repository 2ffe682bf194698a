"""Texts that every store can hold: without NUL and halves of surrogate pairs, which PostgreSQL stores in no text."""

from __future__ import annotations

from collections.abc import Iterable

_NUL, _REPLACEMENT = "\0", "\N{REPLACEMENT CHARACTER}"


def storable(text: str) -> str:
    """Return a text with what every store can hold; all replace the rest, so that they hold the same."""
    return text.replace(_NUL, _REPLACEMENT) if text.isascii() else storable_bytes(text).decode()


def storable_bytes(text: str) -> bytes:
    """Return such a text in UTF-8."""
    return text.replace(_NUL, _REPLACEMENT).encode("utf-8", "replace")


def are_storable(texts: Iterable[str]) -> bool:
    """Return whether every store can hold some texts as they are: nearly always, and found out for all at once."""
    joined = "".join(texts)
    return _NUL not in joined and (joined.isascii() or joined.encode("utf-8", "replace").decode() == joined)


def storable_texts(*texts: str) -> tuple[str, ...]:
    """Return texts as every store can hold them."""
    return texts if are_storable(texts) else tuple(map(storable, texts))


def storable_row(row: Iterable[object]) -> tuple[object, ...]:
    """Return the values of a row, with texts that every store can hold."""
    return tuple(storable(value) if isinstance(value, str) else value for value in row)
