"""What stands beside the text of a PDF: comments, forms, bookmarks, attached files."""

from __future__ import annotations

import zlib
from collections.abc import Callable

from support import files

from ultracrawl.model import Conversion

Convert = Callable[..., Conversion]

NOTE = "<< /Type /Annot /Subtype /{} /Rect [0 0 9 9] /Contents ({}) >>"


def test_comments_follow_the_text_of_their_page(converted: Convert) -> None:
    notes = " ".join(
        NOTE.format(kind, text)
        for kind, text in (
            ("Text", "a comment"),
            ("FreeText", "a box"),
            ("Popup", "no"),
            ("Highlight", "Needle"),
        )
    )
    found = converted(files.pdf_with_notes("the needle", page=f"/Annots [{notes}]"))
    assert found.text == "the needle a comment a box"


def test_values_of_forms_are_read_once(converted: Convert) -> None:
    widget = "<< /Type /Annot /Subtype /Widget /Rect [0 0 9 9] {} >>"
    fields = [
        widget.format("/FT /Tx /T (name) /V (Ann Author)"),
        widget.format("/FT /Ch /Ff 131072 /T (town) /V (Paris) /Opt [(Paris) (Rome)]"),
        widget.format("/FT /Btn /T (box) /V /Yes"),
        "<< /FT /Tx /T (twice) /V (shared) /Kids [11 0 R 12 0 R] >>",
        widget.format("/Parent 10 0 R"),
        widget.format("/Parent 10 0 R"),
    ]
    body = files.pdf_with_notes(
        "needle",
        catalog="/AcroForm << /Fields [7 0 R 8 0 R 9 0 R 10 0 R] >>",
        page="/Annots [7 0 R 8 0 R 9 0 R 11 0 R 12 0 R]",
        more=fields,
    )
    assert converted(body).text == "needle Ann Author Paris shared"


def test_bookmarks_that_the_text_does_not_say(converted: Convert) -> None:
    body = files.pdf_with_notes(
        "Chapter  One, needle",
        catalog="/Outlines 7 0 R",
        more=[
            "<< /Type /Outlines /First 8 0 R /Last 10 0 R /Count 3 >>",
            "<< /Title (chapter one) /Parent 7 0 R /Next 9 0 R /Dest [5 0 R /Fit] >>",
            "<< /Title (A part of it) /Parent 7 0 R /Prev 8 0 R /Next 10 0 R /Dest [5 0 R /Fit] >>",
            "<< /Title (nowhere) /Parent 7 0 R /Prev 9 0 R /Next 8 0 R >>",  # a ring
        ],
    )
    assert converted(body).text == "Chapter One, needle A part of it nowhere"


def test_an_attached_file_that_unfolds_costs_itself(converted: Convert) -> None:
    packed = zlib.compress(bytes(3_000_000)).decode("latin-1")
    body = files.pdf_with_notes(
        "needle",
        catalog="/Names << /EmbeddedFiles << /Names [(a) 7 0 R] >> >>",
        more=[
            "<< /Type /Filespec /F (a.txt) /UF (a.txt) /EF << /F 8 0 R >> >>",
            f"<< /Type /EmbeddedFile /Filter /FlateDecode /Length {len(packed)} >>\nstream\n{packed}\nendstream",
        ],
    )
    found = converted(body, unpacked=2_000_000)
    assert found.text == "needle"
    assert "conversion.unpacked" in found.truncated


def test_attached_files(converted: Convert) -> None:
    body = files.pdf_with_notes(
        "needle",
        catalog="/Names << /EmbeddedFiles << /Names [(a) 7 0 R (b) 9 0 R] >> >>",
        more=[
            "<< /Type /Filespec /F (notes.txt) /UF (notes.txt) /EF << /F 8 0 R >> >>",
            "<< /Type /EmbeddedFile /Length 9 >>\nstream\nof a text\nendstream",
            "<< /Type /Filespec /F (broken.txt) /EF << /F 99 0 R >> >>",
        ],
    )
    found = converted(body)
    assert found.text == "needle notes.txt of a text"
    assert found.metadata["attachments"] == ["notes.txt"]
    assert found.truncated != ""
    inner = converted(files.zipped({"a.pdf": body}), nesting=1)
    assert "needle" in inner.text
    assert "of a text" not in inner.text
    assert inner.truncated != ""
