"""A file system on which nothing can be written, or that nobody may write to: one line with what to do."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.sentences import sentence

from ultracrawl.errors import WorkError
from ultracrawl.system.files import ELSEWHERE, convert_write_errors, why_not_writable


def test_a_read_only_file_system_is_called_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    told = why_not_writable(tmp_path / "var" / "state")
    assert sentence("files.read_only") in told
    assert told.startswith(str(tmp_path))
    assert told.endswith(ELSEWHERE)


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (errno.EROFS, sentence("files.read_only")),
        (errno.ENOSPC, sentence("files.disk_is_full")),
        (errno.EDQUOT, sentence("files.disk_is_full")),
        (errno.EFBIG, sentence("files.too_large")),
    ],
)
def test_why_a_file_cannot_be_written_and_what_to_do(number: int, told: str) -> None:
    with pytest.raises(WorkError) as raised, convert_write_errors("x.yaml"):
        raise OSError(number, os.strerror(number))
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)
