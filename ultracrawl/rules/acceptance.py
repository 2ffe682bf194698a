"""Which answers become pages: by their headers, their media type and their size (FAST 3.1 D, Ultra Search 14.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ultracrawl.content.mime import declared_type, effective_type, is_certain, type_matches
from ultracrawl.model import Cause, CauseCode, StatusCode
from ultracrawl.rules.boundary.expressions import compile_fullmatch

Header = Callable[[str], Sequence[str]]
"""Returns all values of a header, whose name may be written in any case."""

_LONGEST_BLANK = 4096
"""Bytes up to which a body is checked for being blank; a longer one is taken to hold something."""


class Refusal(NamedTuple):
    """Why an answer does not become a page."""

    status: StatusCode
    rule: str
    """The option that refused, for counts."""
    cause: Cause


class Accepted(NamedTuple):
    """An answer that becomes a page."""

    media_type: str
    cut: bool
    """Only the first `cut_off` bytes count."""
    follow_only: bool
    """The page is read for its links and not indexed."""


class Acceptance:
    """Decides over answers with status 200; the order is headers, media type, size.

    `types` and `follow_only` are media types with wildcards. With `detect` the type that the bytes show wins over
    the declared one. Bodies longer than `cut_off` bytes (None: any length) are cut with `truncate`, else refused.
    `exclude_headers` has expressions for each header; one that covers a whole value refuses the answer.
    `unreadable` says why documents of some types cannot be read, although they are wanted. Raises `PatternError`.
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
        """Judge what can be judged before the body comes; `length` is the announced one, if there is one."""
        refusal = self.refuses_headers(header)
        if refusal is not None:
            return refusal
        refusal = self._refuses_declared(declared_type(_first(header, "Content-Type")))
        if refusal is not None:
            return refusal
        too_long = self.cut_off is not None and not self.truncate and (length or 0) > self.cut_off
        return self._too_long() if too_long else None

    def _refuses_declared(self, declared: str) -> Refusal | None:
        """Judge a declared type that no bytes can overrule."""
        if self.detect or not is_certain(declared):
            return None
        return self._unreadable.get(declared) if self._wanted(declared) else _wrong_type(declared)

    def refuses_headers(self, header: Header) -> Refusal | None:
        """Judge by `exclude_headers` alone."""
        for name, patterns in self._excluded:
            for value in header(name):
                for text, covers in patterns:
                    if covers(value.strip()) is not False:  # one without an answer in time refuses, too
                        cause = Cause(CauseCode.HEADER, name, f"{text} covers {value[:200]!r}")
                        return Refusal(StatusCode.OK, cause.heading, cause)
        return None

    def judge(self, header: Header, body: bytes) -> Accepted | Refusal:
        """Judge a whole answer."""
        refusal = self.refuses_headers(header)
        if refusal is not None:
            return refusal
        content_type = _first(header, "Content-Type")
        refusal = self._refuses_declared(declared_type(content_type))
        if refusal is not None:
            return refusal
        media_type = effective_type(content_type, body, detect=self.detect)
        if not self._wanted(media_type):
            return _refused_type(declared_type(content_type), media_type)
        if media_type in self._unreadable:
            return self._unreadable[media_type]
        if len(body) <= _LONGEST_BLANK and not body.strip():
            return Refusal(StatusCode.EMPTY, "empty document", Cause(CauseCode.EMPTY))
        long = self.cut_off is not None and len(body) > self.cut_off
        if long and not self.truncate:
            return self._too_long()
        return Accepted(media_type, long, not type_matches(media_type, self.types))

    def _wanted(self, media_type: str) -> bool:
        return type_matches(media_type, self.types) or type_matches(media_type, self.follow_only)

    def _too_long(self) -> Refusal:
        return Refusal(StatusCode.READ_ERROR, "cut_off", Cause(CauseCode.TOO_LONG, str(self.cut_off)))


def _first(header: Header, name: str) -> str:
    return next(iter(header(name)), "")


def _wrong_type(media_type: str) -> Refusal:
    return Refusal(StatusCode.WRONG_TYPE, "types", Cause(CauseCode.TYPE, media_type))


def _refused_type(declared: str, found: str) -> Refusal:
    if declared.startswith("text/") and found != declared and not found.startswith("text/"):
        return Refusal(StatusCode.BINARY_AS_TEXT, "types", Cause(CauseCode.BINARY_AS_TEXT, found, declared))
    return _wrong_type(found)
