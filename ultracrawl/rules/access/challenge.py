"""What a server asks for in WWW-Authenticate (RFC 9110, 11.6.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - a pattern, no password
_PARAMETER = re.compile(rf'({_TOKEN})\s*=\s*("(?:[^"\\]|\\.)*"|{_TOKEN})', re.DOTALL)
_START = re.compile(rf"({_TOKEN})(?:\s+(.*))?", re.DOTALL)
_LONGEST = 16_384
"""Characters of one header that are looked at."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """One scheme that a server offers; the names of scheme and parameters are in lower case."""

    scheme: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    token: str = ""
    """What stands in place of parameters, as in `NTLM TlRMTVNT...`."""

    @property
    def realm(self) -> str:
        """The name of the protected part of the site; empty if the server gives none."""
        return self.parameters.get("realm", "")


def challenges_in(headers: Iterable[str]) -> list[Challenge]:
    """Return the challenges of all WWW-Authenticate headers in their order; what is none is passed over."""
    return [challenge for header in headers for challenge in _challenges(header[:_LONGEST])]


def _challenges(header: str) -> Iterator[Challenge]:
    scheme, token, parameters = "", "", dict[str, str]()
    for piece in _pieces(header):
        found = _PARAMETER.fullmatch(piece)
        start = None if found else _START.fullmatch(piece)
        if start is not None:
            if scheme:
                yield Challenge(scheme, parameters, token)
            scheme, token, parameters = start[1].lower(), "", {}
            rest = (start[2] or "").strip()
            found = _PARAMETER.fullmatch(rest)
            token = "" if found else rest
        if found is not None and scheme:
            parameters.setdefault(found[1].lower(), _unquoted(found[2]))
    if scheme:
        yield Challenge(scheme, parameters, token)


def _pieces(header: str) -> Iterator[str]:
    """Yield what stands between commas that are not within quotes."""
    start, quoted, escaped = 0, False, False
    for at, character in enumerate(header):
        if escaped:
            escaped = False
        elif quoted and character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif character == "," and not quoted:
            yield header[start:at].strip()
            start = at + 1
    yield header[start:].strip()


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
