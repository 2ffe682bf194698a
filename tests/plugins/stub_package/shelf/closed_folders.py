"""A stage."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ultracrawl.model import Decision
from ultracrawl.model.candidate import Candidate


class ClosedFolders:
    name = "closed folders"

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._folders = frozenset(options["folders"])

    def judge(self, candidate: Candidate) -> Decision | None:
        folder = urlsplit(candidate.url).path.split("/")[1]
        if folder not in self._folders:
            return None
        return Decision(False, self.name, f"closed folder {folder}", "nobody keeps it any more")
