"""Media types: declared, sniffed, believed, matched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.content.mime import declared_type, effective_type, sniff_type, type_matches

DECLARED = [
    ("Text/HTML; charset=utf-8", "text/html"),
    (" text/plain ", "text/plain"),
    ("text/html, text/html", "text/html"),
    ("text", ""),
    ("", ""),
    ("a b/c", ""),
    (f"text/{'x' * 127}", f"text/{'x' * 127}"),
    (f"text/{'x' * 128}", ""),
    (f"{'x' * 128}/html", ""),
]


def test_mime_declared(subtests: pytest.Subtests) -> None:
    for value, name in DECLARED:
        with subtests.test(value):
            assert declared_type(value) == name


SNIFFED: list[tuple[bytes, str]] = [
    (b"%PDF-1.7", "application/pdf"),
    (b"PK\x03\x04...", "application/zip"),
    (b"\x1f\x8b\x08\0", "application/gzip"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff\xe0", "image/jpeg"),
    (b"GIF89a", "image/gif"),
    (b"RIFF\0\0\0\0WEBPVP", "image/webp"),
    (b"\0\0\0\x18ftypmp42", "video/mp4"),
    (b"{\\rtf1", "application/rtf"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"  <!DOCTYPE HTML>", "text/html"),
    (b"<!-- x --><html >", "text/html"),
    (b"\xef\xbb\xbf<html>", "text/html"),
    ("\ufeff<html>".encode("utf-16-le"), "text/html"),
    (b'<?xml version="1.0"?><rss>', "application/rss+xml"),
    (b'<?xml version="1.0"?><html>', "application/xhtml+xml"),
    (b'<?xml version="1.0"?><x/>', "application/xml"),
    (b"just words", "text/plain"),
    (b"BMW and other words", "text/plain"),
    (b"BM\x46\0\0\0\0\0", "image/bmp"),
    (b"BZhang wrote this", "text/plain"),
    (b"ID3 is a tag", "text/plain"),
    (b"From a@x Mon\nMIME-Version: 1.0\nSubject: x\n\ny", "application/mbox"),
    (b"MIME-Version: 1.0\nSubject: x\n\ny", "message/rfc822"),
    ("Grüße".encode(), "text/plain"),
    (b"\x00\x01\x02\x03", "application/octet-stream"),
    (b"", "text/plain"),
]


def test_mime_sniffed(subtests: pytest.Subtests) -> None:
    for body, name in SNIFFED:
        with subtests.test(body=body, name=name):
            assert sniff_type(body) == name


EFFECTIVE: dict[str, tuple[str, bytes, bool, str]] = {
    "honest": ("text/html", b"<p>x", False, "text/html"),
    "pdf-as-html": ("text/html", b"%PDF-1.4", False, "application/pdf"),
    "zip-as-text": ("text/plain", b"PK\x03\x04", False, "application/zip"),
    "binary-as-text": ("text/plain", b"\0\1\2", False, "application/octet-stream"),
    "source-shown-as-text": ("text/plain", b"<html>", False, "text/plain"),
    "detection-wins": ("text/plain", b"<html>", True, "text/html"),
    "generic-does-not-win": ("application/msword", b"words", True, "application/msword"),
    "none-declared": ("", b"<html>", False, "text/html"),
    "declared-counts": ("application/x-page", b"<html>", False, "application/x-page"),
    "page-as-pdf": ("application/pdf", b"<html>", False, "text/html"),
    "uncertain-as-pdf": ("application/pdf", b"plain words", False, "application/pdf"),
    "nothing-said": ("application/octet-stream", b"%PDF-1.4", False, "application/pdf"),
    "rtf-as-word": ("application/msword", b"{\\rtf1 x}", False, "application/rtf"),
    "mail-as-text": ("text/plain", b"MIME-Version: 1.0\nSubject: x\n\ny", False, "text/plain"),
    "binary": ("text/plain", b"\0\1\2", False, "application/octet-stream"),
    "utf-16-without-mark": ("text/html", "<p>x".encode("utf-16-le"), False, "text/html"),
    "utf-16-declared": ("text/plain; charset=UTF-16LE", b"a\0b\0", False, "text/plain"),
    "pdf-as-json": ("application/json", b"%PDF-1.4", False, "application/pdf"),
    "page-as-json": ("application/json", b"<!doctype html><p>", False, "text/html"),
    "json": ("application/json", b'{"a": 1}', False, "application/json"),
    "pdf-as-xml": ("application/xml", b"%PDF-1.4", False, "application/pdf"),
    "xhtml": ("application/xhtml+xml", b"<html>", False, "application/xhtml+xml"),
    "rss-as-xml": ("application/xml", b"<?xml version='1.0'?><rss>", False, "application/xml"),
    "pdf-as-gzip": ("application/gzip", b"%PDF-1.4", False, "application/pdf"),
    "alias": ("application/x-gzip", b"\x1f\x8b\x08\0", False, "application/x-gzip"),
    "mailbox-as-message": ("message/rfc822", b"From a@x\nMIME-Version: 1.0\n\ny", False, "message/rfc822"),
    "jpeg-as-png": ("image/png", b"\xff\xd8\xff\xe0", False, "image/jpeg"),
    "svg": ("image/svg+xml", b"<svg>", False, "image/svg+xml"),
    "pdf-as-mail": ("message/rfc822", b"%PDF-1.4", False, "application/pdf"),
    "mail": ("message/rfc822", b"Subject: x\n\ny", False, "message/rfc822"),
    "text-like-a-bitmap": ("text/csv", b"BMW;Volvo\n", False, "text/csv"),
    "xml": ("text/xml", b"<?xml version='1.0'?><a/>", False, "text/xml"),
    "svg-as-page": ("text/html", b" <?xml version='1.0'?><svg>", False, "text/html"),
    "rss-detected": ("text/html", b"<?xml version='1.0'?><rss>", True, "application/rss+xml"),
    "empty-body": ("text/html", b"", False, "text/html"),
}


def test_mime_effective(subtests: pytest.Subtests) -> None:
    for case, (declared, body, detect, name) in EFFECTIVE.items():
        with subtests.test(case):
            assert effective_type(declared, body, detect=detect) == name


MATCHES: list[tuple[str, list[str], bool]] = [
    ("text/html", ["text/*"], True),
    ("Text/HTML", ["TEXT/html; q=1"], True),
    ("application/pdf", ["*/*"], True),
    ("application/pdf", ["text/*", "image/*"], False),
    ("text/html", ["*/html"], False),
    ("application/msword", ["application/ms*"], False),
    ("text/html", [], False),
]


def test_mime_matches(subtests: pytest.Subtests) -> None:
    for name, patterns, matches in MATCHES:
        with subtests.test(name, patterns=patterns):
            assert type_matches(name, patterns) is matches


@given(st.binary(max_size=200), st.text(max_size=30))
def test_mime_never_raises(body: bytes, declared: str) -> None:
    assert effective_type(declared, body)
