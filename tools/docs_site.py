"""Build the site of the pages, and check that its links lead somewhere.

    python tools/docs_site.py [--service URL --key KEY] [--folder FOLDER]

The Markdown of this repository is staged as it stands, beside pages that are made from the code (tools/references.py),
and Sphinx makes HTML of it; each of its warnings is an error. Then every link of the HTML to the site itself must lead
to a file and an anchor there. Links to elsewhere are only listed, in `external-links.txt`: nothing is requested.

The search of the site is that of Sphinx, which needs no server. With `--service` and `--key` it is our search box,
which asks that service; while it does not answer, readers have the search of Sphinx.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import references
from selectolax.lexbor import LexborHTMLParser

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = ROOT / "docs" / "site"
HOME = SETTINGS / "index.md"
PATTERNS = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md", "examples/**/*.md")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_TO_README = re.compile(r"\]\((?:\.\./)*README\.md(?:#[\w-]*)?\)")


def main(arguments: list[str] | None = None) -> int:
    """Build the site; the status is 1 if Sphinx warns or a link leads nowhere."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "var" / "site", help="where it is built")
    parser.add_argument("--service", default="", help="the address of `ultracrawl serve` for the search box")
    parser.add_argument("--key", default="", help="its public key for the site")
    options = parser.parse_args(arguments)
    if bool(options.service) != bool(options.key):
        parser.error("--service and --key belong together")
    staged, built = options.folder / "pages", options.folder / "html"
    shutil.rmtree(options.folder, ignore_errors=True)
    stage(staged)
    if sphinx(staged, built, options.service.rstrip("/"), options.key):
        return 1
    broken, external = check_links(built)
    (options.folder / "external-links.txt").write_text("".join(f"{one}\n" for one in external))
    print(*broken, sep="\n", end="\n" if broken else "")
    print(f"{built}/index.html: {len(broken)} links lead nowhere, {len(external)} lead elsewhere")
    return bool(broken)


def pages() -> list[Path]:
    """Return the pages of the site that are files, without its home."""
    found = {path for pattern in PATTERNS for path in ROOT.glob(pattern)}
    return sorted(path for path in found if SETTINGS not in path.parents)


def stage(folder: Path) -> None:
    """Put everything that Sphinx reads into a folder: pages where they are in the repository, home, references."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        place = page.parent.relative_to(ROOT)
        _write(folder / place / page.name, _TO_README.sub(f"]({_up(place)}index.md)", text))
        _copy_linked(page, text, folder)
    home = HOME.read_text(encoding="utf-8")
    _write(folder / "index.md", home.replace("](../", "](docs/"))
    _copy_linked(HOME, home, folder)
    _write(folder / "reference" / "verbs.md", references.verbs_page())
    _write(folder / "reference" / "api.md", references.api_page())


def _up(place: Path) -> str:
    return "../" * len(place.parts)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _copy_linked(page: Path, text: str, folder: Path) -> None:
    """Copy the pictures and other files that a page names."""
    for link in _LINK.findall(text):
        file = (page.parent / link.partition("#")[0]).resolve()
        if "://" not in link and file.is_file() and file.suffix != ".md":
            copy = folder / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)


def sphinx(staged: Path, built: Path, service: str, key: str) -> int:
    """Make HTML of the staged pages, and return the status of Sphinx."""
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--conf-dir", str(SETTINGS)]
    environment = {**os.environ, "ULTRACRAWL_SITE_SERVICE": service, "ULTRACRAWL_SITE_KEY": key}
    trees = ["--doctree-dir", str(built.parent / "doctrees")]
    return subprocess.run(
        [*command, *trees, str(staged), str(built)], env=environment, check=False
    ).returncode


def check_links(built: Path) -> tuple[list[str], list[str]]:
    """Return what is wrong with links within the site, and the addresses elsewhere that its pages link to."""
    parsed = {path: LexborHTMLParser(path.read_bytes()) for path in sorted(built.rglob("*.html"))}
    anchors = {path: {node.attributes["id"] for node in page.css("[id]")} for path, page in parsed.items()}
    broken, external = [], set()
    for path, page in parsed.items():
        for link in _links(page):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                external.add(link)
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.is_file() or (anchor and anchor not in anchors.get(target, {anchor})):
                broken.append(f"{path.relative_to(built)}: {link}")
    return broken, sorted(external)


def _links(page: LexborHTMLParser) -> Iterator[str]:
    for name in ("href", "src", "action"):
        for node in page.css(f"[{name}]"):
            if link := node.attributes[name]:
                yield link


if __name__ == "__main__":
    sys.exit(main())
