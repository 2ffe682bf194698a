"""The pages that people read, cut into what a test can check."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
from support.project import ROOT

from ultracrawl.cli.main import cli

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\s*\$? ?(?:[A-Z_]+=\S+ )*(ultracrawl(?: .*)?)$")


def name_of(page: Path) -> str:
    """Return the path of a page below the root."""
    return str(page.relative_to(ROOT))


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Yield the file and the anchor of every link of a page to a file here."""
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("mailto:"):
            path, _, anchor = target.partition("#")
            yield (page.parent / path if path else page), anchor


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as the usual renderers make them."""
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    found = set()
    for heading in re.findall(r"^#{1,6} (.*)$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of a page in a language."""
    return [body for kind, body in _BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of every line that calls `ultracrawl`, up to a comment, a pipe or a redirection."""
    for line in text.splitlines():
        found = _COMMAND.match(line)
        if not found:
            continue
        for part in re.split(r" (?:&&|\|\|) ", found[1]):
            words = shlex.split(part, comments=True)
            ends = [at for at, word in enumerate(words) if word in {"|", ">", "&"}]
            words = words[1 : ends[0] if ends else None]
            if words and part.startswith("ultracrawl"):
                yield words


def understand(words: list[str]) -> None:
    """Have the command line parsed to its end, without running the command."""
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found is not None, words
        command, words = found, words[1:]
    if not isinstance(command, click.Group):
        command.make_context(command.name, list(words), resilient_parsing=any("[" in one for one in words))
