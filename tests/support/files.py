"""Documents that tests make themselves, small and with known words, by format."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.message import EmailMessage

MADE = datetime(2024, 3, 1, 12, 0, tzinfo=UTC)


def pdf(pages: Iterable[str] = ("needle",), *, link: str = "", title: str = "", author: str = "") -> bytes:
    """Return a PDF with a line of text on each page, one link on the first, and properties."""
    texts = list(pages)
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R /Lang (de-DE) >>"]
    first = 5
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(len(texts)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(texts)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    objects.append(
        f"<< /Title ({title}) /Author ({author}) /Subject (Testing) /Keywords (alpha, beta; gamma)"
        " /Creator (a hand) /Producer (a test) /CreationDate (D:20240301120000+01'00') >>".encode()
    )
    for number, text in enumerate(texts):
        annotation = (
            f" /Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI ({link}) >> >>]"
            if link and not number
            else ""
        )
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {first + 2 * number + 1} 0 R"
            f" /Resources << /Font << /F1 3 0 R >> >>{annotation} >>".encode()
        )
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    return _pdf_file(objects)


def pdf_with_notes(text: str, catalog: str = "", page: str = "", more: Iterable[str] = ()) -> bytes:
    """Return a PDF of one page, number 5, with further entries of its catalog and page, and objects from 7 on."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode("latin-1")
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode(),
        b"<< /Type /Pages /Kids [5 0 R] /Count 1 >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Title (T) >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 6 0 R"
        f" /Resources << /Font << /F1 3 0 R >> >> {page} >>".encode(),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        *(one.encode("latin-1") for one in more),
    ]
    return _pdf_file(objects)


def _pdf_file(objects: list[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer << /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        start,
    )
    return bytes(out)


def zipped(members: Mapping[str, bytes | str], *, first: str = "") -> bytes:
    """Return a zip file; `first` is stored before all others, as `mimetype` has to be."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        if first:
            archive.writestr(zipfile.ZipInfo("mimetype"), first)
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def locked_zip(members: Mapping[str, bytes | str]) -> bytes:
    """Return a zip file whose members are marked as encrypted."""
    body = bytearray(zipped(members))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = body.find(signature)
        while at >= 0:
            body[at + offset] |= 1
            at = body.find(signature, at + 4)
    return bytes(body)


def locked_pdf() -> bytes:
    """Return a PDF that no empty password opens."""
    key = "<" + "5a" * 32 + ">"
    locked = (
        f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O {key} /U {key} >> /ID [<00> <00>] /Root".encode()
    )
    return pdf().replace(b"/Root", locked)


def tarred(members: Mapping[str, bytes], mode: str = "w") -> bytes:
    """Return a tar archive; `w:gz`, `w:bz2` and `w:xz` compress it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def docx(text: str = "needle", *, link: str = "", title: str = "T") -> bytes:
    """Return a Word document made with python-docx."""
    import docx as library

    document = library.Document()
    properties = document.core_properties
    properties.title, properties.author, properties.subject = title, "Ann Author", "Testing"
    properties.keywords, properties.language, properties.created = "alpha, beta", "fr", MADE
    paragraph = document.add_paragraph(text[:3])
    paragraph.add_run(text[3:])
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text = "cell one"
    table.rows[0].cells[1].text = "cell two"
    if link:
        document.part.relate_to(
            link,
            "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink",
            is_external=True,
        )
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def docx_with_properties(properties: Mapping[str, str]) -> bytes:
    """Return a Word document with properties that people made ([ISO/IEC 29500] part 1, 22.3)."""
    with zipfile.ZipFile(io.BytesIO(docx())) as plain:
        members: dict[str, bytes | str] = {name: plain.read(name) for name in plain.namelist()}
    rows = "".join(
        f'<property fmtid="{{D5CDD505-2E9C-101B-9397-08002B2CF9AE}}" pid="{number}" name="{name}">'
        f"<vt:lpwstr>{value}</vt:lpwstr></property>"
        for number, (name, value) in enumerate(properties.items(), 2)
    )
    types = "http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes"
    members["docProps/custom.xml"] = f'<Properties xmlns="c" xmlns:vt="{types}">{rows}</Properties>'
    return zipped(members)


def pptx(text: str = "needle", *, link: str = "") -> bytes:
    """Return a presentation made with python-pptx: two slides, notes, a link."""
    import pptx as library

    presentation = library.Presentation()
    presentation.core_properties.title = "T"
    presentation.core_properties.author = "Ann Author"
    for number in range(2):
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number}"
        slide.placeholders[1].text = text
        slide.notes_slide.notes_text_frame.text = f"note {number}"
        if link:
            slide.shapes.title.text_frame.paragraphs[0].runs[0].hyperlink.address = link
    out = io.BytesIO()
    presentation.save(out)
    return out.getvalue()


def xlsx(text: str = "needle", *, link: str = "") -> bytes:
    """Return a workbook made with openpyxl: text, a number, a date, a link, a second sheet."""
    import openpyxl

    workbook = openpyxl.Workbook()
    workbook.properties.title = "T"
    workbook.properties.creator = "Ann Author"
    sheet = workbook.active
    sheet.title = "First"
    sheet.append([text, 42, 1.5, MADE.date(), True])
    if link:
        sheet["A2"] = "see"
        sheet["A2"].hyperlink = link
    workbook.create_sheet("Second").append(["other"])
    out = io.BytesIO()
    workbook.save(out)
    return out.getvalue()


def odt(
    text: str = "needle", *, link: str = "", title: str = "T", own: Mapping[str, str] | None = None
) -> bytes:
    """Return a text document made with odfpy."""
    from odf import dc, meta
    from odf.opendocument import OpenDocumentText
    from odf.text import A, H, P, Span

    document = OpenDocumentText()
    document.meta.addElement(dc.Title(text=title))
    document.meta.addElement(meta.InitialCreator(text="Ann Author"))
    document.meta.addElement(meta.Keyword(text="alpha"))
    for name, value in (own or {}).items():
        document.meta.addElement(meta.UserDefined(name=name, text=value))
    document.text.addElement(H(outlinelevel=1, text="Heading"))
    paragraph = P(text=text[:3])
    paragraph.addElement(Span(text=text[3:]))
    paragraph.addText(" after")
    if link:
        paragraph.addElement(A(href=link, text=" link"))
    document.text.addElement(paragraph)
    out = io.BytesIO()
    document.write(out)
    return out.getvalue()


def open_document(kind: str, text: str, link: str) -> bytes:
    """Return a document of a kind of OpenDocument (`spreadsheet`, `presentation`) with one paragraph and a link."""
    names = "xmlns:o='o' xmlns:t='t' xmlns:x='x' xmlns:m='m' xmlns:d='d'"
    content = (
        f"<o:document-content {names}><o:body><o:{kind}><t:p>{text} <t:a x:href='{link}'>see</t:a></t:p>"
    )
    meta = "<d:title>T</d:title><m:initial-creator>Ann Author</m:initial-creator>"
    members = {
        "content.xml": f"{content}</o:{kind}></o:body></o:document-content>",
        "meta.xml": f"<o:document-meta {names}><o:meta>{meta}<m:creation-date>2024-03-01T12:00:00</m:creation-date>"
        "</o:meta></o:document-meta>",
    }
    return zipped(members, first=f"application/vnd.oasis.opendocument.{kind}")


def epub(text: str = "needle", *, link: str = "") -> bytes:
    """Return an electronic book with two chapters."""
    chapter = "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>C</title></head><body><p>{}</p></body></html>"
    opf = """<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
        <dc:title>T</dc:title><dc:creator>Ann Author</dc:creator><dc:language>sv</dc:language>
        <dc:subject>alpha</dc:subject></metadata>
        <manifest><item id="a" href="one%20x.xhtml"/><item id="b" href="two.xhtml"/></manifest>
        <spine><itemref idref="b"/><itemref idref="a"/></spine></package>"""
    container = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    anchor = f'<a href="{link}">x</a><a href="two.xhtml">y</a>' if link else ""
    members = {
        "META-INF/container.xml": container,
        "OPS/book.opf": opf,
        "OPS/one x.xhtml": chapter.format(f"last chapter {anchor}"),
        "OPS/two.xhtml": chapter.format(text),
    }
    return zipped(members, first="application/epub+zip")


def message(text: str = "needle", *, html: str = "", attachments: Mapping[str, bytes] | None = None) -> bytes:
    """Return an e-mail message."""
    mail = EmailMessage()
    mail["Message-ID"] = "<1@mail.example>"
    mail["Subject"] = "Grüße T"
    mail["From"] = "Ann Author <ann@mail.example>"
    mail["To"] = "Bob <bob@mail.example>"
    mail["Date"] = "Fri, 01 Mar 2024 12:00:00 +0000"
    mail.set_content(text)
    if html:
        mail.add_alternative(html, subtype="html")
    for name, body in (attachments or {}).items():
        mail.add_attachment(body, maintype="application", subtype="octet-stream", filename=name)
    return bytes(mail)


def rtf(text: str = "needle", *, link: str = "") -> bytes:
    """Return RTF with an information group."""
    field = rf'{{\field{{\*\fldinst HYPERLINK "{link}"}}{{\fldrslt see}}}}' if link else ""
    return (
        r"{\rtf1\ansi\ansicpg1252{\info{\title T}{\author Jos\'e9 Author}{\keywords alpha, beta}"
        r"{\creatim\yr2024\mo3\dy1\hr12\min0}{\nofpages2}}{\fonttbl{\f0 Arial;}}"
        + text
        + field
        + r"\par end}"
    ).encode("latin-1")


def image(kind: str = "PNG", description: str = "needle") -> bytes:
    """Return a small image with metadata, made with Pillow."""
    from PIL import Image, PngImagePlugin

    picture = Image.new("RGB", (4, 3))
    out = io.BytesIO()
    if kind == "PNG":
        info = PngImagePlugin.PngInfo()
        info.add_text("Title", "T")
        info.add_text("Author", "Ann Author")
        info.add_text("Description", description)
        picture.save(out, "PNG", pnginfo=info)
    else:
        exif = Image.Exif()
        exif[270], exif[315], exif[306] = description.encode(), "Ann Author", "2024:03:01 12:00:00"
        picture.save(out, kind, exif=exif)
    return out.getvalue()


def image_with_iptc(records: Iterable[tuple[tuple[int, int], bytes]]) -> bytes:
    """Return a JPEG with IPTC records, in the block of Photoshop that holds them."""
    data = b"".join(struct.pack(">BBBH", 0x1C, *number, len(value)) + value for number, value in records)
    block = b"Photoshop 3.0\0" + b"8BIM\x04\x04\0\0" + struct.pack(">I", len(data)) + data
    plain = image("JPEG")
    return (
        plain[:2]
        + b"\xff\xed"
        + struct.pack(">H", len(block) + 2)
        + block
        + plain[2:].replace(b"Exif\0\0", b"None\0\0")
    )


def url_moniker(url: str) -> bytes:
    """Return a link as workbooks of before 2007 hold it."""
    text = url.encode("utf-16-le") + b"\0\0"
    return bytes.fromhex("e0c9ea79f9bace118c8200aa004ba90b") + struct.pack("<I", len(text)) + text


def slide_link(url: str) -> bytes:
    """Return a link as presentations of before 2007 hold it: its number, what it is called, its target."""
    called, target = "link".encode("utf-16-le"), url.encode("utf-16-le")
    inside = struct.pack("<HHII", 0, 0x0FD3, 4, 1)
    inside += struct.pack("<HHI", 0, 0x0FBA, len(called)) + called
    inside += struct.pack("<HHI", 0x10, 0x0FBA, len(target)) + target
    return struct.pack("<HHI", 0xF, 0x0FD7, len(inside)) + inside


def seven_zipped(members: Mapping[str, bytes], password: str | None = None) -> bytes:
    """Return a 7z archive."""
    import py7zr

    out = io.BytesIO()
    with py7zr.SevenZipFile(out, "w", password=password) as archive:
        for name, content in members.items():
            archive.writestr(content, name)
    return out.getvalue()
