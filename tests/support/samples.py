"""Real documents of foreign programs, brought by Debian packages, PyPI packages and `make samples`."""

from __future__ import annotations

import gzip
import zipfile
from importlib.util import find_spec
from pathlib import Path

from support.requirement import require

SAMPLES = Path(__file__).resolve().parents[2] / "var" / "samples"
POLICY = Path("/usr/share/doc/debian-policy")
EXCEL = Path("/usr/share/doc/libspreadsheet-parseexcel-perl/examples/sample/Excel")


def debian_policy(name: str) -> bytes:
    """Return `policy.epub` or `policy.pdf` of Debian's policy manual, made by Sphinx."""
    packed = POLICY / f"{name}.gz"
    path = packed if packed.is_file() else POLICY / name
    require(path.is_file(), f"the Debian policy manual ({path})", "debian-policy")
    body = path.read_bytes()
    return gzip.decompress(body) if path == packed else body


def workbook(name: str) -> bytes:
    """Return a workbook that Excel 95 or 97 saved."""
    path = EXCEL / name
    require(path.is_file(), f"the workbook {path}", "libspreadsheet-parseexcel-perl")
    return path.read_bytes()


def in_package(package: str, path: str) -> bytes:
    """Return a document that a package of the `dev` extra ships."""
    spec = find_spec(package)
    file = Path(spec.origin).parent / path if spec and spec.origin else Path(path)
    require(file.is_file(), f"{path} of {package}", get="pip install -e '.[dev]'")
    return file.read_bytes()


def in_olefile(name: str) -> bytes:
    """Return a file of olefile's source package: a document that Word 97 saved, a photograph."""
    path = SAMPLES / "olefile-0.47.zip"
    require(path.is_file(), f"olefile's source package ({path})", get="make samples")
    with zipfile.ZipFile(path) as archive:
        return archive.read(f"olefile-0.47/tests/images/{name}")
