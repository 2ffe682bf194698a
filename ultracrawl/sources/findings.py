"""Collects the findings of one load and gives each its place in a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ultracrawl.model import Finding
from ultracrawl.sources.doubt import Doubt
from ultracrawl.sources.wording import explain
from ultracrawl.sources.yaml_tree import Path, YamlTree

Model = TypeVar("Model", bound=BaseModel)


class FindingCollector:
    """All findings so far; a place is a path in a tree, its line is looked up only here."""

    def __init__(self) -> None:
        self._findings: list[Finding] = []
        self._files: dict[str, int] = {}

    @property
    def any_fatal(self) -> bool:
        """Whether something keeps the definitions from being used."""
        return any(finding.fatal for finding in self._findings)

    def begin(self, file: str) -> None:
        """Note that a file is being read: findings are sorted in this order."""
        self._files.setdefault(file, len(self._files))

    def take(self, findings: Iterable[Finding]) -> None:
        """Take findings that know their place already."""
        self._findings.extend(findings)

    def add(self, tree: YamlTree, path: Path, problem: str, instead: str, fatal: bool = True) -> None:
        """Add a finding about a place."""
        key = ".".join(step for step in path if isinstance(step, str)) or "file"
        self._findings.append(Finding(tree.file, tree.line(path), key, problem, instead, fatal))

    def add_doubts(self, tree: YamlTree, path: Path, doubts: Iterable[Doubt]) -> None:
        """Add what the checks found below a place."""
        for doubt in doubts:
            self.add(tree, (*path, *doubt.path), doubt.problem, doubt.instead, doubt.fatal)

    def validated(
        self,
        model: type[Model],
        data: object,
        tree: YamlTree,
        path: Path,
        advice: Mapping[str, str] | None = None,
        context: object = None,
    ) -> Model | None:
        """Return the validated model of what stands at a place, or None after adding all its mistakes.

        `advice` replaces what to write instead for single options of the place; `context` is for validators
        that read further files.
        """
        try:
            return model.model_validate(data, context=context)
        except ValidationError as error:
            for place, problem, instead in explain(error, model):
                own = advice.get(str(place[0])) if advice and place else None
                self.add(tree, (*path, *place), problem, own or instead)
            return None

    def in_order(self) -> tuple[Finding, ...]:
        """Return each finding once, by file and line."""
        unique = dict.fromkeys(self._findings)
        return tuple(sorted(unique, key=lambda finding: (self._files.get(finding.file, -1), finding.line)))
