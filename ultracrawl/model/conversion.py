"""What a converter makes of a document that is not HTML."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Conversion:
    """Text and metadata of a document; `metadata` has the names that `docs/conversion.md` lists, in lower case."""

    title: str = ""
    text: str = ""
    """All text in reading order, white space folded."""
    language: str = ""
    metadata: dict[str, list[str]] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    """Targets as written in the document, each once."""
    truncated: str = ""
    """What was left unread and why, in a few words, or empty."""
