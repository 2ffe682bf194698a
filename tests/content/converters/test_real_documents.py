"""Documents that other programs made: Word, PowerPoint, Excel, LibreOffice, KOffice, Sphinx, LaTeX, Photoshop."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support import samples
from support.sentences import sentence

from ultracrawl.content.converters.conversion import ConversionError
from ultracrawl.content.mime import sniff_type
from ultracrawl.model import Conversion

pytestmark = pytest.mark.servers

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
    "Word for Windows": (
        lambda: samples.in_docx("doc-coreprops.docx"),
        f"{OOXML}.wordprocessingml.document",
        "",
        {
            "author": "Steve Canny",
            "subject": "Subject",
            "category": "Category",
            "created": "2014-12-13T22:02:00Z",
        },
    ),
    "Word with comments": (
        lambda: samples.in_docx("comments-rich-para.docx"),
        f"{OOXML}.wordprocessingml.document",
        "Some text worthy of note.",
        {"application": "Microsoft Office Word"},
    ),
    "Word with headers": (
        lambda: samples.in_docx("hdr-header-footer.docx"),
        f"{OOXML}.wordprocessingml.document",
        "Header for section-1",
        {"company": "Cisco Systems, Inc.", "pages": "2"},
    ),
    "PowerPoint with notes": (
        lambda: samples.in_pptx("prs-notes.pptx"),
        f"{OOXML}.presentationml.presentation",
        "Notes",
        {"application": "Microsoft Macintosh PowerPoint", "company": "neopraxis.org"},
    ),
    "OpenOffice text": (
        lambda: samples.in_odfpy("serious_poem.odt"),
        "application/vnd.oasis.opendocument.text",
        "The boy stood on the burning deck, Whence all but him had fled.",
        {"words": "26", "created": "2008-07-17T19:11:05"},
    ),
    "NeoOffice text": (
        lambda: samples.in_odfpy("userfields_ooo3.odt"),
        "application/vnd.oasis.opendocument.text",
        "Userfields example saved using OpenOffice.Org 3.x",
        {"modified": "2009-06-08T14:51:44"},
    ),
    "KOffice sheet": (
        lambda: samples.in_odfpy("pythagoras-kspread.ods"),
        "application/vnd.oasis.opendocument.spreadsheet",
        "3 4 5",
        {"application": "KOffice/1.6.3", "author": "Søren Roug"},
    ),
    "LibreOffice sheet": (
        lambda: samples.in_odfpy("chinese_spreadsheet.ods"),
        "application/vnd.oasis.opendocument.spreadsheet",
        "test",
        {"created": "2015-04-30T11:57:55.924629041"},
    ),
    "OpenOffice slides": (
        lambda: samples.in_odfpy("cols.odp"),
        "application/vnd.oasis.opendocument.presentation",
        "Lorem ipsum dolor sit amet",
        {"author": "Elaine Schoch", "last_modified_by": "Naor Rosenberg"},
    ),
    "PDF in Japanese": (
        lambda: samples.installation_guide("ja", "install.ja.pdf.gz"),
        "application/pdf",
        "インストール",
        {"application": "DBLaTeX-0.3.12", "producer": "xdvipdfmx (20211117)"},
    ),
    "PDF in Russian": (
        lambda: samples.installation_guide("ru", "install.ru.pdf.gz"),
        "application/pdf",
        "установки",
        {"application": "DBLaTeX-0.3.12"},
    ),
    "InDesign": (
        lambda: samples.of_adobe("BlueSquare.pdf"),
        "application/pdf",
        "",
        {"description": "XMPFiles BlueSquare test file, created in InDesign CS2, saved as .indd and .pdf."},
    ),
    "Photoshop TIFF": (
        lambda: samples.of_adobe("sig05-002a.tif"),
        "image/tiff",
        "Crab Nebula",
        {"author": "Spitzer Space Telescope", "source": "Spitzer Space Telescope"},
    ),
    "Photoshop JPEG": (
        lambda: samples.of_adobe("BlueSquare.jpg"),
        "image/jpeg",
        "Blue Square Test File - .jpg",
        {"application": "Adobe Photoshop CS2 Macintosh", "modified": "2005-09-07T15:09:51-07:00"},
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


def test_links_of_real_documents(converted: Convert) -> None:
    word = converted(samples.in_docx("par-hyperlinks.docx")).links
    assert {"http://yahoo.com/", "http://python.org/", "http://google.com/"} <= set(word)
    assert "https://github.com/scanny/python-pptx" in converted(samples.in_pptx("ext-rels.pptx")).links
    assert "http://www.eionet.eu.int/" in converted(samples.in_odfpy("definitionlists.odt")).links


def test_keywords_of_a_picture_are_those_of_iptc_and_xmp(converted: Convert) -> None:
    found = converted(samples.of_adobe("sig05-002a.tif"))
    assert found.title == "Crab Nebula Supernova Remnant (IRAC Image)"
    assert found.metadata["keywords"] == ["Crab Nebula", "M1", "Messier 1", "NGC 1952"]


def test_a_document_with_entities_that_odfpy_keeps_as_a_warning_is_refused(converted: Convert) -> None:
    with pytest.raises(ConversionError, match=sentence("conversion.xml_dtd")):
        converted(samples.in_odfpy("nasty.odt"))
