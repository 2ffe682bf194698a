"""Find retired words in names and in texts for users, and print their replacements.

    python tools/words.py [--tree PATH]

Checked are the names of modules, classes, functions and attributes of the package, the texts that it shows, and the
pages of the documentation, but not the names of variables and parameters. A word that has to stay, because it is in
the files of users or belongs to another program, needs a reason in a comment on its line (for a module on the line of
its docstring): `# word: an option of FAST`.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from source_tree import Definition, Module, SourceTree, called, extent, is_prose

NAMES: Mapping[str, str] = {
    "AccessDesk": "AuthChain",
    "LoginDesk": "FormLogin",
    "ProxyDesk": "ProxySelector",
    "ConversionDesk": "DocumentConverter",
    "RenderingDesk": "PageRenderer",
    "SitemapDesk": "SitemapManager",
    "SitemapGate": "SitemapBarrier",
    "SitemapTask": "SitemapJob",
    "FeedDesk": "FeedTracker",
    "FailureDesk": "RetryPolicy",
    "Intake": "LinkIngest",
    "Admission": "CandidateFilter",
    "Waking": "RecrawlActivator",
    "Detours": "OffFocusHops",
    "IndexFeed": "IndexWriter",
    "feeding": "indexing",
    "Outlet": "Destination",
    "Outlets": "Destinations",
    "RobotsBook": "RobotsCache",
    "CredentialBook": "CredentialStore",
    "OrphanKeeper": "OrphanSweeper",
    "Roster": "SiteSlots",
    "Rota": "LevelSelector",
    "stand_in": "mirror",
    "Outbox": "LinkForwarder",
    "own_code": "user_code",
    "CrawlPost": "ControlChannel",
    "Asker": "ProbeClient",
    "screened": "excluded",
    "turned_away": "excluded",
}
"""Retired names of any kind; CamelCase and snake_case of the same words are one name."""
PARTS: Mapping[str, str] = {
    "book": "what it is: a cache, a store",
    "desk": "what it does: a manager, a chain, a policy",
    "keeper": "what it does: a store, a sweeper",
    "outlook": "inspection",
}
"""Retired words in any name."""
PUBLIC: Mapping[str, str] = {
    "failing": "download_errors",
    "failures": "download_errors",
    "garbage": "gc_tuning",
    "handed": "submitted",
    "held": "retained",
    "leaving": "removal",
    "life": "reactor",
    "nearer": "shorter_depth",
    "successors": "replacement",
    "told": "related",
}
"""Retired whole names that are public; private names may use these ordinary words."""
CLASSES: Mapping[str, str] = {"Places": "ReadyQueue", "Turns": "SiteSlots"}
"""Retired whole names of classes."""
CLASS_ENDS: Mapping[str, str] = dict.fromkeys(
    ("blame", "doubt", "fault", "notice", "remark"), "Finding, with a severity"
)
"""Retired last words of class names."""
MODULES: Mapping[str, str] = dict.fromkeys(
    ("common", "helper", "helpers", "misc", "util", "utils"), "what is in it"
)
"""Module names that say nothing about the contents."""
VERBS: Mapping[str, str] = dict.fromkeys(
    ("take", "put", "end", "ended"), "a verb with its noun, so that a search finds it"
)
"""Verbs that are no name of a public function without a noun."""
SHOWN: Mapping[str, str] = {
    "screened": "excluded",
    "turned away": "excluded",
    "turns it away": "excludes it",
}
"""Retired words in texts for users."""

SECTIONS = ("Section", "Options")
"""Suffixes of base classes whose docstrings document the definition file."""
QUOTED = re.compile(r"`[^`]*`|\bultracrawl \w+|\b\w+:(?=\s)")
"""Parts of a text that are not prose: code, a command, an option of a definition."""
MARK = re.compile(r"(?:#|<!--)\s*word:\s*\S")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class Kind(StrEnum):
    """The kind of a named thing."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    ATTRIBUTE = "attribute"


@dataclass(frozen=True, order=True)
class Found:
    """A retired word: its place, a description, its replacement."""

    place: str
    what: str
    write: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}: write {self.write}"


def main(arguments: list[str] | None = None) -> int:
    """Print the retired words; the exit status is 1 if there are any."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=Path(__file__).resolve().parents[1], help="a checkout")
    tree = SourceTree(parser.parse_args(arguments).tree.resolve())
    found = [*retired_words(tree), *retired_in_pages(tree.root)]
    print(*found, sep="\n", end="\n" if found else "")
    if found:
        print(f"{len(found)} retired words; if one has to stay, say on the line why: # word: WHY")
    return bool(found)


def retired_words(tree: SourceTree) -> Iterator[Found]:
    """Yield the retired words in the names and texts of a package, and unused `word:` comments."""
    for module in tree.modules.values():
        marks = module.marks(MARK)
        excused = set()
        for line, last, what, write in sorted({*_in_names(module), *_in_texts(module)}):
            if marked := marks.intersection(range(line, last + 1)):
                excused |= marked
            else:
                yield Found(tree.place(module, line), what, write)
        for line in sorted(marks - excused):
            yield Found(tree.place(module, line), "the mark `word:` excuses nothing", "the line without it")


def retired_in_pages(root: Path) -> Iterator[Found]:
    """Yield the retired words in the documentation, without the changelog."""
    classes = [name for name in NAMES if name[:1].isupper() and len(words_of(name)) > 1]
    pattern = re.compile(rf"\b(?:{'|'.join((*classes, *SHOWN))})\b")
    for page in sorted([*root.glob("docs/**/*.md"), *root.glob("README.md")]):
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            if MARK.search(line):
                continue
            for word in sorted(set(pattern.findall(QUOTED.sub("", line)))):
                yield Found(f"{page.relative_to(root)}:{number}", f"`{word}`", {**NAMES, **SHOWN}[word])


def instead_of(name: str, kind: Kind) -> str:
    """Return the replacement of a name; empty if it is allowed."""
    words = words_of(name)
    for retired, applies in (
        (NAMES, True),
        (PUBLIC, not name.startswith("_")),
        (CLASSES, kind is Kind.CLASS),
        (MODULES, kind is Kind.MODULE),
        (VERBS, kind is Kind.FUNCTION and not name.startswith("_")),
    ):
        if applies:
            for one, write in retired.items():
                if words_of(one) == words:
                    return write if kind is Kind.CLASS or " " in write else "_".join(words_of(write))
    if kind is Kind.CLASS and words and words[-1] in CLASS_ENDS:
        return CLASS_ENDS[words[-1]]
    return next((PARTS[word] for word in words if word in PARTS), "")


@cache
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case."""
    return tuple(word.lower() for word in _WORD.findall(name))


def _in_names(module: Module) -> Iterator[tuple[int, int, str, str]]:
    """Yield (first and last line where the `word:` comment may be, description, replacement)."""
    called = module.name.rpartition(".")[2]
    if write := instead_of(called, Kind.MODULE):
        body = module.tree.body
        yield 1, extent(body[0])[-1] if body and is_prose(body[0]) else 1, f"module `{called}`", write
    seen = set()
    for line, name, kind in sorted(_names(module)):
        if name not in seen and (write := instead_of(name, kind)):
            seen.add(name)
            yield line, line, f"{kind} `{name}`", write


def _names(module: Module) -> Iterator[tuple[int, str, Kind]]:
    """Yield the names that a module defines: classes, functions, attributes of modules, classes and `self`."""
    for owner in module.nodes:
        if isinstance(owner, ast.ClassDef | ast.Module):
            yield from ((line, name, Kind.ATTRIBUTE) for line, name in _assigned(owner.body))
        if isinstance(owner, Definition):
            kind = Kind.CLASS if isinstance(owner, ast.ClassDef) else Kind.FUNCTION
            yield owner.lineno, owner.name, kind
        elif (
            isinstance(owner, ast.Attribute)
            and isinstance(owner.ctx, ast.Store)
            and called(owner.value) == "self"
        ):
            yield owner.lineno, owner.attr, Kind.ATTRIBUTE


def _assigned(body: Iterable[ast.stmt]) -> Iterator[tuple[int, str]]:
    for node in body:
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        for target in targets:
            if isinstance(target, ast.Name):
                yield target.lineno, target.id


def _in_texts(module: Module) -> Iterator[tuple[int, int, str, str]]:
    """Yield the retired words in strings and in docstrings for users."""
    hidden = {id(node.value) for node in module.nodes if isinstance(node, ast.Expr) and is_prose(node)}
    hidden -= {id(shown) for node in module.nodes for shown in _shown(node)}
    for node in module.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in hidden:
            text = QUOTED.sub("", node.value)
            for word, write in SHOWN.items():
                if re.search(rf"\b{word}\b", text, re.IGNORECASE):
                    yield extent(node)[0], extent(node)[-1], f"the text `{word}`", write


def _shown(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the docstrings of a definition that users read: help of a command, options of a section."""
    if not isinstance(node, Definition):
        return
    if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith(SECTIONS) for base in node.bases):
        shown = node.body
    else:
        shown = node.body[:1] if _is_command(node) else []
    yield from (one.value for one in shown if isinstance(one, ast.Expr) and is_prose(one))


def _is_command(node: Definition) -> bool:
    return any("command" in (text := ast.unparse(one)) or "group" in text for one in node.decorator_list)


if __name__ == "__main__":
    sys.exit(main())
