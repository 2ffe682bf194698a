"""The parts of a page as it got them, stored so that the next run can ask whether they have changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple, Self

from ultracrawl.rules.recrawl.change import steady_checksum, validator_headers
from ultracrawl.run.rendering.open_page import PartAnswer, PartRequest

MAX_BYTES = 64 << 10
"""Bytes that are stored of the parts of a page; a page with more is opened at each visit."""


class KnownPart(NamedTuple):
    """A part as a page got it: the request, and what tells whether the response is still the same."""

    url: str
    kind: str
    initiator: str
    headers: Mapping[str, str]
    """Headers of the request that are passed on."""
    etag: str
    last_modified: str
    status: int
    """Status of the response; 0 if the page was refused the part."""
    checksum: str

    @classmethod
    def of(cls, request: PartRequest, headers: Mapping[str, str], answer: PartAnswer | None) -> Self:
        """Return a part with the response to it; None: the page was refused the part."""
        if answer is None:
            return cls(request.url, request.kind, request.initiator, headers, "", "", 0, "")
        own = {name.lower(): value for name, value in answer.headers.items()}
        tag, date = own.get("etag", ""), own.get("last-modified", "")
        sum_ = steady_checksum(answer.body).hex()
        return cls(request.url, request.kind, request.initiator, headers, tag, date, answer.status, sum_)

    def request(self) -> PartRequest:
        """Return the request for the part, on condition that it has changed."""
        validators = validator_headers(self.etag, self.last_modified)
        return PartRequest(self.url, self.kind, self.initiator, dict(self.headers), validators=validators)

    def is_current(self, answer: PartAnswer | None) -> bool:
        """Return whether a response says that the part is as it was."""
        if answer is None:
            return not self.status
        if answer.status == 304:
            return bool(self.etag or self.last_modified)
        return answer.status == self.status and steady_checksum(answer.body).hex() == self.checksum


class KnownPage(NamedTuple):
    """The validators of a page as sent, its parts, and its own checksum."""

    etag: str
    last_modified: str
    parts: tuple[KnownPart, ...]
    checksum: str = ""
    """Empty in what earlier versions stored."""

    def stored(self) -> bytes:
        """Return the bytes to store; empty if they are too many."""
        made = json.dumps(self).encode()
        return made if len(made) <= MAX_BYTES else b""

    @classmethod
    def of_stored(cls, stored: bytes) -> Self:
        """Return what was stored."""
        etag, last_modified, parts, *own = json.loads(stored)
        return cls(etag, last_modified, tuple(KnownPart(*part) for part in parts), *own)
