"""Real documents of foreign programs, brought by Debian packages, PyPI packages and `make samples`."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

from support.requirement import require

SAMPLES = Path(__file__).resolve().parents[2] / "var" / "samples"
GUIDE = Path("/usr/share/doc/installation-guide-amd64")
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


def in_source(package: str, path: str) -> bytes:
    """Return a file of a source package that `make samples` fetched; `package` as its archive is called."""
    archive = next(SAMPLES.glob(f"{package}.*"), None)
    require(archive is not None, f"the source package {package} in {SAMPLES}", get="make samples")
    assert archive is not None
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as packed:
            return packed.read(f"{package}/{path}")
    with tarfile.open(archive) as tar:
        member = tar.extractfile(f"{package}/{path}")
        assert member is not None
        return member.read()


def in_olefile(name: str) -> bytes:
    """Return a file of olefile's source package: a document that Word 97 saved, a photograph."""
    return in_source("olefile-0.47", f"tests/images/{name}")


def in_odfpy(name: str) -> bytes:
    """Return a document that OpenOffice, LibreOffice, KOffice or NeoOffice saved."""
    return in_source("odfpy-1.4.1", f"tests/examples/{name}")


def in_docx(name: str) -> bytes:
    """Return a document that Word saved, or a picture that a camera or an editor did."""
    return in_source("python_docx-1.2.0", f"features/steps/test_files/{name}")


def in_pptx(name: str) -> bytes:
    """Return a presentation that PowerPoint saved."""
    return in_source("python_pptx-1.0.2", f"features/steps/test_files/{name}")


def of_adobe(name: str) -> bytes:
    """Return a picture or PDF with XMP, and IPTC, that Photoshop or InDesign saved."""
    return in_source("python_xmp_toolkit-2.1.0", f"test/samples/{name}")


def installation_guide(language: str, name: str) -> bytes:
    """Return a file of Debian's installation guide in a language; `.gz` is unfolded."""
    path = GUIDE / language / name
    require(path.is_file(), f"Debian's installation guide ({path})", "installation-guide-amd64")
    body = path.read_bytes()
    return gzip.decompress(body) if path.suffix == ".gz" else body
