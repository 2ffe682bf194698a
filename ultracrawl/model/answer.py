"""An answer as it is kept, so that its document can be made again without asking for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What a server sent for a URL with status 200; the body without content and transfer encoding."""

    url: str
    """The access URL."""
    fetched: float
    """Seconds since the epoch."""
    headers: tuple[tuple[str, str], ...]
    """Names and values as received (bytes above 127 as Latin-1), repeated where they were."""
    body: bytes
    truncated: str = ""
    """What of the body was left unread, and why."""

    def header(self, name: str) -> str:
        """Return the first value of a header, or empty."""
        return next((value for one, value in self.headers if one.lower() == name.lower()), "")
