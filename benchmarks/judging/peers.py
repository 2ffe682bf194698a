"""Other engines over the same pages: Whoosh as its guide shows it, and SQLite's FTS5.

They get the title and the text of what was crawled.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from whoosh.fields import ID, TEXT, Schema
from whoosh.index import create_in, open_dir
from whoosh.qparser import MultifieldParser

from ultracrawl.index import IndexDocument


class Peer(Protocol):
    """An engine that is asked; answers are paths of pages, the best first."""

    def ask(self, text: str) -> list[str]:
        """Return the ten best pages."""

    def close(self) -> None:
        """Release the files."""


class StockWhoosh:
    """Whoosh, as its quick start does: title and text, the standard analyser, every word."""

    def __init__(self, place: Path, documents: Sequence[IndexDocument], site: str) -> None:
        if not place.exists():
            place.mkdir(parents=True)
            writer = create_in(str(place), Schema(path=ID(stored=True), title=TEXT, text=TEXT)).writer()
            for document in documents:
                path = document.url.removeprefix(site)
                writer.add_document(path=path, title=document.title, text=document.text)
            writer.commit()
        self._index = open_dir(str(place))
        self._searcher = self._index.searcher()
        self._parser = MultifieldParser(["title", "text"], self._index.schema)

    def ask(self, text: str) -> list[str]:
        """Return the ten best pages."""
        return [hit["path"] for hit in self._searcher.search(self._parser.parse(text), limit=10)]

    def close(self) -> None:
        """Release the files."""
        self._searcher.close()
        self._index.close()


class Fts5:
    """SQLite's FTS5: every word, BM25 with the title ten times the text; Porter's stems for English.

    Japanese, which has no blanks, is cut into threes of characters.
    """

    def __init__(self, place: Path, documents: Sequence[IndexDocument], site: str, language: str) -> None:
        is_new = not place.exists()
        self._database = sqlite3.connect(place)
        if is_new:
            cut = {"en": "porter unicode61", "ja": "trigram"}.get(language, "unicode61")
            columns = f"path UNINDEXED, title, text, tokenize='{cut}'"
            rows = ((page.url.removeprefix(site), page.title, page.text) for page in documents)
            with self._database:
                self._database.execute(f"CREATE VIRTUAL TABLE pages USING fts5({columns})")
                self._database.executemany("INSERT INTO pages VALUES (?, ?, ?)", rows)

    def ask(self, text: str) -> list[str]:
        """Return the ten best pages."""
        words = " ".join(f'"{word}"' for word in re.findall(r"\w+", text))
        if not words:
            return []
        query = "SELECT path FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 0, 10, 1) LIMIT 10"
        return [path for (path,) in self._database.execute(query, [words])]

    def close(self) -> None:
        """Release the file."""
        self._database.close()
