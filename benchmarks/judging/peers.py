"""Other engines over the same pages: Whoosh as its guide shows it, SQLite's FTS5, and omega, the search of Xapian.

Whoosh and FTS5 index title and text of the crawled documents, omega reads the files itself. Each searches for all
words, its default, or, with `any_word`, for any of them.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from whoosh.fields import ID, TEXT, Schema
from whoosh.index import create_in, open_dir
from whoosh.qparser import AndGroup, MultifieldParser, OrGroup

from judging.packages import unpack
from judging.truth import Question
from ultracrawl.index import IndexDocument


class Peer(Protocol):
    """A search engine; answers are paths of pages, best first."""

    def ask(self, question: Question) -> list[str]:
        """Return the ten best pages."""

    def close(self) -> None:
        """Release the files."""


class StockWhoosh:
    """Whoosh as in its quick start: title and text, standard analyser."""

    def __init__(
        self, place: Path, documents: Sequence[IndexDocument], site: str, *, any_word: bool = False
    ) -> None:
        if not place.exists():
            place.mkdir(parents=True)
            writer = create_in(str(place), Schema(path=ID(stored=True), title=TEXT, text=TEXT)).writer()
            for document in documents:
                path = document.url.removeprefix(site)
                writer.add_document(path=path, title=document.title, text=document.text)
            writer.commit()
        self._index = open_dir(str(place))
        self._searcher = self._index.searcher()
        group = OrGroup if any_word else AndGroup
        self._parser = MultifieldParser(["title", "text"], self._index.schema, group=group)

    def ask(self, question: Question) -> list[str]:
        """Return the ten best pages."""
        return [hit["path"] for hit in self._searcher.search(self._parser.parse(question.text), limit=10)]

    def close(self) -> None:
        """Release the files."""
        self._searcher.close()
        self._index.close()


class Fts5:
    """SQLite's FTS5: BM25 with a title boost of ten; Porter stemming for English.

    Japanese, which has no spaces, is indexed as trigrams.
    """

    def __init__(
        self,
        place: Path,
        documents: Sequence[IndexDocument],
        site: str,
        language: str,
        *,
        any_word: bool = False,
    ) -> None:
        self._joint = " OR " if any_word else " "
        self._words = re.compile(r"(?=(\w{3}))|\b(\w{1,2})\b" if any_word and language == "ja" else r"(\w+)")
        is_new = not place.exists()
        self._database = sqlite3.connect(place)
        if is_new:
            cut = {"en": "porter unicode61", "ja": "trigram"}.get(language, "unicode61")
            columns = f"path UNINDEXED, title, text, tokenize='{cut}'"
            rows = ((page.url.removeprefix(site), page.title, page.text) for page in documents)
            with self._database:
                self._database.execute(f"CREATE VIRTUAL TABLE pages USING fts5({columns})")
                self._database.executemany("INSERT INTO pages VALUES (?, ?, ?)", rows)

    def ask(self, question: Question) -> list[str]:
        """Return the ten best pages."""
        words = self._joint.join(
            f'"{found[found.lastindex or 0]}"' for found in self._words.finditer(question.text)
        )
        if not words:
            return []
        query = "SELECT path FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 0, 10, 1) LIMIT 10"
        return [path for (path,) in self._database.execute(query, [words])]

    def close(self) -> None:
        """Release the file."""
        self._database.close()


_STEMMERS = {"en": "english", "de": "german", "fr": "french"}
_TEMPLATE = """$set{stemmer,STEMMER}$setmap{prefix,,$split{ S B F},title,S,author,A,topic,B}$hitlist{$field{url}
}"""
"""The settings of omega's template `query`, with less output."""
_SETTINGS = "database_dir {0}\ntemplate_dir {0}\nlog_dir {0}\ncdb_dir {0}\n"


class Omega:
    """Xapian's Omega with its defaults: `omindex` indexes the files, its CGI program searches.

    Each question starts that program. The stemmer is that of the language; Japanese is indexed as bigrams.
    """

    def __init__(
        self,
        place: Path,
        pages: Sequence[str],
        manual: Path,
        language: str,
        root: Path,
        *,
        any_word: bool = False,
    ) -> None:
        self._operator = "or" if any_word else "and"
        self._program = root / "usr/lib/cgi-bin/omega/omega"
        libraries = ":".join(str(path.parent) for path in root.glob("usr/lib/*/libxapian.so.*"))
        self._environment = {**os.environ, "OMEGA_CONFIG_FILE": str(place / "omega.conf")}
        if libraries:
            self._environment["LD_LIBRARY_PATH"] = libraries
        if language == "ja":
            self._environment["XAPIAN_CJK_NGRAM"] = "1"
        if not place.exists():
            self._index(place, pages, manual, _STEMMERS.get(language, "none"), root / "usr/bin/omindex")

    def _index(self, place: Path, pages: Sequence[str], manual: Path, stemmer: str, omindex: Path) -> None:
        """Run `omindex` on a folder with the crawled pages only."""
        for page in pages:
            (place / "pages" / page).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(manual / page, place / "pages" / page)
        (place / "answers").write_text(_TEMPLATE.replace("STEMMER", stemmer))
        (place / "omega.conf").write_text(_SETTINGS.format(place))
        command = [str(omindex), "--db", str(place / "database"), "--url", "/", f"--stemmer={stemmer}"]
        subprocess.run(
            [*command, str(place / "pages")], env=self._environment, capture_output=True, check=True
        )

    def ask(self, question: Question) -> list[str]:
        """Return the ten best pages."""
        command = [
            str(self._program),
            f"P={question.text}",
            "DB=database",
            "FMT=answers",
            f"DEFAULTOP={self._operator}",
        ]
        said = subprocess.run(
            command, env=self._environment, capture_output=True, text=True, check=True
        ).stdout
        return [line.removeprefix("/") for line in said.partition("\n\n")[2].splitlines() if line]

    def close(self) -> None:
        """Do nothing: no file stays open."""


def omega_root(packages: Path) -> Path | None:
    """Return the folder in which omega is installed or unpacked; None if it is not available."""
    for root in (Path("/"), packages / "xapian-omega"):
        if (root / "usr/bin/omindex").exists():
            return root
    unpacked = unpack("xapian-omega", packages, "libxapian30")
    return unpacked if unpacked and (unpacked / "usr/bin/omindex").exists() else None
