"""What stands beside the text of Office and OpenDocument documents: headers, footers, masters, embedded documents."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Mapping

import pytest
from support import files
from support.compound import compound

from ultracrawl.model import Conversion

Convert = Callable[..., Conversion]

_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
BROKEN = "<a><b></a>"


def members_of(package: bytes) -> dict[str, bytes | str]:
    with zipfile.ZipFile(io.BytesIO(package)) as plain:
        return {name: plain.read(name) for name in plain.namelist()}


def with_relations(package: bytes, part: str, relations: Mapping[str, tuple[str, bytes | str]]) -> bytes:
    """Return a package with parts (kind of relation, content) that a part refers to."""
    members = members_of(package)
    folder, _, file = part.rpartition("/")
    name = f"{folder}/_rels/{file}.rels"
    rows = "".join(
        f'<Relationship Id="new{number}" Type="{_RELATION}/{kind}" Target="/{target}"/>'
        for number, (target, (kind, _)) in enumerate(relations.items())
    )
    before = members.get(name, b"<Relationships></Relationships>")
    text = before.decode() if isinstance(before, bytes) else before
    members[name] = text.replace("</Relationships>", f"{rows}</Relationships>")
    members.update({target: content for target, (_, content) in relations.items()})
    return zipped(members)


def zipped(members: Mapping[str, bytes | str]) -> bytes:
    """Return a package; the type of one of OpenDocument stands first and is not compressed."""
    rest = dict(members)
    first = rest.pop("mimetype", b"")
    return files.zipped(rest, first=first.decode() if isinstance(first, bytes) else first)


def embedded_file(name: str, content: bytes) -> bytes:
    """Return an OLE object as the packager of Windows makes it ([MS-OLEDS] 2.3.6)."""
    label = name.encode() + b"\0"
    path = b"C:\\Users\\a\\" + label
    data = b"\2\0" + label + path + struct.pack("<III", 0x30000, len(path), 0)[:8] + path
    data += struct.pack("<I", len(content)) + content
    return compound({"\1Ole10Native": struct.pack("<I", len(data)) + data})


# ---- masters of presentations


def shape(text: str, place: str = "") -> str:
    mark = f'<p:ph type="{place}"/>' if place else ""
    return (
        f"<p:sp><p:nvSpPr><p:nvPr>{mark}</p:nvPr></p:nvSpPr>"
        f"<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def master(*shapes: str) -> str:
    return f'<p:x xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree>{"".join(shapes)}</p:spTree></p:cSld></p:x>'


def presentation(
    slide_master: str, layout: str = master(), handout: str = master(), unused: str = master()
) -> bytes:
    """Return a presentation of two slides with these masters."""
    body = files.zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "ppt/presentation.xml": "<p/>",
            "ppt/slides/slide1.xml": master(shape("First")),
            "ppt/slides/slide2.xml": master(shape("Second")),
            "ppt/slideLayouts/slideLayout9.xml": unused,
        }
    )
    layouts = {"ppt/slideLayouts/slideLayout1.xml": ("slideLayout", layout)}
    body = with_relations(body, "ppt/slides/slide1.xml", layouts)
    body = with_relations(body, "ppt/slides/slide2.xml", layouts)
    body = with_relations(
        body,
        "ppt/slideLayouts/slideLayout1.xml",
        {"ppt/slideMasters/slideMaster1.xml": ("slideMaster", slide_master)},
    )
    return with_relations(
        body, "ppt/presentation.xml", {"ppt/handoutMasters/handoutMaster1.xml": ("handoutMaster", handout)}
    )


def test_masters_say_what_all_slides_show_once_and_no_invitations(converted: Convert) -> None:
    fields = '<p:sp><a:p><a:fld type="slidenum"><a:t>‹#›</a:t></a:fld></a:p></p:sp>'
    body = presentation(
        master(shape("Click to edit", "title"), shape("Corporate"), shape("Confidential", "ftr"), fields),
        layout=master(shape("Click here", "body"), shape("Of the layout")),
        handout=master(shape("For the audience", "hdr"), shape("4 May", "dt")),
        unused=master(shape("unused")),
    )
    found = converted(body)
    assert found.text == "First Second Of the layout For the audience Corporate Confidential"
    assert found.truncated == ""


def test_masters_with_other_prefixes(converted: Convert) -> None:
    other = (
        master(shape("Click", "title"), shape("Corporate")).replace("p:", "q:").replace("xmlns:p", "xmlns:q")
    )
    assert converted(presentation(other)).text == "First Second Corporate"


def test_a_broken_master_costs_itself(converted: Convert) -> None:
    found = converted(presentation(BROKEN, handout=master(shape("handout"))))
    assert found.text == "First Second handout"
    assert "slideMaster1.xml" in found.truncated


# ---- headers and footers


def test_headers_and_footers_of_sheets(converted: Convert) -> None:
    import openpyxl

    workbook = openpyxl.Workbook()
    for name in ("One", "Two"):
        sheet = workbook[name] if name in workbook.sheetnames else workbook.create_sheet(name)
        sheet.append(["cell"])
        sheet.oddHeader.left.text, sheet.oddHeader.left.font = "Header of R&&D", "Arial,Bold"
        sheet.oddHeader.right.text = "&D &T"
        sheet.oddFooter.center.text = "Page &P of &N"
        sheet.evenFooter.left.text = f"Only {name} <&A> - &P"
    del workbook["Sheet"]
    out = io.BytesIO()
    workbook.save(out)
    assert converted(out.getvalue()).text == "One cell Two cell Header of R&D Only One <> - Only Two <> -"


MASTERS = """<office:document-styles xmlns:office="o" xmlns:style="s" xmlns:text="t" xmlns:presentation="p"
  xmlns:draw="d"><office:styles><text:p>no</text:p></office:styles><office:master-styles>
  <style:handout-master><draw:frame><draw:text-box><text:p>For the audience</text:p></draw:text-box></draw:frame>
  </style:handout-master>
  <style:master-page><style:header><text:p>Our <text:span>header</text:span></text:p></style:header><style:footer>
  <text:p>Page <text:page-number>1</text:page-number></text:p><text:p><text:sheet-name>???</text:sheet-name></text:p>
  <text:p>Our footer, page <text:page-number>1</text:page-number></text:p></style:footer>
  <draw:frame presentation:class="title"><draw:text-box><text:p>Click to edit</text:p></draw:text-box></draw:frame>
  </style:master-page>
  <style:master-page><style:header><text:p>Our header</text:p></style:header></style:master-page>
  </office:master-styles></office:document-styles>"""


@pytest.mark.parametrize("kind", ["spreadsheet", "presentation", "text"])
def test_headers_footers_and_masters_of_open_document(converted: Convert, kind: str) -> None:
    body = files.open_document(kind, "needle", "")
    found = converted(zipped({**members_of(body), "styles.xml": MASTERS}))
    assert found.text == "needle see For the audience Our header Our footer, page"
    broken = MASTERS.replace("</style:handout-master>", "")
    found = converted(zipped({**members_of(body), "styles.xml": broken}))
    assert found.text.startswith("needle see")
    assert "styles.xml" in found.truncated


def test_sheets_of_open_document_have_their_names(converted: Convert) -> None:
    cell = "<t:table-row><t:table-cell><x:p>needle</x:p></t:table-cell></t:table-row></t:table>"
    tables = f"<t:table t:name='Größe'>{cell}<t:table t:name='Two'>{cell}"
    for kind, text in (("spreadsheet", "Größe needle Two needle"), ("text", "needle needle")):
        names = "xmlns:o='o' xmlns:t='t' xmlns:x='x'"
        body = f"<o:document {names}><o:body><o:{kind}>{tables}</o:{kind}></o:body></o:document>"
        assert converted(body.encode(), f"application/vnd.oasis.opendocument.{kind}-flat-xml").text == text


def test_headers_of_flat_open_document_and_objects_in_it(converted: Convert) -> None:
    inner = "<office:document><office:body><text:p>inner</text:p></office:body></office:document>"
    body = f"""<office:document xmlns:office="o" xmlns:text="t" xmlns:style="s" xmlns:draw="d"><office:master-styles>
      <style:header><text:p>Header</text:p></style:header></office:master-styles><office:body><text:p>before</text:p>
      <draw:object>{inner}</draw:object><text:p>after</text:p></office:body></office:document>"""
    media_type = "application/vnd.oasis.opendocument.text-flat-xml"
    assert converted(body.encode(), media_type).text == "Header before inner after"


# ---- embedded documents

CHUNK_MAIL = b'MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="x"\r\n\r\n--x\r\n' + (
    b"Content-Type: text/html\r\n\r\n<p>whole body</p>\r\n--x--\r\n"
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("word/afchunk.htm", "<html><body><p>whole <b>body</b></p></body></html>"),
        ("word/afchunk.mht", CHUNK_MAIL),
        ("word/afchunk.txt", "whole body"),
        ("word/afchunk.rtf", files.rtf("whole body")),
        ("word/afchunk.docx", files.docx("whole body")),
    ],
)
def test_chunks_are_a_part_of_the_body(converted: Convert, name: str, content: bytes | str) -> None:
    found = converted(with_relations(files.docx(), "word/document.xml", {name: ("aFChunk", content)}))
    assert found.text.startswith("needle cell one cell two whole body")
    assert found.truncated == ""


@pytest.mark.parametrize(
    ("package", "part", "folder"),
    [
        (files.docx(), "word/document.xml", "word"),
        (files.pptx(), "ppt/slides/slide1.xml", "ppt"),
        (files.xlsx(), "xl/worksheets/sheet1.xml", "xl"),
    ],
)
def test_embedded_documents_follow_the_text(
    converted: Convert, package: bytes, part: str, folder: str
) -> None:
    parts: dict[str, tuple[str, bytes | str]] = {
        f"{folder}/embeddings/book.xlsx": ("package", files.xlsx("inner")),
        f"{folder}/embeddings/oleObject1.bin": ("oleObject", compound({"CONTENTS": files.pdf(["of a pdf"])})),
        f"{folder}/embeddings/oleObject2.bin": ("oleObject", embedded_file("notes.txt", b"of a text")),
        f"{folder}/embeddings/oleObject3.bin": ("oleObject", compound({"Equation Native": b"abc"})),
    }
    found = converted(with_relations(package, part, parts))
    plain = converted(package).text
    assert (
        found.text
        == f"{plain} First inner 42 1.5 2024-03-01 True Second other T of a pdf notes.txt of a text"
    )
    assert found.truncated == ""


def test_embedded_documents_of_open_document(converted: Convert) -> None:
    chart = """<o:document-content xmlns:o='o' xmlns:t='t' xmlns:d='d' xmlns:x='x'><o:body><o:chart><t:p>Sales</t:p>
      <d:object x:href='./Object 1'/><d:object x:href='..'/></o:chart></o:body></o:document-content>"""
    drawn = "".join(f"<d:object xmlns:d='d' x:href='./Object {n}'/>" for n in (1, 2, 3, 9))
    members = members_of(files.open_document("text", "needle", ""))
    content = members["content.xml"]
    assert isinstance(content, bytes)
    members["content.xml"] = content.replace(b"</o:text>", f"{drawn}</o:text>".encode())
    members["Object 1/content.xml"] = chart
    members["Object 1/Object 1/content.xml"] = chart.replace("Sales", "North")
    members["Object 2/content.xml"] = BROKEN
    members["Object 3"] = embedded_file("notes.txt", b"of a text")
    found = converted(zipped(members))
    assert found.text == "needle see Sales North notes.txt of a text"
    assert "Object 2" in found.truncated


def test_what_is_embedded_cannot_cost_the_text(converted: Convert) -> None:
    bomb = files.zipped({"a.txt": b"0" * 3_000_000})
    broken = b"PK\3\4 broken"
    parts: dict[str, tuple[str, bytes | str]] = {
        "word/embeddings/a.docx": ("package", broken),
        "word/embeddings/b.bin": ("oleObject", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\xff" * 600),
        "word/embeddings/c.txt": ("package", "fine"),
        "word/embeddings/d.zip": ("package", bomb),
    }
    found = converted(with_relations(files.docx(), "word/document.xml", parts), unpacked=2_000_000)
    assert found.text.startswith("needle cell one cell two fine")
    assert found.truncated != ""
    assert len(found.text) < 1000


def test_documents_inside_each_other_end_at_the_limit(converted: Convert) -> None:
    body = files.docx("number 0")
    for number in range(1, 5):
        parts = {
            "word/embeddings/a.docx": ("package", body),
            "word/embeddings/b.txt": ("package", f"beside {number}"),
        }
        body = with_relations(files.docx(f"number {number}"), "word/document.xml", parts)
    found = converted(body, nesting=2)
    assert [f"number {number}" in found.text for number in range(5)] == [False, False, True, True, True]
    assert "beside 3" in found.text
    assert "beside 4" in found.text
    assert found.truncated != ""
