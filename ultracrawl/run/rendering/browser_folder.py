"""The temporary folder of a browser and its driver: removed with them, however they end."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ultracrawl.system.temporary_folder import NAME_BYTES, OwnedFolder

_VARIABLE = "TMPDIR"
_LONGEST = 62
"""Bytes of the path of a folder in which Chromium can make its socket; it ends with a longer one."""
_USUAL = Path("/tmp")  # noqa: S108 - the folder in it is new, and of this user alone
_PAUSES = (0.05, 0.1, 0.2, 0.4)
"""Seconds between attempts to remove the folder: a browser whose driver was killed writes until it notices."""
_environment = asyncio.Lock()
"""Held while the environment of this process has the folder of one browser."""


class BrowserFolder:
    """A folder for profiles, sockets and files of a browser and its driver, which they leave behind if they are killed.

    Those of crawls that were killed themselves are removed when one is made.
    """

    def __init__(self) -> None:
        """Make it. Raises `OSError`."""
        parent = Path(tempfile.gettempdir())
        self._owned = OwnedFolder(parent if len(os.fsencode(parent)) + NAME_BYTES <= _LONGEST else _USUAL)

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._owned.path

    @asynccontextmanager
    async def taken_by_processes(self) -> AsyncIterator[None]:
        """Have processes that are started meanwhile take it for the folder of temporary files.

        Playwright gives its driver the environment of this process, and nothing else.
        """
        async with _environment:
            before = os.environ.get(_VARIABLE)
            os.environ[_VARIABLE] = str(self.path)
            try:
                yield
            finally:
                if before is None:
                    del os.environ[_VARIABLE]
                else:
                    os.environ[_VARIABLE] = before

    async def remove(self) -> None:
        """Delete it, with what a browser writes that is about to end; a later run deletes what is left."""
        try:
            for pause in _PAUSES:
                if self._owned.remove():
                    return
                await asyncio.sleep(pause)
            self._owned.remove()
        finally:
            self._owned.release()
