"""Acceptance of responses by headers, media type and size (FAST 3.1 D, Ultra Search 14.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ultracrawl.content.mime import declared_type, effective_type, is_certain, type_matches
from ultracrawl.model import Cause, CauseCode, StatusCode
from ultracrawl.rules.boundary.expressions import compile_fullmatch

Header = Callable[[str], Sequence[str]]
"""Returns all values of a header; the name is case-insensitive."""

_MAX_BLANK_BYTES = 4096
"""A body up to this size is checked for being blank; a longer one counts as not empty."""


class Refusal(NamedTuple):
    """Why a response is refused."""

    status: StatusCode
    rule: str
    """The option that refuses, for counts."""
    cause: Cause


class Accepted(NamedTuple):
    """An accepted response."""

    media_type: str
    cut: bool
    """Whether only the first `cut_off` bytes are used."""
    follow_only: bool
    """Whether only the links of the page are used, and it is not indexed."""


class Acceptance:
    """Decides whether responses with status 200 are accepted, by headers, media type and size in that order.

    `types` and `follow_only` are media types with wildcards. With `detect` the type detected in the body overrides
    the declared one. Bodies longer than `cut_off` bytes (None: any length) are cut with `truncate`, else refused.
    `exclude_headers` are expressions by header; a match of a whole value refuses the response.
    `unreadable` are the refusals of wanted types that cannot be converted. Raises `PatternError`.
    """

    def __init__(
        self,
        types: Iterable[str],
        *,
        follow_only: Iterable[str] = (),
        detect: bool = False,
        cut_off: int | None = None,
        truncate: bool = True,
        exclude_headers: Mapping[str, Iterable[str]] | None = None,
        unreadable: Mapping[str, Refusal] | None = None,
    ) -> None:
        self.types = tuple(types)
        self.follow_only = tuple(follow_only)
        self.detect = detect
        self.cut_off = cut_off
        self.truncate = truncate
        self._unreadable = unreadable or {}
        self._excluded = [
            (name, [(text, compile_fullmatch(text)) for text in texts])
            for name, texts in (exclude_headers or {}).items()
        ]

    def refuses_head(self, header: Header, length: int | None) -> Refusal | None:
        """Decide by the headers before the body is read; `length` is the Content-Length, if there is one."""
        refusal = self.refuses_headers(header)
        if refusal is not None:
            return refusal
        refusal = self._refuses_declared(declared_type(_first(header, "Content-Type")))
        if refusal is not None:
            return refusal
        too_long = self.cut_off is not None and not self.truncate and (length or 0) > self.cut_off
        return self._too_long() if too_long else None

    def _refuses_declared(self, declared: str) -> Refusal | None:
        """Decide by a declared type that the body cannot override."""
        if self.detect or not is_certain(declared):
            return None
        return self._unreadable.get(declared) if self._is_wanted(declared) else _wrong_type(declared)

    def refuses_headers(self, header: Header) -> Refusal | None:
        """Decide by `exclude_headers` only."""
        for name, patterns in self._excluded:
            for value in header(name):
                for text, matches in patterns:
                    if matches(value.strip()) is not False:  # None, a time-out, refuses too
                        cause = Cause(CauseCode.HEADER, name, f"{text} covers {value[:200]!r}")
                        return Refusal(StatusCode.OK, cause.heading, cause)
        return None

    def judge(self, header: Header, body: bytes) -> Accepted | Refusal:
        """Decide about a complete response."""
        refusal = self.refuses_headers(header)
        if refusal is not None:
            return refusal
        content_type = _first(header, "Content-Type")
        refusal = self._refuses_declared(declared_type(content_type))
        if refusal is not None:
            return refusal
        media_type = effective_type(content_type, body, detect=self.detect)
        if not self._is_wanted(media_type):
            return _refused_type(declared_type(content_type), media_type)
        if media_type in self._unreadable:
            return self._unreadable[media_type]
        if len(body) <= _MAX_BLANK_BYTES and not body.strip():
            return Refusal(StatusCode.EMPTY, "empty document", Cause(CauseCode.EMPTY))
        is_too_long = self.cut_off is not None and len(body) > self.cut_off
        if is_too_long and not self.truncate:
            return self._too_long()
        return Accepted(media_type, is_too_long, not type_matches(media_type, self.types))

    def _is_wanted(self, media_type: str) -> bool:
        return type_matches(media_type, self.types) or type_matches(media_type, self.follow_only)

    def _too_long(self) -> Refusal:
        return Refusal(StatusCode.READ_ERROR, "cut_off", Cause(CauseCode.TOO_LONG, str(self.cut_off)))


def _first(header: Header, name: str) -> str:
    return next(iter(header(name)), "")


def _wrong_type(media_type: str) -> Refusal:
    return Refusal(StatusCode.WRONG_TYPE, "types", Cause(CauseCode.TYPE, media_type))


def _refused_type(declared: str, detected: str) -> Refusal:
    if declared.startswith("text/") and detected != declared and not detected.startswith("text/"):
        cause = Cause(CauseCode.BINARY_AS_TEXT, detected, declared)
        return Refusal(StatusCode.BINARY_AS_TEXT, "types", cause)
    return _wrong_type(detected)
