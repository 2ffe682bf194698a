"""Documents that mean harm: bounded time and memory, a clear reason, nothing written, nothing fetched."""

from __future__ import annotations

import gzip
import io
import itertools
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support import files
from support.clock import leap
from support.resource import gzip_of_zeros
from support.sentences import sentence

from ultracrawl.content.converters.conversion import Budget, ConversionLimits, Sink, Source
from ultracrawl.content.converters.convert import convert
from ultracrawl.content.service.job import Converted, Job, NotConverted, ProcessLimits
from ultracrawl.content.service.process import ConversionProcess
from ultracrawl.model import StatusCode

pytestmark = pytest.mark.servers  # much time

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ODT = "application/vnd.oasis.opendocument.text"
LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(10))
    + b"]><l>&k;</l>"
)
OUTSIDE = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]><l>&a;</l>'
PARAMETER = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY % a SYSTEM "http://127.0.0.1/x"> %a;]><l/>'


@pytest.fixture(scope="module")
def process() -> Iterator[Callable[..., Converted | NotConverted]]:
    """Convert in a process of its own, as a crawl does; one that is used up is replaced."""
    limits = ProcessLimits(seconds=30.0, memory=400 << 20)
    running = [ConversionProcess(limits)]

    def run(body: bytes, media_type: str, **changed: float) -> Converted | NotConverted:
        if not running[0].usable:
            running[0] = ConversionProcess(limits)
        asked = ConversionLimits(unpacked=20 << 20, seconds=20.0)._replace(**changed)
        return running[0].convert(Job(body, media_type, limits=asked))

    yield run
    running[0].kill()


def zip_bomb(inside: str) -> bytes:
    """Return a zip whose member unfolds to 200 MB."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(inside, "w") as member,
    ):
        for _ in range(200):
            member.write(bytes(1 << 20))
    return out.getvalue()


def nested_zips(levels: int) -> bytes:
    body = files.zipped({"end.txt": "end"})
    for _ in range(levels):
        body = files.zipped({"x.zip": body})
    return body


def deep_xml(levels: int) -> bytes:
    return b"<a>" * levels + b"needle" + b"</a>" * levels


PARTIAL: dict[str, tuple[bytes | Callable[[], bytes], str, str]] = {
    "gzip bomb": (lambda: gzip_of_zeros(1 << 30), "application/gzip", "it expands to more than"),
    "gzip bombs in gzip": (
        lambda: gzip.compress(gzip_of_zeros(1 << 30)),
        "application/gzip",
        ": it expands to more than",
    ),
    "zip bomb": (lambda: zip_bomb("a.txt"), "application/zip", "it expands to more than"),
    "zip bomb as Word": (lambda: zip_bomb("word/document.xml"), DOCX, "it expands to more than"),
    "zip bomb as OpenDocument": (lambda: zip_bomb("content.xml"), ODT, "it expands to more than"),
    "zip bomb as Excel": (lambda: zip_bomb("xl/sharedStrings.xml"), XLSX, "it expands to more than"),
    "nested zips": (nested_zips(40), "application/zip", "documents are inside each other more than 3 times"),
    "many members": (
        files.zipped({f"{n}.txt": "x" for n in range(3000)}),
        "application/zip",
        "only the first 1000 files",
    ),
    "endless text": (b"x " * 6_000_000, "text/csv", "only the first 5000000 characters"),
    "cut-off gzip": (
        gzip.compress(b"needle " * 1000)[:-20],
        "application/gzip",
        "the compressed file is cut off",
    ),
}


@pytest.mark.parametrize("case", PARTIAL)
def test_a_limit_leaves_what_was_read_until_then(
    process: Callable[..., Converted | NotConverted], case: str
) -> None:
    made, media_type, reason = PARTIAL[case]
    body = made() if callable(made) else made  # a bomb takes long to make
    answer = process(body, media_type)
    assert isinstance(answer, Converted), answer
    assert reason in answer.conversion.truncated


REFUSED: dict[str, tuple[bytes, str, str]] = {
    "billion laughs": (LAUGHS, "application/xml", "the XML has a DTD"),
    "outside entity": (OUTSIDE, "application/xml", "the XML has a DTD"),
    "parameter entity": (PARAMETER, "image/svg+xml", "the XML has a DTD"),
    "entities in Word": (files.zipped({"word/document.xml": LAUGHS}), DOCX, "the XML has a DTD"),
    "entities in OpenDocument": (files.zipped({"content.xml": OUTSIDE}), ODT, "the XML has a DTD"),
    "entities in a book": (
        files.zipped({"META-INF/container.xml": OUTSIDE}),
        "application/epub+zip",
        "the XML has a DTD",
    ),
    "deep JSON": (b"[" * 1_000_000, "application/json", "the JSON is nested too deep"),
    "cut-off Word": (files.docx()[:-40], DOCX, "broken zip file"),
    "cut-off Excel": (files.xlsx()[:-40], XLSX, "broken zip file"),
    "cut-off book": (files.epub()[:200], "application/epub+zip", "broken zip file"),
    "cut-off XML": (b"<a><b>needle</b>", "application/xml", "broken XML"),
    "cut-off image": (files.image("JPEG")[:25], "image/jpeg", "broken image"),
    "no PDF": (b"%PDF-1.4 but no more", "application/pdf", "this is not a PDF"),
    "no Excel": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000),
        "application/vnd.ms-excel",
        "broken compound",
    ),
    "no old Word": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000),
        "application/msword",
        "broken compound",
    ),
    "no Outlook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), "application/vnd.ms-outlook", "broken"),
    "no message": (b"just words", "message/rfc822", "this is not an e-mail message"),
    "no RTF": (b"just words", "application/rtf", "this is not RTF"),
    "encrypted Office": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000),
        DOCX,
        "the document is encrypted, or in an older format",
    ),
    "encrypted PDF": (
        files.locked_pdf(),
        "application/pdf",
        "the document is encrypted, and needs a password",
    ),
    "encrypted zip as Word": (
        files.locked_zip({"word/document.xml": "needle"}),
        DOCX,
        "the document is encrypted",
    ),
    "encrypted OpenDocument": (
        files.zipped({"META-INF/manifest.xml": "<x><encryption-data/></x>", "content.xml": b"\1\2"}),
        ODT,
        "the document is encrypted",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_with_a_reason(
    process: Callable[..., Converted | NotConverted], case: str
) -> None:
    body, media_type, reason = REFUSED[case]
    answer = process(body, media_type)
    assert isinstance(answer, NotConverted), answer
    assert answer.status == StatusCode.CONVERSION_FAILED
    assert answer.reason.startswith(reason)


def test_ultra_search_124_a_part_that_came_before_the_break_is_kept(
    process: Callable[..., Converted | NotConverted],
) -> None:
    answer = process(b"<a><b>needle</b><c>", "application/xml")
    assert isinstance(answer, NotConverted)
    assert answer.partial is not None
    assert answer.partial.text == "needle"


def test_deep_nesting_is_no_problem_where_no_tree_is_built(
    process: Callable[..., Converted | NotConverted],
) -> None:
    answer = process(deep_xml(100_000), "application/xml")
    assert isinstance(answer, Converted)
    assert answer.conversion.text == "needle"


@pytest.mark.parametrize("repeat", [b"(x) Tj ", b" "], ids=["text", "blanks"])
def test_a_pdf_bomb_costs_bounded_time_and_memory(
    process: Callable[..., Converted | NotConverted], repeat: bytes
) -> None:
    packed = zlib.compress(zlib.compress(b"BT /F1 1 Tf " + repeat * (300_000_000 // len(repeat)) + b"ET"))
    stream = b"<< /Filter [/FlateDecode /FlateDecode] /Length %d >>\nstream\n%s\nendstream" % (
        len(packed),
        packed,
    )
    plain = files.pdf(["needle"])
    start = plain.index(b"<< /Length")
    body = plain[:start] + stream + plain[plain.index(b"endstream") + 9 :]
    answer = process(body, "application/pdf")
    assert isinstance(answer, NotConverted)
    assert answer.status == StatusCode.CONVERTER_MISSING


def test_a_pdf_of_10000_pages(process: Callable[..., Converted | NotConverted]) -> None:
    body = files.pdf(f"needle {number}" for number in range(10_000))
    answer = process(body, "application/pdf")
    assert isinstance(answer, Converted)
    assert answer.conversion.metadata["pages"] == ["10000"]
    if not answer.conversion.truncated:  # on a slow machine its time ends before its pages
        assert answer.conversion.text.endswith("needle 9999")


def test_time_ends_a_pdf_between_pages() -> None:
    body = files.pdf(f"needle {number}" for number in range(5_000))
    clock = itertools.count()
    sink = Sink(Budget(ConversionLimits(seconds=10.0), lambda: next(clock)))
    convert(Source(body, "application/pdf"), sink)
    found = sink.conversion()
    assert found.truncated == sentence("conversion.pages_cut_by_timeout")
    assert found.text.endswith("needle 8 needle 9")


def test_hours_on_the_wall_do_not_count() -> None:
    budget = Budget(ConversionLimits())
    leap(36_000)
    budget.check_time()


def test_names_are_labels_and_no_paths(
    process: Callable[..., Converted | NotConverted], tmp_path: Path
) -> None:
    target = tmp_path / "written"
    names = {f"../../../..{target}": "x", "/etc/passwd": "y", "C:\\windows\\x": "z", "a\nb": "w"}
    for body in (files.zipped(names), files.tarred({name: text.encode() for name, text in names.items()})):
        media_type = "application/zip" if body.startswith(b"PK") else "application/x-tar"
        answer = process(body, media_type)
        assert isinstance(answer, Converted)
        assert len(answer.conversion.metadata["files"]) == 4
    assert not target.exists()


def test_encrypted_files_of_an_archive_are_there_by_name(
    process: Callable[..., Converted | NotConverted],
) -> None:
    answer = process(files.locked_zip({"needle.txt": "secret"}), "application/zip")
    assert isinstance(answer, Converted)
    assert answer.conversion.text == "needle.txt"
    assert answer.conversion.truncated == sentence("conversion.encrypted_member")


def test_links_in_tar_archives_are_passed_over(process: Callable[..., Converted | NotConverted]) -> None:
    import tarfile

    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        link = tarfile.TarInfo("innocent.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        device = tarfile.TarInfo("device")
        device.type = tarfile.CHRTYPE
        archive.addfile(device)
    answer = process(out.getvalue(), "application/x-tar")
    assert isinstance(answer, Converted)
    assert answer.conversion.text == ""


def test_a_message_with_broken_headers_is_read(process: Callable[..., Converted | NotConverted]) -> None:
    head = b"Subject: =?utf-8?b?!!!?=\nFrom: <<<@@@\nDate: the day before\n"
    body = head + b"Content-Type: text/plain; charset=nonsense\n\nneedle"
    answer = process(body, "message/rfc822")
    assert isinstance(answer, Converted)
    assert answer.conversion.text == "needle"


def test_metadata_and_links_are_bounded(process: Callable[..., Converted | NotConverted]) -> None:
    row = ",".join(f"column{number}" * 500 for number in range(500))
    answer = process(row.encode(), "text/csv")
    assert isinstance(answer, Converted)
    assert len(answer.conversion.metadata["columns"]) == 100
    assert max(map(len, answer.conversion.metadata["columns"])) == 2000
    links = "".join(f"<a href='https://x.example/{number}'/>" for number in range(12_000))
    answer = process(f"<x>{links}</x>".encode(), "application/xml")
    assert isinstance(answer, Converted)
    assert len(answer.conversion.links) == 10_000
