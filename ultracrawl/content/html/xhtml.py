"""Pages in XHTML, whose empty elements a reader of HTML would take for open ones."""

from __future__ import annotations

import re

_EMPTY = re.compile(rb"<([a-zA-Z][\w:.-]*)((?:\s[^<>]*)?)/>")
_VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())


def with_end_tags(body: bytes) -> bytes:
    """Return a page with `<title/>` written as `<title></title>`; elements that are always empty stay as they are.

    Otherwise everything behind a `<title/>`, `<script/>` or `<iframe/>` would be inside it.
    """
    return _EMPTY.sub(_open_and_end, body) if b"/>" in body else body


def _open_and_end(found: re.Match[bytes]) -> bytes:
    name, attributes = found[1], found[2]
    return found[0] if name.lower() in _VOID else b"<%b%b></%b>" % (name, attributes, name)
