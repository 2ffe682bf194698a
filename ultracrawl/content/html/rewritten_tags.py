"""Rewrites tags of a page that the parser would read otherwise than a browser: `noscript`, declarative shadow roots."""

from __future__ import annotations

import re

from ultracrawl.content.scanning import compile_for_bodies

_MARK = b"shadowrootmode"
_TAG = re.compile(rb"<(/?)template((?:[\s/][^<>]{0,1000}+)?+)>", re.IGNORECASE)
_IS_ROOT = re.compile(rb"""\sshadowrootmode\s*=\s*["']?(?:open|closed)\b""", re.IGNORECASE)
SHADOW_ROOT = "shadow-root"
"""The name of the elements that stand for shadow roots."""

NOSCRIPT = "noscript"
"""An attribute of the elements that stand for `noscript`."""
_HAS_NOSCRIPT = compile_for_bodies("<noscript")
_NOSCRIPT_TAG = rb"(?i)<(/?)noscript(?=[\t\n\f\r />])"
"""Only compiled for a page that has one."""


def show_shadow_roots(body: bytes) -> bytes:
    """Return a page in which declarative shadow roots are elements, so that the parser reads what is in them.

    Their content belongs to the page, unlike that of other templates.
    """
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


def set_noscript_apart(body: bytes) -> bytes:
    """Return a page in which each `noscript` is a `noframes`, the content of which the parser leaves as text.

    So does a browser that runs scripts: the content is for programs that cannot have the text of the page. As elements,
    what is not closed in it would hold the rest of the page.
    """
    if _HAS_NOSCRIPT.search(body) is None:
        return body
    return re.sub(_NOSCRIPT_TAG, lambda tag: b"</noframes" if tag[1] else b"<noframes noscript", body)
