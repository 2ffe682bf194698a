"""An agent for the files of a Git repository, with who changed each the last time, and when."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import quote

from ultracrawl.agents import AgentError, AgentParameter, CrawlerAgent, UrlData


class GitRepository(CrawlerAgent):
    """Names every file of a branch."""

    parameters: ClassVar = [
        AgentParameter("path", "the folder of the repository", required=True),
        AgentParameter("url", "what the path of a file is put behind to show it", required=True),
        AgentParameter("branch", "HEAD, if it is not told"),
    ]

    def open(self, params: Mapping[str, Any]) -> None:
        """Find the commit whose files are named, so that they belong together."""
        self._program = shutil.which("git") or "git"
        self._path, self._url = params["path"], params["url"]
        branch = params.get("branch") or "HEAD"
        self._commit = (
            self._git("rev-parse", "--verify", "--end-of-options", f"{branch}^{{commit}}").decode().strip()
        )

    def start_crawling(self, force_recrawl: bool, last_crawl_time: datetime | None) -> None:
        """Read who changed which file, the latest change first."""
        self._changes: dict[str, tuple[str, str]] = {}
        log = self._git("log", "-z", "--format=%x01%an%x02%cI", "--name-only", self._commit).decode(
            "utf-8", "replace"
        )
        for change in log.split("\x01")[1:]:
            who, *names = change.split("\0")
            author, _, time = who.partition("\x02")
            for name in names:
                self._changes.setdefault(name.lstrip("\n"), (author, time))
        self._documents = self._read_files()

    def fetch(self) -> UrlData | None:
        """Return the next file."""
        return next(self._documents, None)

    def _read_files(self) -> Iterator[UrlData]:
        listing = self._git("ls-tree", "-r", "-z", "--name-only", self._commit)
        for name in filter(None, listing.decode("utf-8", "surrogateescape").split("\0")):
            author, time = self._changes.get(name, ("", ""))
            if body := self._git("cat-file", "blob", f"{self._commit}:{name}"):
                said = {"author": author, "changed": time}
                title = name.rpartition("/")[2]
                yield UrlData(
                    f"{self._url}{quote(name)}", doc_key=name, title=title, body=body, attributes=said
                )

    def _git(self, *words: str) -> bytes:
        command = [self._program, "-C", self._path, *words]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            raise AgentError(f"git {words[0]}: {done.stderr.decode('utf-8', 'replace')}")
        return done.stdout
