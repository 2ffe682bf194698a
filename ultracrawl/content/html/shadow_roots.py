"""Declarative shadow roots: their content belongs to the page, unlike that of other templates."""

from __future__ import annotations

import re

_MARK = b"shadowrootmode"
_TAG = re.compile(rb"<(/?)template((?:[\s/][^<>]{0,1000}+)?+)>", re.IGNORECASE)
_IS_ROOT = re.compile(rb"""\sshadowrootmode\s*=\s*["']?(?:open|closed)\b""", re.IGNORECASE)
SHADOW_ROOT = "shadow-root"
"""The name of the elements that stand for shadow roots."""


def show_shadow_roots(body: bytes) -> bytes:
    """Return a page in which declarative shadow roots are elements, so that the parser reads what is in them."""
    if _MARK not in body:
        return body
    pieces, at = list[bytes](), 0
    roots = list[bool]()
    for tag in _TAG.finditer(body):
        if not tag[1]:
            is_root = _IS_ROOT.search(tag[2]) is not None
            roots.append(is_root)
        else:
            is_root = bool(roots) and roots.pop()
        if is_root:
            pieces += body[at : tag.start()], b"<%b%b>" % (tag[1], SHADOW_ROOT.encode())
            at = tag.end()
    return b"".join((*pieces, body[at:]))
