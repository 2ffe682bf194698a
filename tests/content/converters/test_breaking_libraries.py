"""Libraries in Rust raise what is no `Exception` when they break: it costs the document, and nothing else."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable

import pytest

from ultracrawl.content.converters import markdown
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


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_tells_the_process_to_end_passes(
    ending: type[BaseException], converted: Callable[..., Conversion], monkeypatch: pytest.MonkeyPatch
) -> None:
    def convert(*_: object) -> None:
        raise ending

    monkeypatch.setattr(markdown, "convert", convert)
    with pytest.raises(ending):
        converted(archive(), "application/zip")
