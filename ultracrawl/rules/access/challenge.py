"""Parsing of WWW-Authenticate (RFC 9110, 11.6.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ultracrawl.dataclass import dataclass, field

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - a pattern, no password
_PARAMETER = re.compile(rf'({_TOKEN})\s*=\s*("(?:[^"\\]|\\.)*"|{_TOKEN})', re.DOTALL)
_START = re.compile(rf"({_TOKEN})(?:\s+(.*))?", re.DOTALL)
_MAX_LENGTH = 16_384
"""Maximum number of characters parsed of one header."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """A scheme that a server offers; the names of scheme and parameters are in lower case."""

    scheme: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    token: str = ""
    """The token68 in place of parameters, as in `NTLM TlRMTVNT...`."""

    @property
    def realm(self) -> str:
        """The name of the protected part of the site; empty if there is none."""
        return self.parameters.get("realm", "")


def challenges_in(headers: Iterable[str]) -> list[Challenge]:
    """Return the challenges of all WWW-Authenticate headers in order; invalid parts are skipped."""
    return [challenge for header in headers for challenge in _challenges(header[:_MAX_LENGTH])]


def _challenges(header: str) -> Iterator[Challenge]:
    scheme, token, parameters = "", "", dict[str, str]()
    for piece in _pieces(header):
        parameter = _PARAMETER.fullmatch(piece)
        start = None if parameter else _START.fullmatch(piece)
        if start is not None:
            if scheme:
                yield Challenge(scheme, parameters, token)
            scheme, token, parameters = start[1].lower(), "", {}
            rest = (start[2] or "").strip()
            parameter = _PARAMETER.fullmatch(rest)
            token = "" if parameter else rest
        if parameter is not None and scheme:
            parameters.setdefault(parameter[1].lower(), _unquoted(parameter[2]))
    if scheme:
        yield Challenge(scheme, parameters, token)


def _pieces(header: str) -> Iterator[str]:
    """Yield the parts between commas outside quotes."""
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
