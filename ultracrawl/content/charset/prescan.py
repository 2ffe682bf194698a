"""Which encoding the first bytes of a page declare (HTML Standard, "prescan a byte stream")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ultracrawl.content.charset.encodings import FALLBACK, codec_of

PRESCAN_BYTES = 16384
"""How far a declaration is looked for; the standard asks for 1024 and lets the parser find later ones."""
_BEGINNING = 1024
"""Within so many bytes most pages declare it."""

_TOKEN = re.compile(rb"<(?:!--|(meta)[\s/]|(/?[a-z][^\s/>]*)|([!/?]))", re.IGNORECASE)
_COMMENT_END = re.compile(rb"-->")
_ATTRIBUTE = re.compile(
    rb"""[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*)|(?=>)|(?=["'])))?"""
)
_ATTRIBUTES_END = re.compile(rb"[\s/]*>")
_CONTENT_CHARSET = re.compile(r"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE)
_WORDS = re.compile(rb""">[^<>"'=]+<""")
"""What pages differ in before they declare it: what stands between two tags, which holds no declaration."""
_XML = re.compile(rb"""<\?xml\s[^>]*?\bencoding\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def declared_in_html(body: bytes) -> str:
    """Return the codec that a META element near the start declares, or empty."""
    beginning = body[:_BEGINNING]
    if (at := beginning.lower().find(b"charset")) >= 0:
        if codec := _declared_at_first(_WORDS.sub(b"><", beginning[: beginning.find(b">", at) + 1])):
            return codec
    elif b"charset" not in body[:PRESCAN_BYTES].lower():
        return ""
    return _declared_in(body[:PRESCAN_BYTES])


def _declared_in(head: bytes) -> str:
    for attributes in _metas(head):
        if codec := _declared_by(attributes):
            return "utf-8" if codec.startswith("utf-16") else codec
    return ""


_declared_at_first = lru_cache(maxsize=256)(_declared_in)
"""Pages of a site begin alike, up to their declaration."""


def declared_in_xml(body: bytes) -> str:
    """Return the codec that an XML declaration at the very start names, or empty."""
    found = _XML.match(body[:PRESCAN_BYTES])
    if found is None:
        return ""
    codec = codec_of((found[1] or found[2] or b"").decode("latin-1"))
    return "utf-8" if codec.startswith("utf-16") else codec


@lru_cache(maxsize=256)
def charset_parameter(value: str) -> str:
    """Return the codec in the `charset` parameter of a Content-Type value, or empty."""
    found = _CONTENT_CHARSET.search(value)
    return codec_of(found[1] or found[2] or found[3] or "") if found else ""


def _metas(head: bytes) -> Iterator[dict[bytes, bytes]]:
    position = 0
    while token := _TOKEN.search(head, position):
        position = token.end()
        if token[1] or token[2]:
            attributes, position = _attributes(head, position)
            if token[1]:
                yield attributes
        elif token[3]:
            position = head.find(b">", position) + 1 or len(head)
        else:
            end = _COMMENT_END.search(head, position - 2)
            position = end.end() if end else len(head)


def _attributes(head: bytes, position: int) -> tuple[dict[bytes, bytes], int]:
    found: dict[bytes, bytes] = {}
    while not (end := _ATTRIBUTES_END.match(head, position)):
        attribute = _ATTRIBUTE.match(head, position)
        if attribute is None or attribute.end() >= len(head):
            return {}, len(head)
        value = attribute[2] or attribute[3] or attribute[4] or b""
        found.setdefault(attribute[1].lower(), value)
        position = attribute.end()
    return found, end.end()


def _declared_by(attributes: dict[bytes, bytes]) -> str:
    if b"charset" in attributes:
        label = attributes[b"charset"].decode("latin-1")
        return FALLBACK if label.strip().lower() == "x-user-defined" else codec_of(label)
    if attributes.get(b"http-equiv", b"").lower() != b"content-type":
        return ""
    return charset_parameter(attributes.get(b"content", b"").decode("latin-1"))
