"""Text files that verbs change for people: read whole, and replaced whole."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ultracrawl.errors import UserError, WorkError


def read_file(path: Path) -> str:
    """Return the text of a file. Raises `UserError` if it cannot be read or is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 (byte {error.start}); save it in that encoding") from error


def replace_file(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Replace a file as a whole, so that nobody reads half of it; one that is new gets `mode`.

    Raises `WorkError`; the file is then as it was, and nothing is left beside it.
    """
    made = ""
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as stream:
            made = stream.name
            stream.write(text)
        Path(made).chmod(path.stat().st_mode if path.exists() else mode)
        os.replace(made, path)
    except OSError as error:
        if made:
            Path(made).unlink(missing_ok=True)
        raise WorkError(f"{path} cannot be written: {error.strerror or error}") from error
