"""What a later visit to a known URL asks for, what its answer means, and when the next one is due; pure rules.

`conditional_headers` (the validators that a request carries), `checksum`, `classify` and `is_known` (new,
modified or as it was), `outcome_of_status` (what an answer without a page means), `vouches` and `is_statement`
(what the date of a sitemap entry is worth), `CycleRule`, `CyclePlace` and `RefreshMode` (refresh cycles),
`provable` (orphans), `Observation` and `ChangeHistory` (how often a page changes), `Scorer` with `KnownPage` and
`ScoreParts` (what a page deserves), `AdaptiveRule` with `Choice` and `SiteSize` (what a minor cycle fetches).
"""

from ultracrawl.recrawl.adaptive import DEFAULT_CYCLE, AdaptiveRule, Aim, Choice, Ranked, SiteSize
from ultracrawl.recrawl.change import checksum, classify, is_known
from ultracrawl.recrawl.conditional import conditional_headers
from ultracrawl.recrawl.cycle import ON_DEMAND, CyclePlace, CycleRule, RefreshMode
from ultracrawl.recrawl.history import ChangeHistory, Observation
from ultracrawl.recrawl.lastmod import is_statement, vouches
from ultracrawl.recrawl.orphans import provable
from ultracrawl.recrawl.scores import FREQUENCIES, KnownPage, ScoreParts, Scorer
from ultracrawl.recrawl.status import outcome_of_status

__all__ = [
    "DEFAULT_CYCLE",
    "FREQUENCIES",
    "ON_DEMAND",
    "AdaptiveRule",
    "Aim",
    "ChangeHistory",
    "Choice",
    "CyclePlace",
    "CycleRule",
    "KnownPage",
    "Observation",
    "Ranked",
    "RefreshMode",
    "ScoreParts",
    "Scorer",
    "SiteSize",
    "checksum",
    "classify",
    "conditional_headers",
    "is_known",
    "is_statement",
    "outcome_of_status",
    "provable",
    "vouches",
]
