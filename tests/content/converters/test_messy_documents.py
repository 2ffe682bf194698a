"""Documents as people really have them: nested, packed in pieces, in old encodings, encrypted, under a wrong name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import zipfile
from collections.abc import Callable
from datetime import UTC, date, datetime

import openpyxl
import pytest
from support import files, samples
from support.compound import compound, old_presentation, outlook_message
from support.sentences import sentence

from ultracrawl.content.converters.conversion import Budget, ConversionError, ConversionLimits, Sink
from ultracrawl.content.converters.office.ole import read_ole
from ultracrawl.content.mime import effective_type, sniff_type
from ultracrawl.model import Conversion
from ultracrawl.model.dates import parse_http_date

Convert = Callable[..., Conversion]
OOXML = "application/vnd.openxmlformats-officedocument"
LINK = "https://x.example/l"


def with_parts(package: bytes, parts: dict[str, str | bytes]) -> bytes:
    """Return a package with further parts, as they are stored by Office: not compressed."""
    out = io.BytesIO(package)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


# ---- documents inside documents


def test_a_presentation_with_a_workbook_inside_is_a_presentation(converted: Convert) -> None:
    body = with_parts(files.pptx(), {"ppt/embeddings/sheet.xlsx": files.xlsx()})
    assert sniff_type(body) == f"{OOXML}.presentationml.presentation"
    assert effective_type(f"{OOXML}.presentationml.presentation", body) == sniff_type(body)
    assert "Slide 0 needle" in converted(body).text


def test_presentations_with_charts_that_powerpoint_saved(converted: Convert) -> None:
    body = samples.in_pptx("cht-charts.pptx")
    assert sniff_type(body) == f"{OOXML}.presentationml.presentation"
    assert "Series 1 Category 1" in converted(body).text


@pytest.mark.parametrize("inner", [files.docx(), files.epub(), files.odt()], ids=["docx", "epub", "odt"])
def test_an_archive_of_a_document_is_an_archive(inner: bytes) -> None:
    assert sniff_type(with_parts(files.zipped({"readme.txt": "x"}), {"a.bin": inner})) == "application/zip"


def test_a_zip_file_with_a_wrong_end_is_known_by_its_names() -> None:
    assert sniff_type(files.docx()[:-4]) == f"{OOXML}.wordprocessingml.document"
    assert sniff_type(files.docx().replace(b"PK\x05\x06", b"PK\x05\x07")) == sniff_type(files.docx())


def test_a_message_with_an_old_document_attached_is_a_message(converted: Convert) -> None:
    body = outlook_message("S", "needle", "Ann", attachments={"a.ppt": old_presentation("inside")})
    assert sniff_type(body) == "application/vnd.ms-outlook"
    assert converted(body).text == "needle a.ppt inside"


def test_the_class_of_a_compound_file_counts_before_its_streams() -> None:
    body = bytearray(compound({"Workbook": b"x" * 5000, "MBD1": {"WordDocument": b"y" * 5000}}))
    assert sniff_type(bytes(body)) == "application/msword", "without a class the first known stream decides"
    root = (int.from_bytes(body[48:52], "little") + 1) << body[30]
    body[root + 80 : root + 96] = bytes.fromhex("20080200 0000 0000 C000 000000000046")
    assert sniff_type(bytes(body)) == "application/vnd.ms-excel"
    assert sniff_type(bytes(body[:600])) == "application/x-ole-storage"
    body[30:32] = b"\xff\xff"
    assert sniff_type(bytes(body)) == "application/msword", "a size of sectors that cannot be"


# ---- what stands beside the text

DIAGRAM = (
    '<d:dataModel xmlns:d="d" xmlns:a="a"><d:pt><a:p><a:r><a:t>Board</a:t></a:r></a:p></d:pt></d:dataModel>'
)
CHART = (
    '<c:chartSpace xmlns:c="c" xmlns:a="a"><a:p><a:r><a:t>Sales</a:t></a:r></a:p><c:cat><c:strRef><c:f>Sheet1!A1</c:f>'
    "<c:strCache><c:pt><c:v>North</c:v></c:pt><c:pt><c:v>South</c:v></c:pt></c:strCache></c:strRef></c:cat>"
    "<c:val><c:numRef><c:numCache><c:pt><c:v>4.3</c:v></c:pt></c:numCache></c:numRef></c:val></c:chartSpace>"
)
COMMENTS = (
    '<comments xmlns="c"><commentList><comment><text><r><t>check </t></r><r><t>this</t></r></text></comment>'
)
COMMENTS += "<comment><text><t>and that</t></text></comment></commentList></comments>"


@pytest.mark.parametrize(
    ("package", "part", "content", "text"),
    [
        (files.docx(), "word/diagrams/data1.xml", DIAGRAM, "Board"),
        (files.docx(), "word/charts/chart1.xml", CHART, "Sales North South"),
        (files.pptx(), "ppt/diagrams/data1.xml", DIAGRAM, "Board"),
        (files.pptx(), "ppt/charts/chart12.xml", CHART, "Sales North South"),
        (files.xlsx(), "xl/drawings/drawing1.xml", DIAGRAM, "Board"),
        (files.xlsx(), "xl/charts/chart1.xml", CHART, "Sales North South"),
        (files.xlsx(), "xl/comments1.xml", COMMENTS, "check this and that"),
    ],
)
def test_diagrams_charts_and_notes(
    converted: Convert, package: bytes, part: str, content: str, text: str
) -> None:
    assert converted(with_parts(package, {part: content})).text.endswith(f" {text}")


def test_hyphens_that_do_not_break(converted: Convert) -> None:
    body = files.docx()
    with zipfile.ZipFile(io.BytesIO(body)) as plain:
        members = {name: plain.read(name) for name in plain.namelist()}
    text = members["word/document.xml"]
    members["word/document.xml"] = text.replace(b">dle<", b">x</w:t><w:noBreakHyphen/><w:t>ray<")
    assert converted(files.zipped(members)).text.startswith("neex-ray cell one")


# ---- XHTML


@pytest.mark.parametrize(
    "empty", ["<title/>", '<script src="a.js" />', "<style/>", '<iframe src="x"/>', "<textarea/>", "<nav/>"]
)
def test_books_with_empty_elements(converted: Convert, empty: str) -> None:
    body = files.epub()
    with zipfile.ZipFile(io.BytesIO(body)) as plain:
        members = {name: plain.read(name) for name in plain.namelist()}
    chapter = next(name for name, content in members.items() if b"needle" in content)
    members[chapter] = (
        f"<html xmlns='h'><head>{empty}</head><body>{empty}<p>needle</p></body></html>".encode()
    )
    kind = members.pop("mimetype").decode()
    assert "needle" in converted(files.zipped(members, first=kind)).text


# ---- compressed files


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("padding", [b"", b"\0" * 8])
def test_compressed_files_of_several_streams(
    converted: Convert, compress: Callable[[bytes], bytes], padding: bytes
) -> None:
    tar = files.tarred({f"{number}.txt": f"word{number}".encode() for number in range(20)})
    half = len(tar) // 2
    found = converted(compress(tar[:half]) + padding + compress(tar[half:]) + padding)
    assert found.text.endswith("19.txt word19")
    assert found.truncated == ""


def test_what_follows_a_compressed_file_and_is_none_does_not_count(converted: Convert) -> None:
    assert converted(gzip.compress(b"# needle\n") + b"signature").truncated == ""


def test_what_comes_before_a_break_is_kept(converted: Convert) -> None:
    text = " ".join(f"word{number * 7919 % 100_003}" for number in range(30_000)).encode()
    packed = bytearray(gzip.compress(text))
    packed[-6] ^= 0xFF  # of the check sum
    found = converted(bytes(packed))
    assert found.text.startswith("word0 word7919 ")
    assert len(found.text) > len(text) // 2
    assert "broken" in found.truncated


def test_streams_share_one_limit(converted: Convert) -> None:
    found = converted(gzip.compress(b"a " * 500) + gzip.compress(b"b " * 500), unpacked=1500)
    assert found.text.count("b") == 250
    assert found.truncated == sentence("conversion.expands_too_far")


def test_names_in_utf_8_that_are_not_marked_as_such(converted: Convert) -> None:
    body = files.zipped({"......": "needle", "plain.txt": "x"}).replace(b"......", "日本".encode())
    assert converted(body).metadata["files"] == ["日本", "plain.txt"]
    latin = files.zipped({"......": "needle"}).replace(b"......", b"\x81.text")
    assert converted(latin).metadata["files"] == ["ü.text"]


@pytest.mark.parametrize(
    "media_type",
    [
        "application/vnd.ms-excel.template.macroenabled.12",
        "application/vnd.ms-powerpoint.template.macroenabled.12",
        "application/vnd.oasis.opendocument.graphics-template",
    ],
)
def test_templates(converted: Convert, media_type: str) -> None:
    made = {"excel": files.xlsx, "powerpoint": files.pptx}
    make = next((make for name, make in made.items() if name in media_type), files.odt)
    assert "needle" in converted(make(), media_type).text


# ---- encodings of XML


ENCODINGS = [
    ("euc-jp", "日本語の文章"),
    ("shift_jis", "日本語の文章"),
    ("gb2312", "联合国大会"),
    ("big5", "聯合國大會"),
    ("euc-kr", "한국어 문서"),
    ("koi8-r", "Съешь же ещё"),
    ("ibm855", "Съешь же"),
    ("utf-16", "日本語 Съешь"),
]


def test_xml_in_every_encoding(converted: Convert, subtests: pytest.Subtests) -> None:
    for codec, text in ENCODINGS:
        with subtests.test(codec):
            body = f'<?xml version="1.0" encoding="{codec}"?>\n<a><title>{text}</title></a>'.encode(codec)
            found = converted(body, "application/xml")
            assert (found.title, found.text) == (text, text)


def test_entities_that_are_declared_nowhere(converted: Convert) -> None:
    body = b"<?xml version='1.0'?><a><title>caf&eacute;</title><p t='&own;'>a&nbsp;b &own;c &lt;</p></a>"
    found = converted(body, "application/rss+xml")
    assert (found.title, found.text) == ("café", "café a b c <")
    outside = body.replace(b"?><a>", b"?><!DOCTYPE a SYSTEM 'file:///etc/passwd'><a>")
    assert converted(outside, "application/xml").text == found.text
    with pytest.raises(ConversionError, match="has a DTD"):
        converted(body.replace(b"?><a>", b"?><!DOCTYPE a [<!ENTITY own 'x'>]><a>"), "application/xml")


# ---- e-mail

ALTERNATIVES = (
    "From: a@b\nSubject: S\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=x\n\n--x\n"
    "Content-Type: text/plain\n\n{}\n--x\nContent-Type: text/html\n\n<p>in html <a href='{}'>x</a></p>\n--x--\n"
)


@pytest.mark.parametrize(("plain", "text"), [("  \n", "in html x"), ("in plain", "in html x in plain")])
def test_the_links_of_a_page_in_a_message_are_found(converted: Convert, plain: str, text: str) -> None:
    found = converted(ALTERNATIVES.format(plain, LINK).encode(), "message/rfc822")
    assert (found.text, found.links) == (text, (LINK,))


@pytest.mark.parametrize(
    ("head", "codec", "text"),
    [
        ("", "cp1252", "Grüße aus Köln, schöne Straße"),
        ("", "koi8-r", "Съешь же ещё этих мягких"),
        ("", "utf-8", "Grüße"),
        ("Content-Type: text/plain; charset=us-ascii\n", "utf-8", "Grüße aus Köln"),
        ("Content-Type: text/plain; charset=unknown-8bit\n", "cp1252", "Grüße aus Köln, schöne Straße"),
        ('Content-Type: text/plain; charset="iso-2022-jp"\n', "iso2022_jp", "日本語の文章"),
    ],
)
def test_encodings_of_messages(converted: Convert, head: str, codec: str, text: str) -> None:
    assert converted(f"From: a@b\n{head}\n{text}\n".encode(codec), "message/rfc822").text == text


@pytest.mark.parametrize("codec", ["cp1252", "utf-8"])
def test_headers_with_bytes_beyond_ascii(converted: Convert, codec: str) -> None:
    body = "From: Jürgen Großmann <j@mail.example>\nSubject: Größere Übergröße für Köln\n\nx\n".encode(codec)
    found = converted(body, "message/rfc822")
    assert found.title == "Größere Übergröße für Köln"
    assert found.metadata["author"] == ["Jürgen Großmann <j@mail.example>"]


# ---- Office of before 2007


def workbook_stream(*records: tuple[int, bytes]) -> bytes:
    return b"".join(struct.pack("<HH", kind, len(data)) + data for kind, data in records).ljust(5000, b"\0")


ENCRYPTED = {
    "Word": {"WordDocument": (b"\0" * 10 + struct.pack("<H", 0x0100)).ljust(5000, b"\0")},
    "Excel": {"Workbook": workbook_stream((0x0809, b"\0" * 16), (0xE1, b"\0\0"), (0x2F, b"\1\0" * 20))},
    "Excel 95": {"Book": workbook_stream((0x0809, b"\0" * 8), (0x2F, b"\1\0\1\0"))},
    "PowerPoint": {"PowerPoint Document": b"x" * 5000, "EncryptedSummary": b"y" * 5000},
    "new formats": {"EncryptedPackage": b"x" * 5000},
}


@pytest.mark.parametrize("case", ENCRYPTED)
def test_encrypted_documents_say_so(case: str) -> None:
    with pytest.raises(ConversionError, match="the document is encrypted"):
        read_ole(compound(ENCRYPTED[case]), Sink(Budget(ConversionLimits())))


PLAIN = {
    "Word": {"WordDocument": b"\0" * 5000},
    "Excel": {"Workbook": workbook_stream(*[(0x0809, b"\0" * 16)] * 400)},
    "cut off": {"WordDocument": b"\0" * 5},
}


@pytest.mark.parametrize("case", PLAIN)
def test_others_do_not(case: str) -> None:
    read_ole(compound(PLAIN[case]), Sink(Budget(ConversionLimits())))


@pytest.mark.parametrize(
    ("codepage", "codec"), [(65001, "utf-8"), (1200, "utf-16-le"), (1251, "cp1251"), (932, "cp932")]
)
def test_code_pages_of_properties(codepage: int, codec: str) -> None:
    title = ("日本語" if codepage == 932 else "Съешь").encode(codec) + b"\0\0"
    page = struct.pack("<IHH", 2, codepage, 0)
    text = struct.pack("<II", 30, len(title)) + title.ljust(-(-len(title) // 4) * 4, b"\0")
    ids = struct.pack("<4I", 1, 24, 2, 24 + len(page))
    section = struct.pack("<II", 24 + len(page) + len(text), 2) + ids + page + text
    head = struct.pack(
        "<HHI16sI16sI", 0xFFFE, 0, 2, b"", 1, bytes.fromhex("E0859FF2F94F6810AB9108002B27B3D9"), 48
    )
    stream = head + section
    sink = Sink(Budget(ConversionLimits()))
    read_ole(compound({"\x05SummaryInformation": stream.ljust(5000, b"\0")}), sink)
    assert sink.title == title.decode(codec).rstrip("\0")


# ---- under a wrong name


@pytest.mark.parametrize(
    "declared", ["application/vnd.ms-excel", "application/msword", f"{OOXML}.spreadsheetml.sheet"]
)
def test_text_that_is_called_an_office_document_is_text(declared: str) -> None:
    assert effective_type(declared, b"Name;Town\nAnn;Lund\n") == "text/plain"
    assert effective_type("application/pdf", b"junk before\n%PDF-1.4") == "application/pdf"
    assert effective_type("application/json", b"{}") == "application/json"


@pytest.mark.parametrize("declared", ["application/vnd.ms-excel", "application/msword"])
def test_xml_of_office_2003_is_read_as_xml(converted: Convert, declared: str) -> None:
    body = (
        b'<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook xmlns:o="o"><o:Title>T</o:Title>'
        b"<Cell><Data>needle</Data></Cell><binData>AAAA</binData></Workbook>"
    )
    found = converted(body, effective_type(declared, body))
    assert (found.title, found.text) == ("T", "T needle")


# ---- workbooks with cells far away from each other


def far_cells(cells: dict[str, object]) -> bytes:
    """Return a workbook with these cells, and a second sheet as people write them."""
    import openpyxl

    workbook = openpyxl.Workbook()
    for place, value in cells.items():
        workbook.active[place] = value
    workbook.create_sheet("Second").append(["other", MADE, 7])
    out = io.BytesIO()
    workbook.save(out)
    return out.getvalue()


MADE = date(2024, 5, 6)


@pytest.mark.parametrize(
    "far", [{"XFD1048576": "corner"}, {"B1048576": "corner", "XFD1": "right"}, {"AAA30000": "corner"}]
)
def test_a_few_cells_far_away_from_each_other_are_read(converted: Convert, far: dict[str, object]) -> None:
    made = converted(far_cells({"A1": "needle", "B1": MADE, "A2": 12.0, **far}))
    words = made.text.split()
    assert words[:4] == ["Sheet", "needle", "2024-05-06", *(["right"] if "XFD1" in far else ["12"])]
    assert {"12", "corner", "Second", "other", "7"} <= set(words)


def test_cells_that_are_close_keep_their_places(converted: Convert) -> None:
    body = far_cells({f"A{row}": row for row in range(1, 2000, 7)} | {"ZZ1500": "end"})
    assert "end" in converted(body).text.split()


@pytest.mark.parametrize("ticks", [0, 10, 2650467743999999999, (1 << 63) - 1, (1 << 64) - 1])
def test_a_date_that_cannot_be_costs_no_message_of_outlook(
    converted: Callable[..., Conversion], ticks: int
) -> None:
    sent = datetime(2024, 3, 1, 12, tzinfo=UTC)
    known = struct.pack("<Q", int((sent - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10**7)
    body = outlook_message("s", "needle", "Ann", sent=sent)
    assert known in body
    found = converted(body.replace(known, struct.pack("<Q", ticks)))
    assert found.text.strip() == "needle"
    assert all(parse_http_date(text) is None for text in found.metadata.get("created", ()))


def test_a_time_that_cannot_be_costs_its_row_of_a_workbook(converted: Callable[..., Conversion]) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["first"])
    workbook.active.append([1e12, "neighbour"])
    workbook.active["A2"].number_format = "[hh]:mm"
    workbook.active.append(["last"])
    out = io.BytesIO()
    workbook.save(out)
    found = converted(out.getvalue(), f"{OOXML}.spreadsheetml.sheet")
    assert found.text.split() == ["Sheet", "first", "last"]
    assert found.truncated
