"""Conditional requests: ask for a page only if it changed (RFC 9110 13.1, Ultra Search checklist 15)."""

from __future__ import annotations

import re

from ultracrawl.model import UrlRecord
from ultracrawl.rules.recrawl.change import is_known

_LONGEST_VALIDATOR = 4096
"""Characters of a validator that is sent back; many servers refuse requests with headers of 8 KB."""
_UNSAFE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]")


def conditional_headers(record: UrlRecord | None, force: bool = False) -> dict[str, str]:
    """Return If-None-Match and If-Modified-Since for a URL whose content is known, else nothing.

    Validators go back as the server sent them, strong or weak, and both if both are known: a server that
    understands entity tags passes over the date (RFC 9110 13.1.3). Nothing is sent with `force`, or if the
    content was never read: a 304 would then leave us without it.
    """
    if force or record is None or not is_known(record):
        return {}
    headers = {"If-None-Match": record.etag, "If-Modified-Since": record.last_modified}
    return {name: value.strip() for name, value in headers.items() if _is_sendable(value)}


def _is_sendable(validator: str) -> bool:
    return bool(validator.strip()) and len(validator) <= _LONGEST_VALIDATOR and not _UNSAFE.search(validator)
