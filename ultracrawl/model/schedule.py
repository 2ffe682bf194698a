"""The status of a schedule."""

from __future__ import annotations

from enum import StrEnum


class ScheduleStatus(StrEnum):
    """What a schedule is doing (Ultra Search 13.2); its values are stored, and no version changes them."""

    SCHEDULED = "scheduled"
    """It waits for its next time."""
    LAUNCHING = "launching"
    """Its crawls were ordered, and none has begun."""
    EXECUTING = "executing"
    INDEXING_PENDING = "indexing pending"
    """It crawled in the mode `examine`, and documents wait for approval."""
    STOPPED = "stopped"
    """It was ended by a person; `resume` has it go on."""
    FAILED = "failed"
    """All its sources failed; it is tried again at its next time."""
    PARTIALLY_FAILED = "partially failed"
    DISABLED = "disabled"
    """It is not launched."""
