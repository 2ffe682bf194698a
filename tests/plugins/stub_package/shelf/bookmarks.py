"""Reads a list of bookmarks as a definition."""

from pathlib import Path

from ultracrawl.sources import Loaded, SourceTree, load_tree
from ultracrawl.sources.dialects import Dialect


def read(path: Path) -> Loaded:
    urls = path.read_text().splitlines()[1:]
    tree = SourceTree(str(path), {path.stem: {"start_urls": urls}})
    tree.lines = {(path.stem, "start_urls", number): number + 2 for number in range(len(urls))}
    return load_tree(tree, path.parent)[0]


BOOKMARKS = Dialect("a list of bookmarks", lambda name, head: head.startswith(b"# bookmarks\n"), read)
