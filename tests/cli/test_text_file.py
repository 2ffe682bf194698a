"""Files that verbs change stay whole, whatever goes wrong."""

import os
from pathlib import Path

import pytest

from ultracrawl.cli.text_file import read_file, replace_file
from ultracrawl.errors import UserError, WorkError


def test_a_file_is_replaced_and_keeps_its_rights(tmp_path: Path) -> None:
    file = tmp_path / "rules.conf"
    replace_file(file, "one\n")
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o640)
    replace_file(file, "two\n")
    assert (read_file(file), file.stat().st_mode & 0o777) == ("two\n", 0o640)


def test_what_cannot_be_written_leaves_nothing_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "rules.conf"
    file.write_text("one\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(WorkError, match=r"rules\.conf cannot be written: No space left on device$"):
        replace_file(file, "two\n")
    assert [path.name for path in tmp_path.iterdir()] == ["rules.conf"]
    assert file.read_text() == "one\n"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nothing", "cannot be read: No such file or directory"),
        (".", "cannot be read: Is a directory"),
        ("latin", "is not UTF-8 (byte 1); save it in that encoding"),
    ],
)
def test_what_cannot_be_read_is_said_once(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / "latin").write_bytes(b"f\xfcr")
    with pytest.raises(UserError) as raised:
        read_file(tmp_path / name)
    assert str(raised.value) == f"{tmp_path / name} {problem}"
