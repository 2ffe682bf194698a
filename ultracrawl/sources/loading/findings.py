"""`FindingCollector`: collects the findings of one load and resolves their paths to file and line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ultracrawl.model import Finding
from ultracrawl.model.finding import FindingCode
from ultracrawl.sources.loading.wording import explain
from ultracrawl.sources.reading.tree import OptionPath, PathFinding, Tree

Model = TypeVar("Model", bound=BaseModel)


class FindingCollector:
    """All findings so far, also by source."""

    def __init__(self) -> None:
        self._findings: list[Finding] = []
        self._files: dict[str, int] = {}
        self.fatal: list[PathFinding] = []
        """The fatal findings with their paths in the tree."""
        self._source = ""
        self._mistakes: dict[str, list[Finding]] = {}

    @contextmanager
    def for_source(self, source: str) -> Iterator[None]:
        """Inside the block, attribute every mistake to this source; an empty name changes nothing."""
        before, self._source = self._source, source or self._source
        try:
            yield
        finally:
            self._source = before

    def mistakes(self, source: str = "") -> tuple[Finding, ...]:
        """Return the fatal findings of one source; without a name, those that belong to no source."""
        return tuple(dict.fromkeys(self._mistakes.get(source, ())))

    @property
    def invalid_sources(self) -> tuple[str, ...]:
        """The names of the sources with mistakes."""
        return tuple(name for name in self._mistakes if name)

    @property
    def any_fatal(self) -> bool:
        """Whether any finding is fatal."""
        return any(finding.fatal for finding in self._findings)

    def begin_file(self, file: str, findings: Iterable[Finding] = ()) -> None:
        """Register a file and add its findings; `in_order` sorts by the order of registration."""
        self._files.setdefault(file, len(self._files))
        self.add_findings(findings)

    def add_findings(self, findings: Iterable[Finding]) -> None:
        """Add findings that already have file and line."""
        for finding in findings:
            self._findings.append(finding)
            if finding.fatal:
                self._mistakes.setdefault(self._source, []).append(finding)

    def add(
        self,
        tree: Tree,
        path: OptionPath,
        problem: str,
        instead: str,
        fatal: bool = True,
        code: FindingCode | None = None,
    ) -> None:
        """Add a finding about a path of a tree."""
        self.add_findings([Finding(*tree.place(path), problem, instead, fatal, code)])
        if fatal:
            self.fatal.append(PathFinding(path, problem, instead, code=code))

    def add_below(self, tree: Tree, path: OptionPath, found: Iterable[PathFinding]) -> None:
        """Add findings whose paths are relative to `path`."""
        for finding in found:
            self.add(
                tree, (*path, *finding.path), finding.problem, finding.instead, finding.fatal, finding.code
            )

    def validated(
        self,
        model: type[Model],
        data: object,
        tree: Tree,
        path: OptionPath,
        advice: Mapping[str, str] | None = None,
        context: object = None,
    ) -> Model | None:
        """Return the validated model of the data at `path`, or None after adding all its mistakes.

        `advice` replaces the advice for single options at `path`; `context` is for validators that read further files.
        """
        try:
            return model.model_validate(data, context=context)
        except ValidationError as error:
            for place, problem, instead in explain(error, model):
                own = advice.get(str(place[0])) if advice and place else None
                self.add(tree, (*path, *place), problem, own or instead)
            return None

    def in_order(self) -> tuple[Finding, ...]:
        """Return each finding once, ordered by file and line."""
        unique = dict.fromkeys(self._findings)
        return tuple(sorted(unique, key=lambda finding: (self._files.get(finding.file, -1), finding.line)))
