"""The README, which people see first: its two commands lead to a search page, and its pictures exist."""

import re
from pathlib import Path

import pytest
from documentation.pages import blocks
from documentation.reader import Reader, steps
from support.client import ask
from support.project import ROOT

README = ROOT / "README.md"


@pytest.mark.processes
def test_two_commands_lead_to_a_search_page(reader: Reader, tmp_path: Path) -> None:
    install, serve = steps(blocks(README, "console")[0])
    assert install.command.startswith("pip install "), "tests/install does it"
    command = serve.command.replace("https://docs.example.com/", "http://127.0.0.1:8765/")
    shown = "\n".join(serve.shown)
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ python examples/serve.py examples/intranet --port 8765 &\nhttp://127.0.0.1:8765/\n"
        f"$ {command} --port 8480 &\n{shown}\n```\n",
        encoding="utf-8",
    )
    assert command != serve.command
    reader.follow(page)
    printed = (tmp_path / "background-1.log").read_text(encoding="utf-8")
    link = re.search(r"http://\S+/login\?key=\S+", printed)
    assert link is not None, printed
    status, headers, _ = ask(link[0])
    assert (status, headers["location"]) == (303, "/")


def test_pictures_exist_and_say_what_they_show() -> None:
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", README.read_text(encoding="utf-8"))
    assert len(pictures) >= 2
    assert [path for text, path in pictures if len(text) < 20 or not (ROOT / path).is_file()] == []
