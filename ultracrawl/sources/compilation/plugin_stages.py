"""Stages of the candidate list that packages bring: entry points of the group `ultracrawl.stages`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping

from pydantic import JsonValue

from ultracrawl.errors import UserError
from ultracrawl.model import Decision
from ultracrawl.model.candidate import Candidate, Stage
from ultracrawl.system.plugins import STAGES

logger = logging.getLogger(__name__)

MakeStage = Callable[[Mapping[str, JsonValue]], Stage]
"""What an entry point names: makes a stage of the options in the definition. Raises `ValueError` for bad ones."""


class PluginStage:
    """A stage of a package. Of temporary redirects it is not asked; what it fails on is refused: no rule fails open."""

    def __init__(self, name: str, stage: Stage) -> None:
        self.name = name
        self._stage = stage
        self._failed = False

    def judge(self, candidate: Candidate) -> Decision | None:
        """Return the decision of the stage; a refusal if it raises, with a line in the log the first time."""
        if candidate.hop:
            return None
        try:
            return self._stage.judge(candidate)
        except Exception:  # third-party code
            if not self._failed:
                self._failed = True
                logger.exception(
                    "the stage %s fails on %s; what it fails on is refused", self.name, candidate.url
                )
            return Decision(False, self.name, f"stage {self.name} failed", "its rule cannot be asked")


def plugin_stages(options: Mapping[str, Mapping[str, JsonValue]], place: str) -> Iterator[PluginStage]:
    """Yield the stages of `boundary.stages`, in the order of the definition. Raises `UserError`; `place` names it."""
    for name, values in options.items():
        make = STAGES.load(name)
        if not callable(make):
            raise STAGES.find(name).wrong_type_error("a function that makes a stage of options")
        try:
            yield PluginStage(name, make(values))
        except Exception as error:  # third-party code
            raise UserError(f"{place}: boundary.stages.{name}: {type(error).__name__}: {error}") from error
