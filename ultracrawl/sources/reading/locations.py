"""Locates and reads definition files: a file, a folder, or a folder inside an installed package."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from ultracrawl.dataclass import dataclass
from ultracrawl.model import DefinitionError, Finding

PROJECT_FILE = "ultracrawl.yaml"
SOURCES_FOLDER = "sources"
MAX_BYTES = 64 << 20
"""Maximum size of a definition file, in bytes."""

_SUFFIXES = (".yaml", ".yml")
_IN_PACKAGE = re.compile(r"([A-Za-z_]\w+(?:\.[A-Za-z_]\w*)*):([^\\:]*)")


Version = tuple[int, ...]
_tracked: ContextVar[dict[Path, Version] | None] = ContextVar("_tracked", default=None)


@dataclass(frozen=True, slots=True)
class DefinitionText:
    """The text of one definition file, its name in findings, and its name without suffix."""

    file: str
    stem: str
    text: str


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A source file that cannot be read: its name without suffix, and the reasons."""

    stem: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Definitions:
    """The files of one location: the project file if there is one, and the files with sources only."""

    base: Path
    main: DefinitionText | None
    others: tuple[DefinitionText | UnreadFile, ...] = ()


def read_location(location: str | Path) -> Definitions:
    """Read all files of a location. Raises `DefinitionError` if the main file is missing or cannot be read.

    For a file `ultracrawl.yaml`, the files in the folder `sources` beside it are read too. For a folder, its
    `ultracrawl.yaml` is read, or else all its files as source files. `package:folder` is a folder in a package; the
    data of its sources are stored below the working directory.
    """
    path = Path(location)
    packaged = _IN_PACKAGE.fullmatch(str(location))
    if packaged and not path.exists():
        folder = _package_folder(str(location), packaged[1], packaged[2])
        return _read_folder(folder, str(location), Path.cwd())
    if path.is_dir():
        return _read_folder(path, str(path), path)
    if path.name != PROJECT_FILE:
        return Definitions(path.parent, read_text(path, str(path)))
    return _with_sources(path.parent, str(path.parent), path.parent, read_text(path, str(path)))


@contextmanager
def tracked_files() -> Iterator[dict[Path, Version]]:
    """Record the files and folders that are read inside the block, existing or not, with their versions before that."""
    files = dict[Path, Version]()
    before = _tracked.set(files)
    try:
        yield files
    finally:
        _tracked.reset(before)


def track_file(path: Traversable) -> None:
    """Record a file or folder for `tracked_files`, before it is read; files in packages never change."""
    files = _tracked.get()
    if files is not None and isinstance(path, Path):
        files.setdefault(path, file_version(path))


def file_version(path: Path) -> Version:
    """Return a version of a file or folder that changes when it does; empty if it does not exist."""
    try:
        now = path.stat()
    except (OSError, ValueError):
        return ()
    # A file that replaces another one may have the same date and size.
    return now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino


def read_text(file: Traversable, shown: str) -> DefinitionText:
    """Read one file. Raises `DefinitionError` with one finding."""
    track_file(file)
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _unreadable(
            shown, "there is no such file", f"give the path of a definition file, as {PROJECT_FILE}"
        ) from None
    except IsADirectoryError:
        raise _unreadable(shown, "is a folder", "give the path of a file in it") from None
    except OSError as error:
        raise _unreadable(
            shown, f"cannot be read: {error.strerror or error}", "check the file and its rights"
        ) from None
    return DefinitionText(shown, file.name.rpartition(".")[0] or file.name, decode(data, shown))


def decode(data: bytes, shown: str) -> str:
    """Return the text of a file. Raises `DefinitionError` if it is too large or not UTF-8 text."""
    if len(data) > MAX_BYTES:
        raise _unreadable(shown, f"is larger than {MAX_BYTES >> 20} MB", "split it into several files")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise _unreadable(shown, "is in the encoding UTF-16", "save the file in the encoding UTF-8", 1)
    if b"\0" in data:
        raise _unreadable(shown, "is not a text file", "give a YAML file in UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _unreadable(shown, "is not UTF-8", "save the file in the encoding UTF-8", line) from None


def _unreadable(file: str, problem: str, instead: str, line: int = 0) -> DefinitionError:
    return DefinitionError([Finding(file, line, "file", problem, instead)])


def _package_folder(location: str, package: str, folder: str) -> Traversable:
    try:
        found = files(package).joinpath(folder) if folder else files(package)
    except (ImportError, TypeError):
        problem = f"there is no package `{package}`"
        raise _unreadable(location, problem, "install it, or give the path of a file or folder") from None
    if not found.is_dir():
        raise _unreadable(
            location, f"the package `{package}` has no folder `{folder}`", "name a folder in the package"
        )
    return found


def _read_folder(folder: Traversable, shown: str, base: Path) -> Definitions:
    track_file(folder)
    separator = "" if shown.endswith(":") else "/"
    main = folder.joinpath(PROJECT_FILE)
    if main.is_file():
        return _with_sources(folder, shown, base, read_text(main, f"{shown}{separator}{PROJECT_FILE}"))
    others = _read_all(folder, f"{shown}{separator}")
    if not others:
        raise _unreadable(shown, "there is no definition file in this folder", f"write {PROJECT_FILE} in it")
    return Definitions(base, None, others)


def _with_sources(folder: Traversable, shown: str, base: Path, main: DefinitionText) -> Definitions:
    sources = folder.joinpath(SOURCES_FOLDER)
    track_file(sources)
    others = _read_all(sources, f"{shown}/{SOURCES_FOLDER}/") if sources.is_dir() else ()
    return Definitions(base, main, others)


def _read_all(folder: Traversable, prefix: str) -> tuple[DefinitionText | UnreadFile, ...]:
    found = sorted(
        (file for file in folder.iterdir() if file.name.endswith(_SUFFIXES)), key=lambda file: file.name
    )
    texts: list[DefinitionText | UnreadFile] = []
    for file in found:
        try:
            texts.append(read_text(file, prefix + file.name))
        except DefinitionError as error:
            texts.append(UnreadFile(file.name.rpartition(".")[0], error.findings))
    return tuple(texts)
