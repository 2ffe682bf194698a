"""Take the pictures of the search page in docs/images: light, dark, on a phone, with suggestions.

    python tools/screenshots.py [--folder DIR]

Documentation of Debian packages (`make servers` installs it) is crawled into a temporary folder and served on loopback;
Chromium visits the pages. Look at the pictures before you commit them.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

DOCUMENTS = Path("/usr/share/doc")
DEFINITION = f"""
search_page: {{public: true, title: Example Docs}}
processes: {{default_interval: null}}
defaults: {{storage: {{keep: true}}}}
sources:
  Manual: {{type: file, public: true, paths: [{DOCUMENTS}/postgresql-doc-15/html/]}}
  FAQ: {{type: file, public: true, paths: [{DOCUMENTS}/debian/FAQ/de/, {DOCUMENTS}/debian/FAQ/fr/]}}
  Policy: {{type: file, public: true, paths: [{DOCUMENTS}/debian-policy/]}}
"""
DESKTOP, PHONE = (1280, 900), (390, 844)
QUERY = "/?q=create+index"


def take(page: Page, address: str, name: str) -> None:
    """Bring a page into the state of a picture."""
    page.goto(address + ("/" if name == "search-page-suggestions" else QUERY))
    if name == "search-page-suggestions":
        page.keyboard.type("create ind")
        page.wait_for_selector("#suggestions [role=option]")
        page.keyboard.press("ArrowDown")
    elif name != "search-page-phone":
        page.click(".value:has-text('Web page')")
        page.wait_for_selector(".chip")
        page.locator(".hit h3 a").first.focus()
    page.wait_for_load_state("networkidle")


PICTURES: dict[str, tuple[tuple[int, int], str]] = {
    "search-page": (DESKTOP, "light"),
    "search-page-dark": (DESKTOP, "dark"),
    "search-page-suggestions": (DESKTOP, "light"),
    "search-page-phone": (PHONE, "light"),
}
"""The pictures: size of the window and colours."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Crawl the documents and serve the page; gives its address."""
    program = [sys.executable, "-m", "ultracrawl"]
    (folder / "ultracrawl.yaml").write_text(DEFINITION)
    subprocess.run([*program, "crawl"], cwd=folder, check=False, stdout=subprocess.DEVNULL)
    command = [*program, "serve", "--port", "0"]
    with subprocess.Popen(
        command, cwd=folder, text=True, stderr=subprocess.STDOUT, stdout=subprocess.PIPE
    ) as service:
        assert service.stdout is not None
        lines = iter(service.stdout)
        address = next(filter(None, (re.search(r"http://127\.0\.0\.1:\d+", line) for line in lines)))[0]
        try:
            yield address
        finally:
            service.terminate()


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(__file__).resolve().parents[1] / "docs" / "images"
    parser.add_argument(
        "--folder", type=Path, default=default, help=f"where to put them (default: {default})"
    )
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as address,
        sync_playwright() as playwright,
    ):
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, ((width, height), colours) in PICTURES.items():
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme="dark" if colours == "dark" else "light",
            )
            take(page, address, name)
            page.screenshot(path=options.folder / f"{name}.png")
            print(options.folder / f"{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
