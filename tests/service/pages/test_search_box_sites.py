"""The examples of docs/search-box.md: sites built by MkDocs and Sphinx, crawled, and searched by their box."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from support.chromium import chromium
from support.free_port import free_port, serving
from support.project import LOOPBACK
from support.requirement import require
from support.search_box import BOX, BoxPage, BoxService

pytestmark = [pytest.mark.servers, pytest.mark.processes]

ROOT = Path(__file__).parents[3]
PROGRAMS = ROOT / "var/sites/bin"
PAGES = {
    "index": "# Acme\n\nThe database of Acme.\n\n* [Indexes](indexes.md)\n",
    "indexes": "# Create an index\n\nIndexes make queries fast.\n\n## Without blocking writes\n\n"
    "With CONCURRENTLY the server scans the table twice.\n\n## When a build fails\n\nDrop the index.\n",
}
TABLE_OF_CONTENTS = "\n.. toctree::\n\n   indexes\n"


def example(chapter: str, server: str, key: str) -> list[str]:
    """Return the blocks of code of a chapter, for this service and key."""
    text = (ROOT / "docs/search-box.md").read_text()
    found = text.partition(f"\n## {chapter}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```\w+\n(.*?)```", found, re.DOTALL)
    return [block.replace("https://search.example.com", server).replace("uc_…", key) for block in blocks]


def run(program: str, *words: str | Path) -> None:
    require((PROGRAMS / program).exists(), program, get="make sites")
    done = subprocess.run(
        [PROGRAMS / program, *words], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr


def build_mkdocs(folder: Path, out: Path, server: str, key: str, theme: str) -> None:
    settings, script = example("MkDocs", server, key)
    (folder / "docs").mkdir()
    for name, text in PAGES.items():
        (folder / "docs" / f"{name}.md").write_text(text)
    (folder / "docs/search-box.js").write_text(script)
    (folder / "mkdocs.yml").write_text(f"site_name: Acme\nplugins: []\ntheme: {{name: {theme}}}\n{settings}")
    run("mkdocs", "build", "--quiet", "--config-file", folder / "mkdocs.yml", "--site-dir", out)


def build_sphinx(folder: Path, out: Path, server: str, key: str, theme: str) -> None:
    settings, sidebar = example("Sphinx", server, key)
    (folder / "_templates").mkdir()
    (folder / "_templates/search-box.html").write_text(sidebar)
    (folder / "conf.py").write_text(f"project = 'Acme'\nhtml_theme = {theme!r}\n{settings}")
    for name, text in PAGES.items():
        plain = re.sub(
            r"^(#+) (.*)$", lambda line: f"{line[2]}\n{'=-'[len(line[1]) - 1] * 30}", text, flags=re.MULTILINE
        )
        listed = plain.partition("\n* ")[0] + (TABLE_OF_CONTENTS if name == "index" else "")
        (folder / f"{name}.rst").write_text(listed)
    run("sphinx-build", "--quiet", folder, out)


@pytest.mark.parametrize(
    ("build", "theme"),
    [
        (build_mkdocs, "mkdocs"),
        (build_mkdocs, "readthedocs"),
        (build_sphinx, "alabaster"),
        (build_sphinx, "classic"),
    ],
)
def test_the_example_works(tmp_path: Path, build: Callable[..., None], theme: str) -> None:
    out, folder = tmp_path / "out", tmp_path / "site"
    for made in (out, folder):
        made.mkdir()
    files = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(out)]
    with serving(lambda port: [*files, str(port)], tmp_path / "files.log") as port:
        site = f"http://127.0.0.1:{port}"
        source = {
            "start_urls": [f"{site}/"],
            "boundary": LOOPBACK,
            "politeness": {"delay": 0},
            "public": "confirmed",
        }
        service = BoxService(tmp_path, {"sources": {"manual": source}})
        with service.serving(free_port()), chromium() as browser:
            build(folder, out, service.url, service.key("manual", site), theme)
            service.workspace.command("crawl", "manual")
            box = BoxPage(browser.new_context(viewport={"width": 1280, "height": 900})).go(
                f"{site}/index.html"
            )
            expect(box.page.locator(f"{BOX} .opener")).to_be_visible()
            box.page.locator(f"{BOX} .opener").click()
            box.type("concurrently", ".section")
            assert "Without blocking writes" in box.dialog.inner_text()
            box.page.keyboard.press("ArrowDown")
            box.page.keyboard.press("ArrowDown")
            box.page.keyboard.press("Enter")
            box.page.wait_for_url("**/indexes**#without-blocking-writes")
            of_box = [one for one in box.errors if service.url in one or BOX in one]
            assert of_box == [], "themes load fonts from elsewhere, and have no icon"
