"""Media types: declared, sniffed, believed, matched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.content.mime import declared_type, effective_type, sniff_type, type_matches


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("Text/HTML; charset=utf-8", "text/html"),
        (" text/plain ", "text/plain"),
        ("text/html, text/html", "text/html"),
        ("text", ""),
        ("", ""),
        ("a b/c", ""),
        (f"text/{'x' * 127}", f"text/{'x' * 127}"),
        (f"text/{'x' * 128}", ""),
        (f"{'x' * 128}/html", ""),
    ],
)
def test_mime_declared(value: str, name: str) -> None:
    assert declared_type(value) == name


@pytest.mark.parametrize(
    ("body", "name"),
    [
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
    ],
)
def test_mime_sniffed(body: bytes, name: str) -> None:
    assert sniff_type(body) == name


@pytest.mark.parametrize(
    ("declared", "body", "detect", "name"),
    [
        pytest.param("text/html", b"<p>x", False, "text/html", id="honest"),
        pytest.param("text/html", b"%PDF-1.4", False, "application/pdf", id="pdf-as-html"),
        pytest.param("text/plain", b"PK\x03\x04", False, "application/zip", id="zip-as-text"),
        pytest.param("text/plain", b"\0\1\2", False, "application/octet-stream", id="binary-as-text"),
        pytest.param("text/plain", b"<html>", False, "text/plain", id="source-shown-as-text"),
        pytest.param("text/plain", b"<html>", True, "text/html", id="detection-wins"),
        pytest.param("application/msword", b"words", True, "application/msword", id="generic-does-not-win"),
        pytest.param("", b"<html>", False, "text/html", id="none-declared"),
        pytest.param("application/x-page", b"<html>", False, "application/x-page", id="declared-counts"),
        pytest.param("application/pdf", b"<html>", False, "text/html", id="page-as-pdf"),
        pytest.param("application/pdf", b"plain words", False, "application/pdf", id="uncertain-as-pdf"),
        pytest.param("application/octet-stream", b"%PDF-1.4", False, "application/pdf", id="nothing-said"),
        pytest.param("application/msword", b"{\\rtf1 x}", False, "application/rtf", id="rtf-as-word"),
        pytest.param(
            "text/plain", b"MIME-Version: 1.0\nSubject: x\n\ny", False, "text/plain", id="mail-as-text"
        ),
        pytest.param("text/plain", b"\0\1\2", False, "application/octet-stream", id="binary"),
        pytest.param("text/html", "<p>x".encode("utf-16-le"), False, "text/html", id="utf-16-without-mark"),
        pytest.param("text/plain; charset=UTF-16LE", b"a\0b\0", False, "text/plain", id="utf-16-declared"),
        pytest.param("application/json", b"%PDF-1.4", False, "application/pdf", id="pdf-as-json"),
        pytest.param("application/json", b"<!doctype html><p>", False, "text/html", id="page-as-json"),
        pytest.param("application/json", b'{"a": 1}', False, "application/json", id="json"),
        pytest.param("application/xml", b"%PDF-1.4", False, "application/pdf", id="pdf-as-xml"),
        pytest.param("application/xhtml+xml", b"<html>", False, "application/xhtml+xml", id="xhtml"),
        pytest.param(
            "application/xml", b"<?xml version='1.0'?><rss>", False, "application/xml", id="rss-as-xml"
        ),
        pytest.param("application/gzip", b"%PDF-1.4", False, "application/pdf", id="pdf-as-gzip"),
        pytest.param("application/x-gzip", b"\x1f\x8b\x08\0", False, "application/x-gzip", id="alias"),
        pytest.param(
            "message/rfc822",
            b"From a@x\nMIME-Version: 1.0\n\ny",
            False,
            "message/rfc822",
            id="mailbox-as-message",
        ),
        pytest.param("image/png", b"\xff\xd8\xff\xe0", False, "image/jpeg", id="jpeg-as-png"),
        pytest.param("image/svg+xml", b"<svg>", False, "image/svg+xml", id="svg"),
        pytest.param("message/rfc822", b"%PDF-1.4", False, "application/pdf", id="pdf-as-mail"),
        pytest.param("message/rfc822", b"Subject: x\n\ny", False, "message/rfc822", id="mail"),
        pytest.param("text/csv", b"BMW;Volvo\n", False, "text/csv", id="text-like-a-bitmap"),
        pytest.param("text/xml", b"<?xml version='1.0'?><a/>", False, "text/xml", id="xml"),
        pytest.param("text/html", b" <?xml version='1.0'?><svg>", False, "text/html", id="svg-as-page"),
        pytest.param(
            "text/html", b"<?xml version='1.0'?><rss>", True, "application/rss+xml", id="rss-detected"
        ),
        pytest.param("text/html", b"", False, "text/html", id="empty-body"),
    ],
)
def test_mime_effective(declared: str, body: bytes, detect: bool, name: str) -> None:
    assert effective_type(declared, body, detect=detect) == name


@pytest.mark.parametrize(
    ("name", "patterns", "matches"),
    [
        ("text/html", ["text/*"], True),
        ("Text/HTML", ["TEXT/html; q=1"], True),
        ("application/pdf", ["*/*"], True),
        ("application/pdf", ["text/*", "image/*"], False),
        ("text/html", ["*/html"], False),
        ("application/msword", ["application/ms*"], False),
        ("text/html", [], False),
    ],
)
def test_mime_matches(name: str, patterns: list[str], matches: bool) -> None:
    assert type_matches(name, patterns) is matches


@given(st.binary(max_size=200), st.text(max_size=30))
def test_mime_never_raises(body: bytes, declared: str) -> None:
    assert effective_type(declared, body)
