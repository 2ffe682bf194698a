"""Documents that other programs made: Word, Excel, LibreOffice, Sphinx, LaTeX, a camera."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support import samples

from ultracrawl.content import sniff_type
from ultracrawl.model import Conversion

Convert = Callable[..., Conversion]
OOXML = "application/vnd.openxmlformats-officedocument"

CASES: dict[str, tuple[Callable[[], bytes], str, str, dict[str, str]]] = {
    "LaTeX": (lambda: samples.debian_policy("policy.pdf"), "application/pdf", "must not", {}),
    "Sphinx": (lambda: samples.debian_policy("policy.epub"), "application/epub+zip", "must not", {}),
    "Excel 97": (
        lambda: samples.workbook("Test97.xls"),
        "application/vnd.ms-excel",
        "ASC This Data is 'ASC Only' Date 1964-03-23 INTEGER 12345",
        {"author": "Kawai, Takanori (Hippo2000)", "company": "日本ラッド株式会社"},
    ),
    "Excel 95": (
        lambda: samples.workbook("Test95.xls"),
        "application/vnd.ms-excel",
        "This Data is 'ASC Only'",
        {},
    ),
    "Excel 97 in Japanese": (
        lambda: samples.workbook("Test97J.xls"),
        "application/vnd.ms-excel",
        "漢字のデータ",
        {},
    ),
    "LibreOffice": (
        lambda: samples.in_package("docutils", "writers/odf_odt/styles.odt"),
        "application/vnd.oasis.opendocument.text",
        "rststyle-table-0",
        {"author": "dkuhlman", "last_modified_by": "Dave Kuhlman", "words": "57"},
    ),
    "Word for Mac": (
        lambda: samples.in_package("docx", "templates/default.docx"),
        f"{OOXML}.wordprocessingml.document",
        "",
        {"application": "Microsoft Macintosh Word", "created": "2013-12-23T23:15:00Z"},
    ),
    "PowerPoint for Mac": (
        lambda: samples.in_package("pptx", "templates/default.pptx"),
        f"{OOXML}.presentationml.presentation",
        "",
        {},
    ),
    "Word 97": (
        lambda: samples.in_olefile("test-ole-file.doc"),
        "application/msword",
        "Test OLE file, saved as Word 97-2003 Document.",
        {"author": "Laurence Ipsum", "created": "2014-04-11T11:15:00+00:00", "pages": "1"},
    ),
    "camera": (
        lambda: samples.in_olefile("flower.jpg"),
        "image/jpeg",
        "",
        {"camera": "Canon PowerShot S40", "created": "2003-12-14T12:01:44", "width": "480"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_real_documents(converted: Convert, case: str) -> None:
    get, media_type, words, metadata = CASES[case]
    body = get()
    assert sniff_type(body) == media_type
    found = converted(body)
    assert words in found.text
    assert {name: found.metadata.get(name) for name in metadata} == {
        name: [value] for name, value in metadata.items()
    }
    assert found.truncated == ""


def test_a_long_manual_is_read_to_its_end(converted: Convert) -> None:
    pdf = converted(samples.debian_policy("policy.pdf"))
    epub = converted(samples.debian_policy("policy.epub"))
    assert int(pdf.metadata["pages"][0]) > 100
    assert len(pdf.text) > 300_000
    assert len(epub.text) > 300_000
    assert "https://www.gnu.org/licenses/" in epub.links
