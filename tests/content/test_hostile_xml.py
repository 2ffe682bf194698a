"""Hostile XML over everything that reads XML: one guard, so one answer to a DTD, and bounded work."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from support import files
from support.sentences import sentence

from ultracrawl.content.converters.conversion import Budget, ConversionLimits, Sink, Source
from ultracrawl.content.converters.convert import convert
from ultracrawl.content.feeds.feed import parse_feed
from ultracrawl.content.feeds.sitemap import parse_sitemap
from ultracrawl.dialects.fast_xml.document import DocumentError, Element, parse_document
from ultracrawl.rules.attributes.list_file import ListFileError, read_value_lists

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
OPEN_DOCUMENT = "application/vnd.oasis.opendocument.text"


def converted(media_type: str, pack: Callable[[bytes], bytes] = lambda data: data) -> Callable[[bytes], str]:
    """Return what reads XML as (a part of) a document of a type."""

    def read(data: bytes) -> str:
        sink = Sink(Budget(ConversionLimits()))
        try:
            convert(Source(pack(data), media_type), sink)
        except (ValueError, LookupError) as error:  # an encoding that the parser does not know
            return str(error)
        return sink.conversion().text

    return read


def value_lists(data: bytes) -> str:
    try:
        return str(read_value_lists(data))
    except ListFileError as error:
        return str(error)


def fast(data: bytes) -> str:
    try:
        return words(parse_document(data))
    except DocumentError as error:
        return error.problem


def words(element: Element) -> str:
    return element.text + "".join(map(words, element.children))


def sitemap(data: bytes) -> str:
    found = parse_sitemap(data, "http://a.example/")
    return found.problem or " ".join(url.loc for url in found.urls)


def feed(data: bytes) -> str:
    found = parse_feed(data, "http://a.example/")
    return found.problem or found.text


READERS: dict[str, Callable[[bytes], str]] = {
    "sitemap": sitemap,
    "feed": feed,
    "value lists": value_lists,
    "FAST": fast,
    "XML document": converted("application/xml"),
    "SVG": converted("image/svg+xml"),
    "Word": converted(WORD, lambda data: files.zipped({"word/document.xml": data})),
    "Word, its properties": converted(
        WORD, lambda data: files.zipped({"word/document.xml": "<w/>", "docProps/core.xml": data})
    ),
    "Word, its links": converted(
        WORD, lambda data: files.zipped({"word/document.xml": "<w/>", "word/_rels/document.xml.rels": data})
    ),
    "OpenDocument": converted(OPEN_DOCUMENT, lambda data: files.zipped({"content.xml": data})),
    "flat OpenDocument": converted(f"{OPEN_DOCUMENT}-flat-xml"),
    "book": converted("application/epub+zip", lambda data: files.zipped({"META-INF/container.xml": data})),
    "image": converted(
        "image/jpeg",
        lambda data: files.image("JPEG") + b"<x:xmpmeta>".join(data.split(b"<root>")) + b"</x:xmpmeta>",
    ),
}
WHOLE = {name: read for name, read in READERS.items() if name != "image"}
"""Those that read a document from its beginning; a packet in an image begins after any DOCTYPE."""

LAUGHS = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha"}">' for n in range(10))
DECLARED = {
    "billion laughs": f"<!DOCTYPE root [{LAUGHS}]><root>&e9;</root>",
    "quadratic": f'<!DOCTYPE root [<!ENTITY a "{"x" * 50_000}">]><root>{"&a;" * 50_000}</root>',
    "an outside entity": '<!DOCTYPE root [<!ENTITY a SYSTEM "file:///etc/passwd">]><root>&a;</root>',
    "a parameter entity": '<!DOCTYPE root [<!ENTITY % a SYSTEM "http://127.0.0.1:9/x"> %a;]><root/>',
    "an attribute's default": '<!DOCTYPE root [<!ATTLIST root secret CDATA "told">]><root/>',
    "a notation": '<!DOCTYPE root [<!NOTATION n SYSTEM "run.exe">]><root/>',
    "entities that name each other": '<!DOCTYPE root [<!ENTITY a "&b;"><!ENTITY b "&a;">]><root>&a;</root>',
    "entities behind a long comment": f'<!--{" " * 9000}--><!DOCTYPE root [<!ENTITY a "told">]><root>&a;</root>',
}


def test_a_dtd_that_declares_something_ends_the_reading(subtests: pytest.Subtests) -> None:
    for reader, declared in product(WHOLE, DECLARED):
        with subtests.test(f"{reader}: {declared}"):
            said = WHOLE[reader](DECLARED[declared].encode())
            assert "has a DTD" in said or said == sentence("xml.dtd_refused")


def test_a_packet_in_an_image_has_no_place_for_a_dtd() -> None:
    said = READERS["image"](b'<root><!DOCTYPE root [<!ENTITY a "told">]>&a;')
    assert said.startswith("broken XML")


def test_another_encoding_does_not_hide_a_dtd(subtests: pytest.Subtests) -> None:
    for reader, encoding in product(WHOLE, ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"]):
        with subtests.test(f"{reader}: {encoding}"):
            said = WHOLE[reader](DECLARED["billion laughs"].encode(encoding))
            assert "haha" not in said
            assert len(said) < 200


OUTSIDE = {
    "outside": '<!DOCTYPE root PUBLIC "-//X//Y" "http://127.0.0.1:9/x.dtd"><root>&told;</root>',
    "bare": "<!DOCTYPE root><root>needle</root>",
}
PASSED_OVER = {
    ("outside", "FAST"): False,
    ("outside", "sitemap"): False,
    ("outside", "value lists"): False,
    ("bare", "FAST"): False,
}
"""A DTD that only stands elsewhere is common in documents, and is passed over there unread."""


def test_who_passes_over_a_doctype_that_declares_nothing(subtests: pytest.Subtests) -> None:
    for reader, kind in product(WHOLE, OUTSIDE):
        with subtests.test(f"{reader}: {kind}"):
            said = WHOLE[reader](OUTSIDE[kind].encode())
            refused = "has a DTD" in said or said == "declares a document type (DTD)"
            assert refused is not PASSED_OVER.get((kind, reader), True)


LARGE = {
    "deep": b"<root>" * 50_000 + b"</root>" * 50_000,
    "deep and open": b"<root>" * 50_000,
    "a long attribute": b'<root a="' + b"x" * 1_000_000 + b'"/>',
    "many attributes": b"<root " + b" ".join(b'a%d="x"' % n for n in range(30_000)) + b"/>",
    "a long name": b"<" + b"x" * 500_000 + b"/>",
    "many names": b"<root>" + b"".join(b"<x%d:a%d/>" % (n, n) for n in range(20_000)) + b"</root>",
    "a long comment": b"<!--" + b"- " * 500_000 + b"--><root/>",
    "an open comment": b"<!--" + b"- " * 500_000,
    "ampersands": b"<root>" + b"&" * 100_000 + b"</root>",
    "open angles": b"<" * 500_000,
}


def test_size_is_no_way_in(subtests: pytest.Subtests) -> None:
    for reader, large in product(READERS, LARGE):
        with subtests.test(f"{reader}: {large}"):
            assert isinstance(READERS[reader](LARGE[large]), str)


BROKEN = {
    "nothing": b"",
    "no element": b"<?xml version='1.0'?>",
    "NUL bytes": b"\0" * 1000,
    "half of a character": b"<root>\xe2\x82",
    "surrogates": b"<root>\xed\xa0\x80</root>",
    "an encoding of no text": b'<?xml version="1.0" encoding="zip"?><root/>',
    "an encoding that nobody knows": b'<?xml version="1.0" encoding="x-none"?><root/>',
    "an encoding that is none of the web": b'<?xml version="1.0" encoding="UTF-7"?><root>+ADw-b+AD4-</root>',
    "two encodings": b'\xff\xfe<?xml version="1.0" encoding="utf-8"?><root/>',
    "odd UTF-16": "<root>needle</root>".encode("utf-16")[:-1],
}


def test_broken_xml_is_reported_and_never_raised(subtests: pytest.Subtests) -> None:
    for reader, broken in product(READERS, BROKEN):
        with subtests.test(f"{reader}: {broken}"):
            assert isinstance(READERS[reader](BROKEN[broken]), str)
