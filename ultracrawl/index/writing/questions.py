"""What a crawl asks the index process about its index: so the crawl itself neither imports nor opens an engine."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from ultracrawl.errors import IndexStoreError, UltracrawlError, UserError
from ultracrawl.index.engine import ComparesVersions, IndexEngine, Json
from ultracrawl.index.engines import IndexConfig, compares_versions
from ultracrawl.index.repair import noted_count, noted_counts, repair_and_count

logger = logging.getLogger(__name__)

Ask = Callable[[Mapping[str, Json]], Mapping[str, Any]]
"""Puts a question to the index process, and returns its answer. Raises `IndexStoreError` if it gives none."""


class ListsDocuments(Protocol):
    """What tells the documents of an index: an `IndexEngine`, or an `AskedIndex`."""

    def urls(self, source: str = "") -> Iterator[tuple[str, str]]:
        """Yield (source, display URL) of the documents, in no particular order."""


class AskedIndex:
    """An index as its index process sees it. Methods raise `IndexStoreError`, and the `UserError` of opening it."""

    def __init__(self, config: IndexConfig, ask: Ask) -> None:
        self._config = config
        self._ask_process = ask

    def inspect(self, source: str, problems: list[str], remarks: list[str]) -> int:
        """Return the number of documents of a source; the index is probed, and repaired or upgraded if necessary.

        Sentences about what was done are appended to the lists. Nobody is asked as long as files tell the number.
        """
        number = noted_count(self._config, source)
        if number is None:
            answer = self._ask("inspect", source)
            problems += answer["problems"]
            remarks += answer["remarks"]
            number = int(answer["documents"])
        return number

    def noted_counts(self) -> Mapping[str, int]:
        """Return the numbers of documents by source as they were counted last; empty if that is not known."""
        return noted_counts(self._config)

    def is_empty(self, source: str) -> bool:
        """Return whether there is no document of a source as far as files tell; nobody is asked."""
        return noted_count(self._config, source) == 0

    def urls(self, source: str = "") -> Iterator[tuple[str, str]]:
        """Yield (source, display URL) of the documents of a source, or of all, in no particular order."""
        with tempfile.TemporaryDirectory(prefix="ultracrawl-") as folder:
            file = Path(folder, "urls.jsonl")
            self._ask("urls", source, file=str(file))
            with file.open("rb") as lines:
                for line in lines:
                    owner, url = json.loads(line)
                    yield owner, url

    def _ask(self, verb: str, source: str, **further: Json) -> Mapping[str, Any]:
        answer = self._ask_process({"ask": verb, "source": source, **further})
        for line in answer.get("warnings", ()):
            logger.warning("%s", line)
        if "refused" in answer:
            raise UserError(answer["refused"])
        if "failed" in answer:
            raise IndexStoreError(answer["failed"])
        return answer


class AskedSharedIndex(AskedIndex):
    """An `AskedIndex` to which several machines write."""

    def count(self, source: str) -> int:
        """Return the number of documents of a source, with what others have written."""
        return int(self._ask("count", source)["documents"])

    def missing(self, source: str, urls: Sequence[str]) -> set[str]:
        """See `ComparesVersions.missing`."""
        return set(self._ask("missing", source, urls=list(urls))["missing"])


def asked_index(config: IndexConfig, ask: Ask) -> AskedIndex:
    """Return an index that answers through its index process."""
    return (AskedSharedIndex if compares_versions(config.engine) else AskedIndex)(config, ask)


def answer_to(question: Mapping[str, Any], index: IndexEngine, config: IndexConfig) -> dict[str, Json]:
    """Answer a question in the index process."""
    source = str(question["source"])
    try:
        match question["ask"]:
            case "inspect":
                problems: list[str] = []
                remarks: list[str] = []
                number = repair_and_count(index, config, source, problems, remarks)
                return {"documents": number, "problems": [*problems], "remarks": [*remarks]}
            case "urls":
                with Path(question["file"]).open("w", encoding="ascii") as file:
                    file.writelines(json.dumps(found) + "\n" for found in index.urls(source))
                return {}
            case "count" if isinstance(index, ComparesVersions):
                index.refresh()
                return {"documents": index.count(source)}
            case "missing" if isinstance(index, ComparesVersions):
                return {"missing": [*index.missing(source, question["urls"])]}
    except OSError as error:
        return {"failed": f"the documents of index {config.path} cannot be listed: {error.strerror}"}
    except UltracrawlError as error:
        return refusal(error)
    raise ValueError(f"not a question about an index: {question}")


def refusal(error: UltracrawlError) -> dict[str, Json]:
    """Return the answer of an index process that cannot do what it was asked for."""
    return {"refused" if isinstance(error, UserError) else "failed": str(error)}
