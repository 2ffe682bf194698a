"""Crawls a manual with both engines of this program, and searches them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

from judging.truth import Question
from ultracrawl.errors import UserError
from ultracrawl.index import IndexDocument
from ultracrawl.index.project_index import open_index
from ultracrawl.index.searching import Searcher
from ultracrawl.index.writing.segments import batches
from ultracrawl.settings.projects import find_project

OURS = {"whoosh": "default", "tantivy": "tantivy"}
"""Our engines with the names of their indexes in the definition."""
SERVED = {"opensearch": 1, "opensearch 3 shards": 3}
"""Engines on a server, with the number of their shards; their indexes are filled from those of the crawl."""

_DEFINITION = """
index: {{engine: whoosh, path: var/whoosh}}
indexes: {{tantivy: {{engine: tantivy, path: var/tantivy}}}}
sources:
  manual:
    start_urls: {starts}
    politeness: {{delay: 0, concurrency: 8}}
    boundary:
      networks: [127.0.0.0/8]
      uris: {{exclude: {exclude}}}
    feeding: {{destinations: {{first: {{index: default, primary: true}}, second: {{index: tantivy}}}}}}
"""


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files without logging."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the parameter has this name
        pass


class _QuietServer(ThreadingHTTPServer):
    """A server that ignores connections closed by the client."""

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on loopback; yields its URL."""
    with _QuietServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


class Crawled:
    """A manual crawled into the folder `place`, where it stays for later runs."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._definition = place / "ultracrawl.yaml"
        self._site = place / "site.json"

    def crawl(self, manual: Path, starts: Sequence[str], exclude: Sequence[str]) -> None:
        """Crawl it as a user would, unless it was crawled before."""
        if self._site.exists():
            return
        self._place.mkdir(parents=True, exist_ok=True)
        with served(manual) as site:
            rules = [{"regexp": f"{site}{expression}"} for expression in exclude]
            self._definition.write_text(
                _DEFINITION.format(
                    starts=json.dumps([site + start for start in starts]), exclude=json.dumps(rules)
                )
            )
            self._run("crawl", "--json")
        self._site.write_text(json.dumps(site))

    def rebuild(self) -> None:
        """Rebuild both indexes without a crawl, after a change of the program."""
        for name in OURS.values():
            self._run("index", "rebuild", "--index", name)

    def _run(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "ultracrawl", *arguments, "-c", str(self._definition)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self._place)
        if done.returncode not in (0, 1):
            sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")

    @property
    def site(self) -> str:
        """The URL of the folder during the crawl."""
        site: str = json.loads(self._site.read_text())
        return site

    def documents(self) -> list[IndexDocument]:
        """Return the indexed documents, sorted by URL."""
        index = open_index(find_project(str(self._definition), plain=True)[0])
        try:
            return sorted(index.documents(), key=lambda document: document.url)
        finally:
            index.close()

    def open(self, engine: str, server: str = "") -> Ours:
        """Open one of our engines for searching; `server` is the URL of the OpenSearch of those that need one."""
        if engine in OURS:
            return Ours(self._definition, OURS[engine], self.site)
        shards = SERVED[engine]
        name = f"answers-{self._place.name}-{shards}"
        index = {"engine": "opensearch", "url": server, "name": name, "shards": shards, "replicas": 0}
        _, _, rest = self._definition.read_text().lstrip().partition("\n")
        definition = self._place / f"opensearch-{shards}.yaml"
        definition.write_text(f"index: {json.dumps(index)}\n{rest}")
        filled = open_index(find_project(str(definition), plain=True)[0])
        try:
            if not filled.count():
                for batch in batches(self.documents()):
                    filled.apply(batch)
        finally:
            filled.close()
        return Ours(definition, "default", self.site)


class Ours:
    """One of our engines; answers are URLs of the best parts of pages, relative to the site."""

    def __init__(self, definition: Path, index: str, site: str) -> None:
        self._searcher = Searcher(definition, index)
        self._site = site

    def ask(self, question: Question) -> list[str]:
        """Return the ten best parts of pages."""
        try:
            hits = self._searcher.search(question.text, language=question.language).hits
        except UserError:
            return []
        return [unquote(hit.section_url.removeprefix(self._site)) for hit in hits]

    def complete(self, text: str) -> list[str]:
        """Return the texts of the completions of what was typed."""
        return [one.text for one in self._searcher.complete(text)]

    def close(self) -> None:
        """Release the files."""
        self._searcher.close()


def folder_size(folder: Path) -> int:
    """Return the bytes of all files below a folder, or of one file."""
    if folder.is_file():
        return folder.stat().st_size
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
