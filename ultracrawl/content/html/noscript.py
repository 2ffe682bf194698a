"""Sets `noscript` apart, as a browser does that runs scripts: its content is text, and says nothing about the page.

It is written for programs that cannot have the text of the page: notices, redirects to a notice. As elements, what is
not closed in it would hold the rest of the page.
"""

from __future__ import annotations

import re

from ultracrawl.content.scanning import compile_for_bodies

_ANY = compile_for_bodies("<noscript")
_TAG = re.compile(rb"<(/?)noscript(?=[\t\n\f\r />])", re.IGNORECASE)
NOSCRIPT = "noscript"
"""An attribute of the elements that stand for `noscript`."""


def set_noscript_apart(body: bytes) -> bytes:
    """Return a page in which each `noscript` is a `noframes`, the content of which the parser leaves as text."""
    if _ANY.search(body) is None:
        return body
    return _TAG.sub(lambda tag: b"</noframes" if tag[1] else b"<noframes noscript", body)
