"""Files of definitions are replaced as a whole, so that nobody reads half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Write a file, or another content in its place; a link stays one, and so do permissions. Raises `OSError`.

    A new file is readable by its owner only.
    """
    target = path.resolve()
    with tempfile.NamedTemporaryFile(
        "wb", dir=target.parent, prefix=f"{target.name}.", delete=False
    ) as stream:
        draft = Path(stream.name)
        try:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            if target.exists():
                draft.chmod(target.stat().st_mode)
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
