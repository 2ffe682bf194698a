"""The phases of a filter, its kinds, and the result codes of functions."""

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
        """Return the phase of a directive, ignoring case; None if there is none of that name."""
        return _BY_WORD.get(word.lower())


_BY_WORD = {phase.value.lower(): phase for phase in Phase}


class FilterKind(StrEnum):
    """The two filters of a robot, which decide independently."""

    ENUMERATION = "enumeration"
    """Finds further URLs."""
    GENERATION = "generation"
    """Makes resource descriptions."""

    @property
    def forbids(self) -> Phase:
        """The phase that only the other kind has."""
        return Phase.GENERATE if self is FilterKind.ENUMERATION else Phase.ENUMERATE


class Answer(IntEnum):
    """The result of a function; the numbers are those of the vendor's C interface."""

    PROCEED = 0
    """Done; the next directive follows."""
    ABORTED = -1
    """The resource is denied or cannot be processed; this filter is done with it."""
    NOACTION = -2
    """Nothing done; the next directive follows."""
    EXIT = -3
    """The robot ends its session."""
    RESTART = -4
    """The robot restarts its cycle."""
