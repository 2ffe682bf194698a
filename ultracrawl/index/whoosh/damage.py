"""What reading a damaged index raises."""

from __future__ import annotations

import pickle
import struct
import zlib

from whoosh.filedb.filetables import FileFormatError
from whoosh.index import IndexError as WhooshError

DAMAGE = (
    EOFError, ValueError, KeyError, IndexError, AttributeError, AssertionError, TypeError, FileNotFoundError,
    WhooshError, pickle.PickleError, struct.error, zlib.error, MemoryError, OverflowError, ImportError,
    FileFormatError,
)  # fmt: skip
"""What reading a file that is not what it should be can raise in Whoosh, struct, zlib and pickle."""
