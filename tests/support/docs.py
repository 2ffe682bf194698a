"""Large real-life HTML sites that Debian packages bring along."""

from pathlib import Path

from support.requirement import require

POSTGRESQL = Path("/usr/share/doc/postgresql-doc-15/html")
PYTHON = Path("/usr/share/doc/python3.11/html")


def postgresql_html() -> Path:
    """Return the PostgreSQL 15 manual: more than 1,000 flat HTML pages; skip or fail without it."""
    return _site(POSTGRESQL, "the PostgreSQL manual", "postgresql-doc-15")


def python_html() -> Path:
    """Return the Python 3.11 manual: about 500 pages in nested folders; skip or fail without it."""
    return _site(PYTHON, "the Python manual", "python3.11-doc")


def _site(directory: Path, what: str, package: str) -> Path:
    require((directory / "index.html").is_file(), f"{what} ({directory})", package)
    return directory.resolve()
