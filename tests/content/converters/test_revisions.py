"""Office documents with tracked changes, comments and hidden text: what a reader sees when all changes are accepted."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from io import BytesIO

import pytest
from support import files

from ultracrawl.model import Conversion

Convert = Callable[..., Conversion]


def members_of(package: bytes) -> dict[str, bytes | str]:
    with zipfile.ZipFile(BytesIO(package)) as plain:
        return {name: plain.read(name) for name in plain.namelist()}


def word(body: str, part: str = "word/document.xml") -> bytes:
    """Return a Word document with this body, or this content of another part."""
    inner = f"<w:body>{body}</w:body>" if part == "word/document.xml" else body
    document = f"<w:document xmlns:w='w' xmlns:m='m' xmlns:mc='mc'>{inner}</w:document>"
    empty = {"word/document.xml": "<w:document xmlns:w='w'/>"}
    return files.zipped(members_of(files.docx()) | empty | {part: document})


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def paragraph(*runs: str, mark: str = "") -> str:
    return f"<w:p><w:pPr><w:rPr>{mark}</w:rPr></w:pPr>{''.join(runs)}</w:p>"


def row(properties: str, *cells: str) -> str:
    written = "".join(f"<w:tc>{cell}</w:tc>" for cell in cells)
    return f"<w:tr><w:trPr>{properties}</w:trPr>{written}</w:tr>"


TABLE = paragraph(run("nested")) + f"<w:tbl>{row('', paragraph(run('deep')))}</w:tbl>"
WORD = {
    "deleted text": (paragraph(run("a"), f"<w:del>{run('gone')}</w:del>", run("b")), "ab"),
    "deleted text as Word writes it": (
        paragraph("<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"),
        "",
    ),
    "inserted text": (paragraph(run("a"), f"<w:ins>{run('new')}</w:ins>"), "anew"),
    "inserted and deleted": (paragraph(f"<w:ins><w:del>{run('gone')}</w:del></w:ins>", run("a")), "a"),
    "moved text": (
        paragraph(f"<w:moveFrom>{run('moved')}</w:moveFrom>", run("a"))
        + paragraph(f"<w:moveTo>{run('moved')}</w:moveTo>"),
        "a moved",
    ),
    "a formula": (paragraph("<w:del><m:r><m:t>x</m:t></m:r></w:del>", run("a")), "a"),
    "the end of a paragraph": (
        paragraph(run("hay"), mark="<w:del/>") + paragraph(run("stack")) + paragraph(run("end")),
        "haystack end",
    ),
    "the end of the last paragraph": (paragraph(run("a")) + paragraph(run("b"), mark="<w:moveFrom/>"), "a b"),
    "an inserted end of a paragraph": (paragraph(run("a"), mark="<w:ins/>") + paragraph(run("b")), "a b"),
    "a row": (
        f"<w:tbl>{row('', paragraph(run('a')))}{row('<w:del/>', TABLE, TABLE)}{row('<w:ins/>', TABLE)}</w:tbl>",
        "a nested deep",
    ),
    "a cell": (
        f"<w:tbl>{row('', '<w:tcPr><w:cellDel/></w:tcPr>' + TABLE, paragraph(run('a')))}</w:tbl>",
        "a",
    ),
    "a deleted link": (
        paragraph("<w:del><w:fldSimple w:instr=' HYPERLINK \"https://x.example/\"'/></w:del>", run("a")),
        "a",
    ),
    "hidden text": (paragraph(run("hidden", "<w:vanish/>"), run("a", '<w:vanish w:val="0"/>')), "a"),
    "a hidden end of a paragraph": (paragraph(run("a"), mark="<w:vanish/><w:specVanish/>"), "a"),
    "text that was hidden": (
        paragraph(run("a", "<w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>")),
        "a",
    ),
    "a box": (
        paragraph(
            run("around"),
            "<mc:AlternateContent><mc:Choice><w:txbxContent>"
            + paragraph(run("inner"), mark="<w:del/>")
            + paragraph(run("most"))
            + "</w:txbxContent></mc:Choice><mc:Fallback><w:p><w:r><w:t>picture</w:t></w:r></w:p></mc:Fallback>"
            "</mc:AlternateContent>",
            run("it"),
        )
        + paragraph(run("next")),
        "aroundit innermost next",
    ),
    "a deleted box": (
        paragraph(
            run("a"), f"<w:del><w:r><w:txbxContent>{paragraph(run('in'))}</w:txbxContent></w:r></w:del>"
        ),
        "a",
    ),
}


def test_a_simple_field_of_word_is_a_link(converted: Convert) -> None:
    field = "<w:fldSimple w:instr=' HYPERLINK \"https://x.example/a\" '>" + run("a") + "</w:fldSimple>"
    found = converted(word(paragraph(field)))
    assert (found.text, found.links) == ("a", ("https://x.example/a",))


def test_word(converted: Convert, subtests: pytest.Subtests) -> None:
    for case, (body, text) in WORD.items():
        with subtests.test(case):
            found = converted(word(body))
            assert (found.text, found.links) == (text, ())


@pytest.mark.parametrize("part", ["header1", "footer1", "footnotes", "endnotes", "comments"])
def test_parts_beside_the_text_of_word(converted: Convert, part: str) -> None:
    body, text = WORD["the end of the last paragraph"]
    assert converted(word(body, f"word/{part}.xml")).text == text


def open_document(body: str, styles: str = "") -> bytes:
    content = (
        "<office:document-content xmlns:office='o' xmlns:text='t' xmlns:table='b' xmlns:style='s' xmlns:dc='d'"
        " xmlns:svg='v' xmlns:draw='w'>"
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return files.zipped(members_of(files.odt()) | {"content.xml": content})


HIDDEN = (
    "<style:style style:name='T1'><style:text-properties text:display='none'/></style:style>"
    "<style:style style:name='T2'><style:text-properties text:display='true'/></style:style>"
)
OPEN = {
    "deleted text": (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes><text:p>a<text:change/>b</text:p>",
        "ab",
    ),
    "inserted text": ("<text:p>a<text:change-start/>new<text:change-end/></text:p>", "anew"),
    "deleted and changed cells": (
        "<table:tracked-changes><table:cell-content-change><table:previous><table:change-track-table-cell>"
        "<text:p>gone</text:p></table:change-track-table-cell></table:previous></table:cell-content-change>"
        "</table:tracked-changes><table:table><table:table-cell><text:p>a</text:p></table:table-cell></table:table>",
        "a",
    ),
    "a comment": (
        "<text:p>hay<office:annotation><dc:creator>Ann</dc:creator><dc:date>2026-03-02</dc:date>"
        "<text:p>remark</text:p><text:p>more</text:p></office:annotation>stack</text:p><text:p>end</text:p>",
        "haystack remark more end",
    ),
    "a date in the text": ("<text:p>on <text:date>2 March</text:date></text:p>", "on 2 March"),
    "a note": (
        "<text:p>hay<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>below</text:p>"
        "</text:note-body></text:note>stack</text:p>",
        "haystack below",
    ),
    "a picture": (
        "<text:p>hay<draw:frame><svg:title>T</svg:title><svg:desc>sun</svg:desc></draw:frame>stack</text:p>",
        "haystack T sun",
    ),
    "hidden text": (
        "<text:p>a<text:span text:style-name='T1'>hid<text:s/><text:span>den</text:span></text:span>"
        "<text:span text:style-name='T2'>b</text:span></text:p><text:p text:style-name='T1'>hidden</text:p>",
        "ab",
    ),
    "a hidden section": (
        "<text:section text:display='none'><text:p>hidden</text:p></text:section><text:p>a</text:p>",
        "a",
    ),
}


def test_open_document(converted: Convert, subtests: pytest.Subtests) -> None:
    for case, (body, text) in OPEN.items():
        with subtests.test(case):
            found = converted(open_document(body, HIDDEN), "application/vnd.oasis.opendocument.text")
            assert found.text == text


RTF = {
    "deleted text": (r"a{\deleted\revauthdel1 gone}b", "ab"),
    "inserted text": (r"a{\revised new}", "anew"),
    "until it is switched off": (r"a\deleted gone\deleted0 b", "ab"),
    "until the formatting ends": (r"a\v hidden\plain b", "ab"),
    "hidden and deleted": (r"a\v\deleted gone\deleted0 hidden\v0 b", "ab"),
    "letters of all kinds": (r"a{\deleted \'e4\u228?\emdash\~\{}b", "ab"),
    "the end of a paragraph": (r"hay{\deleted\par}stack", "haystack"),
    "a group in it": (r"a{\v {\b hidden}}b", "ab"),
    "a link": (r'a{\deleted {\field{\*\fldinst HYPERLINK "https://x.example/"}{\fldrslt x}}}b', "ab"),
    "words that begin alike": (r"\viewkind4\deletedx a", "a"),
    "braces without partners": (r"a{\v hidden}}}{b", "a"),
}


def test_rtf(converted: Convert, subtests: pytest.Subtests) -> None:
    for case, (body, text) in RTF.items():
        with subtests.test(case):
            found = converted((r"{\rtf1\ansi " + body + "}").encode(), "application/rtf")
            assert (found.text, found.links) == (text, ())


SLIDE_COMMENT = (
    "<p:cmLst xmlns:p='p'><p:cm><p:text>remark</p:text></p:cm><p:cm><p:text>more</p:text></p:cm></p:cmLst>"
)
THREAD = (
    "<p:cmLst xmlns:p='p' xmlns:a='a'><p:cm><p:replyLst><p:reply><p:txBody><a:p><a:r><a:t>remark</a:t></a:r>"
    "</a:p></p:txBody></p:reply></p:replyLst><p:txBody><a:p><a:r><a:t>more</a:t></a:r></a:p></p:txBody></p:cm></p:cmLst>"
)
SHEET_COMMENT = (
    "<comments xmlns='c'><authors><author>Ann</author></authors><commentList><comment><text>"
    "<r><t>rem</t></r><r><t>ark</t></r></text></comment><comment><text><t>more</t></text></comment></commentList></comments>"
)


@pytest.mark.parametrize(
    ("package", "part", "content"),
    [
        (files.pptx(), "ppt/comments/comment1.xml", SLIDE_COMMENT),
        (files.pptx(), "ppt/comments/modernComment_100_0.xml", THREAD),
        (files.xlsx(), "xl/comments1.xml", SHEET_COMMENT),
        (files.xlsx(), "xl/comments/comment1.xml", SHEET_COMMENT),
    ],
)
def test_comments_of_slides_and_sheets(converted: Convert, package: bytes, part: str, content: str) -> None:
    assert converted(files.zipped(members_of(package) | {part: content})).text.endswith(" remark more")


def test_what_a_shared_workbook_was_is_not_read(converted: Convert) -> None:
    log = "<revisions xmlns='r'><rcc><oc><is><t>gone</t></is></oc></rcc></revisions>"
    body = files.zipped(members_of(files.xlsx()) | {"xl/revisions/revisionLog1.xml": log})
    assert "gone" not in converted(body).text
