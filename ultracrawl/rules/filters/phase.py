"""When a filter's directives run, and what a function answers."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Phase(StrEnum):
    """The directives of a filter, in the order in which they run."""

    SETUP = "Setup"
    METADATA = "MetaData"
    DATA = "Data"
    ENUMERATE = "Enumerate"
    GENERATE = "Generate"
    SHUTDOWN = "Shutdown"

    @classmethod
    def named(cls, word: str) -> Phase | None:
        """Return the phase of a directive, whose case does not matter."""
        return _BY_WORD.get(word.lower())


_BY_WORD = {phase.value.lower(): phase for phase in Phase}


class FilterKind(StrEnum):
    """Which of a robot's two filters one is; each decides for itself."""

    ENUMERATION = "enumeration"
    """Finds further URLs."""
    GENERATION = "generation"
    """Makes resource descriptions."""

    @property
    def forbids(self) -> Phase:
        """The phase that belongs to the other kind."""
        return Phase.GENERATE if self is FilterKind.ENUMERATION else Phase.ENUMERATE


class Answer(IntEnum):
    """What a function says when it is done; the numbers are those of the vendor's interface for C."""

    PROCEED = 0
    """It did its work; the next directive follows."""
    ABORTED = -1
    """The resource is denied, or cannot be processed; this filter does nothing more with it."""
    NOACTION = -2
    """It did nothing; the next directive follows."""
    EXIT = -3
    """The robot ends its session."""
    RESTART = -4
    """The robot begins its cycle anew."""
