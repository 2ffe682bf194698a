"""The one list of stages that a link meets: the crawl runs it compiled, whoever explains runs it spelled out.

`CandidateRules` (the list, in both forms), `ClosedStage` (new URLs are kept out altogether), `QueryStage` and
`SiteSizeStage` (guards against sites that make up URLs without end). The stages of the boundary come before those.
"""

from ultracrawl.rules.candidates.rules import CandidateRules
from ultracrawl.rules.candidates.stages import (
    INDEX_ONLY,
    REFRESH_ONLY,
    ClosedStage,
    QueryStage,
    SiteSizeStage,
)

__all__ = ["INDEX_ONLY", "REFRESH_ONLY", "CandidateRules", "ClosedStage", "QueryStage", "SiteSizeStage"]
