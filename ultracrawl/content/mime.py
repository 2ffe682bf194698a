"""Media types: parses the declared type, detects the type of a body, and decides between the two."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable
from functools import lru_cache

from ultracrawl.content.containers import is_tar, ole_type, zip_type

_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,127}/[a-z0-9!#$&^_.+-]{1,127}")
"""RFC 6838, 4.2; the maximum length bounds caches that have types as keys."""
_SNIFFED_BYTES = 1445
"""Size of the resource header in the WHATWG MIME sniffing standard."""

ARCHIVES = (
    "application/zip",
    "application/x-zip-compressed",
    "application/x-tar",
    "application/gzip",
    "application/x-gzip",
    "application/x-bzip2",
    "application/x-xz",
)
_GENERIC = frozenset(
    {"", "application/octet-stream", "application/unknown", "unknown/unknown", "*/*", "text/plain"}
)
_UNCERTAIN = frozenset({"application/octet-stream", "text/plain", "application/xml"})
_GENERIC_CONTAINERS = frozenset({"application/zip", "application/x-ole-storage"})
_SIGNED = frozenset(
    {
        "application/pdf",
        "application/rtf",
        *ARCHIVES,
        "application/x-7z-compressed",
        "application/msword",
        "application/epub+zip",
        "application/json",
        "message/rfc822",
        "application/mbox",
    }
)
_SIGNED_PREFIXES = (
    "application/vnd.ms-",
    "application/vnd.openxmlformats-",
    "application/vnd.oasis.",
    "image/",
)
"""Formats with a signature in their first bytes."""
_CONTAINED = frozenset({"application/msword", "application/epub+zip"})
_CONTAINED_PREFIXES = ("application/vnd.ms-", "application/vnd.openxmlformats-")
"""Formats that are zip or OLE files, and so never plain text."""

_SIGNATURES = (
    (b"%PDF-", "application/pdf"),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"\xfd7zXZ\0", "application/x-xz"),
    (b"Rar!\x1a\x07", "application/x-rar-compressed"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"{\\rtf", "application/rtf"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"BM", "image/bmp"),
    (b"\0\0\1\0", "image/x-icon"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"OggS\0", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"MThd\0\0\0\6", "audio/midi"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"\x7fELF", "application/x-executable"),
    (b"MZ\x90\0", "application/x-msdownload"),
)
_SIGNED_STARTS = frozenset(signature[:1] for signature, _ in _SIGNATURES)
_WORDLIKE = (b"BM", b"BZh", b"ID3", b"fLaC", b"wOFF", b"wOF2")
"""Signatures that a text may start with (`BMW ...`); they only count if binary bytes follow."""
_BY_FORM_TYPE = {b"WEBP": "image/webp", b"WAVE": "audio/wave", b"AVI ": "video/avi"}
_MARKUP = re.compile(
    # The atomic group `(?>` prevents exponential backtracking over many comments.
    rb"\s*(?:<!--(?>.*?-->)\s*)*"
    rb"<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_ROOTS = (
    (re.compile(rb"<(?:\w+:)?(?:rss|rdf)\b", re.IGNORECASE), "application/rss+xml"),
    (re.compile(rb"<(?:\w+:)?feed\b", re.IGNORECASE), "application/atom+xml"),
    (re.compile(rb"<svg\b", re.IGNORECASE), "image/svg+xml"),
    (re.compile(rb"<html\b", re.IGNORECASE), "application/xhtml+xml"),
    (re.compile(rb"<wml\b", re.IGNORECASE), "text/vnd.wap.wml"),
    (
        re.compile(rb"<office:document\b[^>]*opendocument.text\b"),
        "application/vnd.oasis.opendocument.text-flat-xml",
    ),
)
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_MESSAGE = re.compile(
    rb"(?:From [^\r\n]+\r?\n)?"
    rb"(?:Return-Path|Received|Delivered-To|MIME-Version|Message-ID): [^\r\n]+\r?\n(?:[ \t][^\r\n]*\r?\n)*"
    rb"(?:[!-9;-~]+:[^\r\n]*\r?\n(?:[ \t][^\r\n]*\r?\n)*){1,50}",
    re.IGNORECASE,
)
"""The headers of a message as mail servers write them; a text with a colon is not enough."""
_MAIL = frozenset({"message/rfc822", "application/mbox"})
_EQUIVALENT = (_MAIL, frozenset({"application/gzip", "application/x-gzip"}))
"""Types that count as equal when the declared one is checked."""


def declared_type(content_type: str) -> str:
    """Return the media type of a Content-Type value, in lower case without parameters, or empty."""
    name = content_type.partition(";")[0].partition(",")[0].strip().lower()
    return name if _TYPE.fullmatch(name) else ""


def sniff_type(body: bytes) -> str:
    """Return the media type of the first bytes; `application/octet-stream` if it cannot be detected."""
    head = body[:_SNIFFED_BYTES]
    if head[:1] in _SIGNED_STARTS:
        for signature, name in _SIGNATURES:
            if head.startswith(signature) and (signature not in _WORDLIKE or _BINARY.search(head)):
                return _inside(name, body)
    if head.startswith(b"RIFF"):
        return _BY_FORM_TYPE.get(head[8:12], "application/octet-stream")
    if head[4:8] == b"ftyp":
        return "video/mp4"
    if is_tar(head):
        return "application/x-tar"
    return _sniff_text(head)


def _inside(name: str, body: bytes) -> str:
    """Return the type of the format inside a zip or OLE container; other types are returned unchanged."""
    if name == "application/zip":
        return zip_type(body)
    return ole_type(body) if name == "application/x-ole-storage" else name


def _sniff_text(head: bytes) -> str:
    head = _in_utf8(head)
    if _MARKUP.match(head):
        return "text/html"
    if head.lstrip().startswith(b"<?xml"):
        return next((name for root, name in _ROOTS if root.search(head)), "application/xml")
    if _BINARY.search(head):
        return "application/octet-stream"
    if not _MESSAGE.match(head):
        return "text/plain"
    return "application/mbox" if head.startswith(b"From ") else "message/rfc822"


def _in_utf8(head: bytes) -> bytes:
    """Return the beginning of a text in UTF-16 in UTF-8, and any other without its byte order mark."""
    codec = ""
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        codec = "utf-16"
    elif 0 in head:
        from ultracrawl.content.charset.distinctions import utf16_codec  # noqa: PLC0415 - few texts have zeros

        codec = utf16_codec(head)
    head = head.decode(codec, "ignore").encode("utf-8", "ignore") if codec else head
    return head.removeprefix(BOM_UTF8)


def effective_type(content_type: str, body: bytes, *, detect: bool = False) -> str:
    """Return the declared or the detected media type.

    The declared type wins, with three exceptions: it is missing or generic (`application/octet-stream`); it is text and
    the bytes are binary (Ultra Search status 1009); it has a signature (PDF, Office, archives, images, JSON, XML, mail)
    and the bytes are certainly of another format. With `detect` (FAST `force_mimetype_detection`) the detected type
    wins unless it is generic.
    """
    declared = declared_type(content_type)
    if not detect and is_certain(declared):
        signed = declared in _SIGNED or declared.startswith(_SIGNED_PREFIXES) or declared.endswith("xml")
        return _checked(declared, body) if signed else declared
    if not detect and declared.startswith("text/") and body[:_SNIFFED_BYTES].lstrip().startswith(b"<?xml"):
        return declared  # XML is text, whatever its root is
    is_utf16 = "utf-16" in content_type.lower()
    sniffed = sniff_type(body)
    if is_utf16 and sniffed == "application/octet-stream":
        sniffed = sniff_type(body[: 2 * _SNIFFED_BYTES].replace(b"\0", b""))
    if sniffed in _MAIL and declared.startswith("text/"):
        return declared  # texts may start like a message
    is_generic = not declared or (declared in _GENERIC and declared != "text/plain")
    if not declared or ((detect or is_generic) and sniffed not in _GENERIC):
        return sniffed
    is_wrong = (
        declared.startswith("text/") and not sniffed.startswith("text/") and not sniffed.endswith("xml")
    )
    return sniffed if is_wrong and body else declared


def _checked(declared: str, body: bytes) -> str:
    """Return the declared type of a format with a signature, or the type of the bytes if they differ for certain."""
    sniffed = sniff_type(body)
    if declared.endswith("xml") and (sniffed.startswith("text/") or sniffed.endswith("xml")):
        return declared
    if {declared, sniffed} in _EQUIVALENT:
        return declared
    if sniffed == "text/plain" and (declared in _CONTAINED or declared.startswith(_CONTAINED_PREFIXES)):
        return sniffed  # for example CSV declared as a workbook
    is_doubtful = sniffed in _UNCERTAIN or (sniffed in _GENERIC_CONTAINERS and declared != sniffed)
    return declared if is_doubtful else sniffed


def is_certain(declared: str) -> bool:
    """Return whether a declared type is neither missing, generic nor text, so that the bytes hardly matter."""
    return bool(declared) and not declared.startswith("text/") and declared not in _GENERIC


def type_matches(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a media type matches one of `patterns`; `*` replaces a whole part (`text/*`, `*/*`)."""
    return _matches(name, tuple(patterns))


@lru_cache(maxsize=1024)
def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    main, _, _ = name.partition("/")
    types = {pattern.partition(";")[0].strip().lower() for pattern in patterns}
    return not types.isdisjoint({name.lower(), f"{main.lower()}/*", "*/*"})
