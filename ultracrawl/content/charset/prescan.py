"""Finds the encoding that a page declares in its first bytes (HTML Standard, "prescan a byte stream")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ultracrawl.content.charset.encodings import FALLBACK, codec_of

PRESCAN_BYTES = 16384
"""Bytes searched for a declaration; the standard requires 1024 and lets the parser find later ones."""
_HEAD_BYTES = 1024
"""Most pages declare the encoding within these bytes."""

_TOKEN = re.compile(rb"<(?:!--|(meta)[\s/]|(/?[a-z][^\s/>]*)|([!/?]))", re.IGNORECASE)
_COMMENT_END = re.compile(rb"-->")
_ATTRIBUTE = re.compile(
    rb"""[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*)|(?=>)|(?=["'])))?"""
)
_ATTRIBUTES_END = re.compile(rb"[\s/]*>")
_CONTENT_CHARSET = re.compile(r"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE)
_TEXT_BETWEEN_TAGS = re.compile(rb""">[^<>"'=]+<""")
"""Text between two tags: it contains no declaration, but differs between pages, which would spoil the cache."""
_XML = re.compile(rb"""<\?xml\s[^>]*?\bencoding\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def declared_in_html(body: bytes) -> str:
    """Return the codec that a META element near the start declares, or empty."""
    head = body[:_HEAD_BYTES]
    if (at := head.lower().find(b"charset")) >= 0:
        if codec := _declared_in_head(_TEXT_BETWEEN_TAGS.sub(b"><", head[: head.find(b">", at) + 1])):
            return codec
    elif b"charset" not in body[:PRESCAN_BYTES].lower():
        return ""
    return _declared_in(body[:PRESCAN_BYTES])


def _declared_in(head: bytes) -> str:
    for attributes in _metas(head):
        if codec := _declared_by(attributes):
            return "utf-8" if codec.startswith("utf-16") else codec
    return ""


_declared_in_head = lru_cache(maxsize=256)(_declared_in)
"""Cached, since pages of a site start alike up to their declaration."""


def declared_in_xml(body: bytes) -> str:
    """Return the codec that an XML declaration at the very start names, or empty."""
    match = _XML.match(body[:PRESCAN_BYTES])
    if match is None:
        return ""
    codec = codec_of((match[1] or match[2] or b"").decode("latin-1"))
    return "utf-8" if codec.startswith("utf-16") else codec


@lru_cache(maxsize=256)
def charset_parameter(value: str) -> str:
    """Return the codec in the `charset` parameter of a Content-Type value, or empty."""
    match = _CONTENT_CHARSET.search(value)
    return codec_of(match[1] or match[2] or match[3] or "") if match else ""


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
    attributes: dict[bytes, bytes] = {}
    while not (end := _ATTRIBUTES_END.match(head, position)):
        attribute = _ATTRIBUTE.match(head, position)
        if attribute is None or attribute.end() >= len(head):
            return {}, len(head)
        value = attribute[2] or attribute[3] or attribute[4] or b""
        attributes.setdefault(attribute[1].lower(), value)
        position = attribute.end()
    return attributes, end.end()


def _declared_by(attributes: dict[bytes, bytes]) -> str:
    if b"charset" in attributes:
        label = attributes[b"charset"].decode("latin-1")
        return FALLBACK if label.strip().lower() == "x-user-defined" else codec_of(label)
    if attributes.get(b"http-equiv", b"").lower() != b"content-type":
        return ""
    return charset_parameter(attributes.get(b"content", b"").decode("latin-1"))
