"""Each format: its type is found from the bytes, and text, title, metadata and links come out."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable

import pytest
from support import files
from support.compound import compound, old_presentation, outlook_message
from support.sentences import sentence

from ultracrawl.content.converters.conversion import Budget, ConversionLimits, Sink
from ultracrawl.content.converters.office.ole import read_ole
from ultracrawl.content.converters.registry import (
    BUILT_IN_TYPES,
    CONVERTERS,
    GROUPS,
    converter_for,
    is_installed,
    missing,
)
from ultracrawl.content.mime import sniff_type
from ultracrawl.model import Conversion

Convert = Callable[..., Conversion]
LINK = "https://x.example/l"
OOXML = "application/vnd.openxmlformats-officedocument"

FORMATS: dict[str, tuple[bytes, str, str, str, dict[str, list[str]]]] = {
    "pdf": (
        files.pdf(["needle", "second"], link=LINK, title="T", author="Ann Author"),
        "application/pdf",
        "needle second",
        "de-DE",
        {
            "author": ["Ann Author"],
            "subject": ["Testing"],
            "keywords": ["alpha", "beta", "gamma"],
            "created": ["2024-03-01T12:00:00+01:00"],
            "application": ["a hand"],
            "producer": ["a test"],
            "pages": ["2"],
        },
    ),
    "docx": (
        files.docx(link=LINK),
        f"{OOXML}.wordprocessingml.document",
        "needle cell one cell two",
        "fr",
        {"author": ["Ann Author"], "subject": ["Testing"], "keywords": ["alpha", "beta"]},
    ),
    "pptx": (
        files.pptx(link=LINK),
        f"{OOXML}.presentationml.presentation",
        "Slide 0 needle note 0 Slide 1 needle note 1",
        "",
        {"author": ["Ann Author"]},
    ),
    "xlsx": (
        files.xlsx(link=LINK),
        f"{OOXML}.spreadsheetml.sheet",
        "First needle 42 1.5 2024-03-01 True see Second other",
        "",
        {"author": ["Ann Author"], "pages": ["2"]},
    ),
    "odt": (
        files.odt(link=LINK),
        "application/vnd.oasis.opendocument.text",
        "Heading needle after link",
        "",
        {"author": ["Ann Author"], "keywords": ["alpha"]},
    ),
    "epub": (
        files.epub(link=LINK),
        "application/epub+zip",
        "needle last chapter xy",
        "sv",
        {"author": ["Ann Author"], "keywords": ["alpha"]},
    ),
    "rtf": (
        files.rtf(link=LINK),
        "application/rtf",
        "needlesee end",
        "",
        {
            "author": ["José Author"],
            "keywords": ["alpha", "beta"],
            "created": ["2024-03-01T12:00:00"],
            "pages": ["2"],
        },
    ),
    "mail": (
        files.message(
            html=f"<p>in html <a href='{LINK}'>x</a>", attachments={"a.pdf": files.pdf(["inside"])}
        ),
        "message/rfc822",
        "in html x needle a.pdf inside",
        "",
        {
            "author": ["Ann Author <ann@mail.example>"],
            "to": ["Bob <bob@mail.example>"],
            "created": ["2024-03-01T12:00:00+00:00"],
            "message_id": ["<1@mail.example>"],
            "attachments": ["a.pdf"],
        },
    ),
}


def test_formats(converted: Convert, subtests: pytest.Subtests) -> None:
    for case, (body, media_type, text, language, metadata) in FORMATS.items():
        with subtests.test(case):
            assert sniff_type(body) == media_type
            found = converted(body)
            assert found.text == text
            assert found.title == ("Grüße T" if case == "mail" else "T")
            assert found.language == language
            assert found.links == (LINK,)
            assert {name: found.metadata.get(name) for name in metadata} == metadata
            assert found.truncated == ""


def test_outlook_messages(converted: Convert) -> None:
    body = outlook_message("Grüße T", "needle", "Ann Author", attachments={"a.pdf": files.pdf(["inside"])})
    assert sniff_type(body) == "application/vnd.ms-outlook"
    found = converted(body)
    assert (found.title, found.text) == ("Grüße T", "needle a.pdf inside")
    assert found.metadata == {
        "subject": ["Grüße T"],
        "author": ['"Ann Author" <ann@mail.example>'],
        "to": ["Bob <bob@mail.example>"],
        "created": ["2024-03-01T12:00:00+00:00"],
        "attachments": ["a.pdf"],
    }


def test_presentations_of_before_2007(converted: Convert) -> None:
    body = old_presentation("needle slide", "second text")
    assert sniff_type(body) == "application/vnd.ms-powerpoint"
    assert converted(body).text == "needle slide second text"


TEXTS: dict[str, tuple[str, bytes, Conversion]] = {
    "csv": (
        "text/csv",
        'Name;Town\n"Ann; B.";Växjö\n'.encode(),
        Conversion(text="Name Town Ann; B. Växjö", metadata={"columns": ["Name", "Town"], "rows": ["2"]}),
    ),
    "tsv": (
        "text/tab-separated-values",
        b"a\tb\n",
        Conversion(text="a b", metadata={"columns": ["a", "b"], "rows": ["1"]}),
    ),
    "markdown": (
        "text/markdown",
        b"---\ntitle: 'T'\ntags: [a, b]\nlang: sv\n---\n# H & I\n\nneedle [x](rel.md)\n\n"
        b"| a | b |\n|--|--|\n| c | d |\n",
        Conversion("T", "H & I needle x a b c d", "sv", {"keywords": ["a", "b"]}, ("rel.md",)),
    ),
    "markdown-heading": ("text/markdown", b"# *Big* & more\n", Conversion("Big & more", "Big & more")),
    "xml": (
        "application/xml",
        b'<?xml version="1.0"?><!DOCTYPE a SYSTEM "a.dtd">'
        b'<a xml:lang="sv"><title>T</title><p>one<b>two</b>three</p></a>',
        Conversion("T", "T one two three", "sv"),
    ),
    "rss": (
        "application/rss+xml",
        f"<rss><channel><title>T</title><item><link>{LINK}</link></item></channel></rss>".encode(),
        Conversion("T", f"T {LINK}", links=(LINK,)),
    ),
    "svg": (
        "image/svg+xml",
        b"<svg><style>p{}</style><title>T</title><text>needle</text></svg>",
        Conversion("T", "T needle"),
    ),
    "json": (
        "application/json",
        json.dumps({"title": "T", "author": "A", "list": [1, {"deep": LINK}], "no": None}).encode(),
        Conversion("T", f"title T author A list 1 deep {LINK} no", metadata={"author": ["A"]}, links=(LINK,)),
    ),
    "json-lines": ("application/x-ndjson", b'{"a": 1}\n\n"b"\n', Conversion(text="a 1 b")),
    "flat-odf": (
        "application/vnd.oasis.opendocument.text-flat-xml",
        b"<office:document xmlns:office='o' xmlns:text='t'><office:meta><dc:creator xmlns:dc='d'>Ann</dc:creator>"
        b"</office:meta><office:body><text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
        b"<text:p>a<text:s/>b</text:p></office:body></office:document>",
        Conversion(text="a b", metadata={"last_modified_by": ["Ann"], "author": ["Ann"]}),
    ),
    "mbox": (
        "application/mbox",
        b"From a@x Mon\nFrom: a@x\nSubject: One\n\nfirst\nFrom here on\n\n"
        b"From b@x Tue\nFrom: b@x\nSubject: Two\n\nsecond\n",
        Conversion(
            text="One first From here on Two second", metadata={"author": ["a@x", "b@x"], "messages": ["2"]}
        ),
    ),
}


def test_textual_formats(converted: Convert, subtests: pytest.Subtests) -> None:
    for case, (media_type, body, expected) in TEXTS.items():
        with subtests.test(case):
            assert converted(body, media_type) == expected


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("PNG", {"author", "description"}),
        ("JPEG", {"author", "description", "created"}),
        ("WEBP", {"created"}),
    ],
)
def test_images(converted: Convert, kind: str, names: set[str]) -> None:
    found = converted(files.image(kind))
    assert found.metadata["width"] == ["4"]
    assert found.metadata["height"] == ["3"]
    assert names <= found.metadata.keys()
    assert "needle" in found.text


def test_p5_no_pixel_of_an_image_is_unfolded(converted: Convert) -> None:
    whole = files.image("PNG")
    cut = whole[: whole.index(b"IDAT") + 4]  # whoever asks for pixels fails
    assert converted(cut).metadata["width"] == ["4"]


def test_iptc_of_an_image(converted: Convert) -> None:
    records = {(1, 90): b"\x1b%G", (2, 5): "Grüße T".encode(), (2, 55): b"20240301", (2, 60): b"120000+0100",
               (2, 80): b"Ann Author", (2, 90): b"Lund", (2, 101): b"Sweden", (2, 105): b"Testing",
               (2, 116): b"all rights", (2, 120): b"needle"}  # fmt: skip
    found = converted(files.image_with_iptc([*records.items(), ((2, 25), b"k1"), ((2, 25), b"k2")]))
    assert found.title == "Grüße T"
    assert found.text == "Grüße T needle k1 k2"
    del found.metadata["width"], found.metadata["height"]
    assert found.metadata == {
        "keywords": ["k1", "k2"],
        "author": ["Ann Author"],
        "city": ["Lund"],
        "country": ["Sweden"],
        "subject": ["Testing"],
        "rights": ["all rights"],
        "description": ["needle"],
        "created": ["2024-03-01T12:00:00+01:00"],
    }


@pytest.mark.parametrize(
    ("day", "time", "created"),
    [
        (b"20240301", b"", ["2024-03-01"]),
        (b"20240301", b"120000", ["2024-03-01T12:00:00"]),
        (b"20240000", b"120000", ["20240000 120000"]),
        (b"March", b"", ["March"]),
    ],
)
def test_dates_of_iptc(converted: Convert, day: bytes, time: bytes, created: list[str] | None) -> None:
    found = converted(files.image_with_iptc([((2, 55), day), ((2, 60), time)]))
    assert found.metadata.get("created") == created


def test_exif_in_utf_8(converted: Convert) -> None:
    assert converted(files.image("JPEG", "Växjö")).metadata["description"] == ["Växjö"]


def test_xmp_of_a_pdf_fills_what_the_information_dictionary_lacks(converted: Convert) -> None:
    packet = (
        b"\n<x:xmpmeta xmlns:x='x' xmlns:rdf='r' xmlns:dc='d' xmlns:xmp='m'><rdf:RDF>"
        b"<rdf:Description rdf:about=''><dc:title><rdf:Alt><rdf:li>XT</rdf:li></rdf:Alt></dc:title>"
        b"<dc:creator><rdf:Seq><rdf:li>Xenia</rdf:li></rdf:Seq></dc:creator>"
        b"<dc:rights><rdf:Alt><rdf:li>all rights</rdf:li></rdf:Alt></dc:rights>"
        b"<xmp:CreateDate>1999-01-01</xmp:CreateDate><xmp:ModifyDate>2024-03-02</xmp:ModifyDate>"
        b"</rdf:Description></rdf:RDF></x:xmpmeta>"
    )
    found = converted(files.pdf() + packet)
    assert (found.title, found.text) == ("XT", "needle")
    assert found.metadata["author"] == ["Xenia"]
    assert found.metadata["rights"] == ["all rights"]
    assert found.metadata["created"] == ["2024-03-01T12:00:00+01:00"], "the document's own word wins"
    assert found.metadata["modified"] == ["2024-03-02"]
    assert converted(files.pdf(title="T") + packet[:-40]).title == "T", "a broken packet is passed over"


OLD_LINKS: dict[str, tuple[str, bytes]] = {
    "fields of Word, one byte a letter": (
        "WordDocument",
        b'see \x13 HYPERLINK "https://x.example/l" \x14here\x15 and',
    ),
    "fields of Word, two bytes a letter": (
        "WordDocument",
        '\x13 HYPERLINK  "https://x.example/l" \\o "tip"\x14'.encode("utf-16-le"),
    ),
    "monikers of Excel": ("Workbook", files.url_moniker(LINK) + b"rest"),
    "monikers of Excel that are broken": ("Workbook", files.url_moniker(LINK) + files.url_moniker(LINK)[:18]),
    "hyperlinks of PowerPoint": ("PowerPoint Document", files.slide_link(LINK) + b"\x0f\x00\xd7\x0f"),
}


@pytest.mark.parametrize("case", OLD_LINKS)
def test_links_of_documents_of_before_2007(case: str) -> None:
    name, stream = OLD_LINKS[case]
    sink = Sink(Budget(ConversionLimits()))
    read_ole(compound({name: stream.ljust(5000, b"\0")}), sink)
    assert sink.conversion().links == (LINK,)


def test_links_of_a_presentation_of_before_2007(converted: Convert) -> None:
    assert converted(old_presentation("needle", link=LINK)).links == (LINK,)


def test_xmp_of_an_image(converted: Convert) -> None:
    packet = (
        b"<x:xmpmeta xmlns:x='x' xmlns:rdf='r' xmlns:dc='d' xmlns:xmp='m'><rdf:Description rdf:about='' "
        b"xmp:CreateDate='2024-03-01'><dc:title><rdf:Alt><rdf:li>XT</rdf:li></rdf:Alt></dc:title><dc:subject><rdf:Bag>"
        b"<rdf:li>k1</rdf:li><rdf:li>k2</rdf:li></rdf:Bag></dc:subject></rdf:Description></x:xmpmeta>"
    )
    found = converted(files.image("GIF") + packet)
    assert found.title == "XT"
    assert found.metadata["keywords"] == ["k1", "k2"]
    assert found.metadata["created"] == ["2024-03-01"]


ARCHIVES = {
    "zip": files.zipped({"a/b.docx": files.docx(), "c.md": f"# H\n[x]({LINK})[y](c.md)", "d.bin": b"\0\1\2"}),
    "tar": files.tarred(
        {"a/b.docx": files.docx(), "c.md": f"# H\n[x]({LINK})[y](c.md)".encode(), "d.bin": b"\0\1\2"}
    ),
}
ARCHIVES["tgz"] = gzip.compress(ARCHIVES["tar"])
ARCHIVES["tbz"] = bz2.compress(ARCHIVES["tar"])
ARCHIVES["txz"] = lzma.compress(ARCHIVES["tar"])
ARCHIVES["7z"] = files.seven_zipped(
    {"a/b.docx": files.docx(), "c.md": f"# H\n[x]({LINK})[y](c.md)".encode(), "d.bin": b"\0\1\2"}
)


@pytest.mark.parametrize("case", ARCHIVES)
def test_archives(converted: Convert, case: str) -> None:
    found = converted(ARCHIVES[case])
    assert found.metadata == {"files": ["a/b.docx", "c.md", "d.bin"]}
    assert found.text == "a/b.docx needle cell one cell two T c.md H xy H d.bin"
    assert found.links == (LINK,), "relative links mean nothing outside the archive"
    assert found.title == ""


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_document_is_that_document(
    converted: Convert, compress: Callable[[bytes], bytes]
) -> None:
    found = converted(compress(files.pdf(title="T")))
    assert (found.title, found.text) == ("T", "needle")
    assert found.metadata["pages"] == ["1"]


def test_every_converter_has_its_types_and_every_group_is_convertible() -> None:
    assert all(set(group) <= set(BUILT_IN_TYPES) for group in GROUPS.values())
    assert set().union(*GROUPS.values()) == set(BUILT_IN_TYPES)
    for converter in CONVERTERS:
        assert bool(converter.needs) == bool(converter.install), converter
        assert all(converter_for(name) is converter for name in converter.types)


def test_what_is_missing_names_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ultracrawl.content.converters.registry.find_spec", lambda name: None)
    is_installed.cache_clear()
    try:
        assert missing("application/pdf").endswith("pip install 'ultracrawl[convert]'")
        assert missing("application/msword").endswith("pip install 'ultracrawl[convert,legacy]'")
        assert missing("application/x-7z-compressed").endswith("pip install 'ultracrawl[sevenzip]'")
        assert missing("text/markdown") == ""
        assert missing("video/mp4") == sentence("conversion.no_converter_for_video")
    finally:
        is_installed.cache_clear()


@pytest.mark.parametrize(
    ("pages", "marked"),
    [
        (["seen", "seen"], None),
        (["seen) Tj 3 Tr (unseen", "seen"], ["1"]),
        (["a) Tj 3 Tr (b", "c) Tj 3 Tr (d"], ["2"]),
        ([") Tj 3 Tr (recognised"], None),
    ],
    ids=["visible", "one page", "two pages", "a scan"],
)
def test_pages_of_a_pdf_with_invisible_text_beside_visible_text_are_counted(
    converted: Convert, pages: list[str], marked: list[str] | None
) -> None:
    found = converted(files.pdf(pages))
    assert found.metadata.get("invisible_text") == marked
    assert ("recognised" in found.text) is (marked is None and "recognised" in pages[0])
