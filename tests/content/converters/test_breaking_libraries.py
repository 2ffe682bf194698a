"""Libraries in Rust raise what is no `Exception` when they break: it costs the document, and nothing else."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable

import pytest
from support import files

from ultracrawl.content.converters import markdown
from ultracrawl.content.converters.office import spreadsheets
from ultracrawl.content.service.frames import LENGTH
from ultracrawl.content.service.job import Job
from ultracrawl.content.service.worker import _JobRun
from ultracrawl.model import Conversion


class PanicException(BaseException):
    """What pyo3 makes of a panic."""


@pytest.fixture(
    params=[PanicException("index out of range"), AssertionError("odd")], ids=["panic", "assertion"]
)
def broken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> BaseException:
    def convert(*_: object) -> None:
        raise request.param

    monkeypatch.setattr(markdown, "convert", convert)
    error: BaseException = request.param
    return error


def archive() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("one.txt", "heron at the water")
        made.writestr("two.md", "# egret")
        made.writestr("three.txt", "crane in the field")
    return out.getvalue()


def test_a_member_that_breaks_its_converter_is_left_out(
    broken: BaseException, converted: Callable[..., Conversion]
) -> None:
    found = converted(archive(), "application/zip")
    assert "heron at the water" in found.text
    assert "crane in the field" in found.text
    assert f"two.md: {broken}" in found.truncated


@pytest.mark.parametrize("broken", [PanicException("index out of range")], indirect=True)
def test_a_conversion_process_goes_on_after_it(broken: BaseException) -> None:
    answers = io.BytesIO()
    _JobRun(answers).run(Job(b"# egret", "text/markdown"))
    frame = json.loads(answers.getvalue()[LENGTH.size :])
    assert frame["status"] == 903
    assert str(broken) in str(frame["reason"])


def binary_texts(*texts: str) -> bytes:
    """Return the table of texts of a binary workbook ([MS-XLSB] 2.1.7.50)."""
    out = b"\x9f\x01\x08" + bytes(8)
    for text in texts:
        data = b"\0" + len(text).to_bytes(4, "little") + text.encode("utf-16-le")
        out += bytes([19, len(data) & 0x7F | 0x80, len(data) >> 7]) + data
    return out + b"\xa0\x01\0"


@pytest.mark.parametrize("error", [PanicException("index out of range"), ValueError("odd")])
@pytest.mark.parametrize(
    ("table", "content"),
    [
        ("xl/sharedStrings.bin", binary_texts("heron", "x" * 100, "crane")),
        ("xl/sharedStrings.xml", b"<sst><si><t>heron</t></si><si><r><t>crane</t></r></si></sst>"),
    ],
)
def test_a_sheet_that_breaks_its_library_costs_its_numbers(
    converted: Callable[..., Conversion],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    table: str,
    content: bytes,
) -> None:
    class Workbook:
        sheet_names = ("One",)

        @classmethod
        def from_filelike(cls, _: object) -> Workbook:
            return cls()

        def get_sheet_by_name(self, _: str) -> object:
            raise error

    monkeypatch.setattr(spreadsheets, "CalamineWorkbook", Workbook)
    body = files.zipped({"xl/workbook.bin": b"", table: content})
    found = converted(body, "application/vnd.ms-excel.sheet.binary.macroenabled.12")
    words = found.text.split()
    assert words[:2] == ["One", "heron"]
    assert words[-1] == "crane"
    assert str(error) in found.truncated


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_tells_the_process_to_end_passes(
    ending: type[BaseException], converted: Callable[..., Conversion], monkeypatch: pytest.MonkeyPatch
) -> None:
    def convert(*_: object) -> None:
        raise ending

    monkeypatch.setattr(markdown, "convert", convert)
    with pytest.raises(ending):
        converted(archive(), "application/zip")
