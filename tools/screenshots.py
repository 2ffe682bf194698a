"""Take the pictures of the pages and the search box in docs/images: light, dark, on a phone, with suggestions.

    python tools/screenshots.py [--folder DIR]

Documentation of Debian packages (`make servers` installs it) is served, crawled into a temporary folder, and searched;
all on loopback. Chromium visits the search page, a page of the documentation with the box, and, signed in, the
administration; it also shows what a command prints on a terminal. Look at the pictures before you commit them.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

DOCUMENTS = Path("/usr/share/doc")
MANUAL = "postgresql-doc-15/html/"
DEFINITION = """
search_page: {public: true, title: Example Docs}
search: {group_names: {manual: {en: PostgreSQL manual}}}
processes: {default_interval: null}
defaults: {storage: {keep: true}, refresh: {interval: 24 h}}
sources:
  Manual:
    start_urls: ["SITE/MANUAL"]
    only: ["/MANUAL"]
    public: confirmed
    groups: [manual]
    boundary: {networks: [127.0.0.0/8]}
    politeness: {delay: 0, concurrency: 8}
  FAQ: {type: file, public: true, paths: [DOCUMENTS/debian/FAQ/de/, DOCUMENTS/debian/FAQ/fr/]}
  Policy: {type: file, public: true, paths: [DOCUMENTS/debian-policy/]}
  News: {start_urls: ["SITE/nothing-here/"], public: confirmed, boundary: {networks: [127.0.0.0/8]}}
  Books:
    start_urls: ["SITE/debian/FAQ/fr/"]
    public: confirmed
    crawling_mode: examine
    boundary: {networks: [127.0.0.0/8]}
  Wiki: {start_urls: ["SITE/MANUAL"], public: confirmed, depht: 3}
"""
CRAWLS = (("Manual", "FAQ", "Policy", "News", "Books"), ("FAQ", "Policy", "News"), ("Policy",))
"""The sources of each of the crawls, so that some have more runs than others."""
USER, PASSWORD = "anna", "a password of pictures"
DESKTOP, PHONE, TERMINAL = (1280, 900), (390, 844), (1000, 400)
LINES, COLUMNS = 40, 100
QUERY = "/?q=create+index"


class Places(NamedTuple):
    """Where the pictures are taken."""

    site: str
    """The documentation."""
    service: str
    key: str
    """The public key for the documentation."""
    folder: Path
    """Where the definition and its data are."""


def search_page(page: Page, places: Places) -> None:
    """Choose a filter and a hit."""
    page.goto(places.service + QUERY)
    page.click(".value:has-text('Web page')")
    page.wait_for_selector(".chip")
    page.locator(".hit h3 a").first.focus()


def phone(page: Page, places: Places) -> None:
    """Show results."""
    page.goto(places.service + QUERY)


def suggestions(page: Page, places: Places) -> None:
    """Type, and choose a suggestion."""
    page.goto(places.service)
    page.locator("#query").press_sequentially("create ind")
    page.wait_for_selector("#suggestions [role=option]")
    page.keyboard.press("ArrowDown")


def search_box(page: Page, places: Places) -> None:
    """Open the box in a page of the documentation, type, and choose a section."""
    page.goto(f"{places.site}/{MANUAL}indexes-intro.html")
    page.add_script_tag(url=f"{places.service}/static/box.js")
    page.evaluate(
        "([key, all]) => { const box = document.createElement('ultracrawl-search'); box.setAttribute('key', key);"
        " box.setAttribute('all-results', all); document.body.prepend(box); box.open(); }",
        [places.key, f"{places.service}/?q={{query}}"],
    )
    page.keyboard.type("create index conc")
    page.wait_for_selector("ultracrawl-search [role=option].section")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")


def overview(page: Page, places: Places) -> None:
    """Show all sources."""
    page.goto(f"{places.service}/admin")


def source(page: Page, places: Places) -> None:
    """Show a source."""
    page.goto(f"{places.service}/admin/sources/Policy")


def excluded_url(page: Page, places: Places) -> None:
    """Show why a URL is not in the index."""
    page.goto(f"{places.service}/admin/sources/Manual/url?url={places.site}/debian-policy/")


def what_if(page: Page, places: Places) -> None:
    """Exclude a part of the manual, and look at what that would drop."""
    page.goto(f"{places.service}/admin/sources/Manual/definition")
    lines = page.input_value("textarea")
    page.fill("textarea", lines.replace("    public:", f"    exclude: [/{MANUAL}ecpg]\n    public:", 1))
    page.click("form:has(textarea) button")
    page.wait_for_selector(".difference .added")


def explain(page: Page, places: Places) -> None:
    """Show why a URL is excluded, as a terminal does."""
    words = ["explain", f"{places.site}/debian-policy/", "--source", "Manual"]
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"))  # noqa: SIM115 - ends with the program
    console.print(
        Text.from_ansi(f"$ {shlex.join(['ultracrawl', *words])}\n{on_a_terminal(words, places.folder)}")
    )
    style = "body { margin: 0; padding: 16px 20px; font-size: 15px; width: max-content; height: max-content }"
    page.set_content(console.export_html(theme=MONOKAI).replace("</style>", f"{style}</style>"))
    width, height = page.evaluate("[document.body.offsetWidth, document.body.offsetHeight]")
    page.set_viewport_size({"width": width, "height": height})


def on_a_terminal(words: list[str], folder: Path) -> str:
    """Run a command in a folder, and return what it prints on a terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (LINES, COLUMNS))
    environment = {**os.environ, "LINES": str(LINES), "COLUMNS": str(COLUMNS)}
    with subprocess.Popen(
        [sys.executable, "-m", "ultracrawl", *words], cwd=folder, env=environment, stdout=theirs
    ) as command:
        os.close(theirs)
        printed = bytearray()
        try:
            while part := os.read(ours, 4096):
                printed += part
        except OSError:  # so Linux says that the other side is closed
            pass
        command.wait()
    os.close(ours)
    return printed.decode().replace("\r\n", "\n").strip()


PICTURES = {
    "explain": (TERMINAL, "light", explain),
    "search-page": (DESKTOP, "light", search_page),
    "search-page-dark": (DESKTOP, "dark", search_page),
    "search-page-suggestions": (DESKTOP, "light", suggestions),
    "search-page-phone": (PHONE, "light", phone),
    "search-box": (DESKTOP, "light", search_box),
    "search-box-phone": (PHONE, "dark", search_box),
    "administration": (DESKTOP, "light", overview),
    "administration-phone": (PHONE, "dark", overview),
    "administration-source": (DESKTOP, "dark", source),
    "administration-url": (DESKTOP, "light", excluded_url),
    "administration-definition": (DESKTOP, "light", what_if),
}
"""The pictures: size of the window, colours, and what brings a page into its state."""


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files, and says nothing."""

    def log_message(self, *_: object) -> None:
        """Do nothing."""


@contextmanager
def documentation() -> Iterator[str]:
    """Serve the documentation; gives its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(DOCUMENTS))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def searched(folder: Path, site: str) -> Iterator[Places]:
    """Crawl the documentation, and serve the search page."""
    program = [sys.executable, "-m", "ultracrawl"]
    values = {"SITE": site, "MANUAL": MANUAL, "DOCUMENTS": str(DOCUMENTS)}
    text = re.sub("|".join(values), lambda found: values[found[0]], DEFINITION)
    (folder / "ultracrawl.yaml").write_text(text)
    for names in CRAWLS:
        subprocess.run([*program, "crawl", *names], cwd=folder, check=False, stdout=subprocess.DEVNULL)
    make_key = [*program, "token", "create", "docs", "--public", "--site", site]
    key = subprocess.run(make_key, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    add_user = [
        *program,
        "user",
        "add",
        USER,
        "--role",
        "administrator",
        "--all-principals",
        "--password-stdin",
    ]
    subprocess.run(
        add_user, cwd=folder, check=True, stdout=subprocess.DEVNULL, text=True, input=f"{PASSWORD}\n"
    )
    command = [*program, "serve", "--port", "0"]
    with subprocess.Popen(
        command, cwd=folder, text=True, stderr=subprocess.STDOUT, stdout=subprocess.PIPE
    ) as service:
        assert service.stdout is not None
        lines = iter(service.stdout)
        address = next(filter(None, (re.search(r"http://127\.0\.0\.1:\d+", line) for line in lines)))[0]
        try:
            yield Places(site, address, key, folder)
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
        documentation() as site,
        searched(Path(folder), site) as places,
        sync_playwright() as playwright,
    ):
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        first = browser.new_page()
        first.goto(f"{places.service}/login")
        first.fill("#name", USER)
        first.fill("#password", PASSWORD)
        first.click("form.login button")
        session = first.context.storage_state()
        for name, ((width, height), colours, bring) in PICTURES.items():
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme="dark" if colours == "dark" else "light",
                storage_state=session if name.startswith("administration") else None,
            )
            bring(page, places)
            page.wait_for_load_state("networkidle")
            page.screenshot(path=options.folder / f"{name}.png")
            print(options.folder / f"{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
