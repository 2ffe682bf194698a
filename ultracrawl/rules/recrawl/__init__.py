"""What a later visit to a known URL asks for, what its answer means, and when the next one is due; pure rules.

`conditional_headers` (the validators that a request carries), `checksum`, `classify` and `is_known` (new,
modified or as it was), `outcome_of_status` (what an answer without a page means), `vouches` and `is_statement`
(what the date of a sitemap entry is worth), `CycleRule`, `CyclePlace` and `RefreshMode` (refresh cycles),
`provable` (orphans), `Observation` and `ChangeHistory` (how often a page changes), `Scorer` with `KnownPage` and
`ScoreParts` (what a page deserves), `AdaptiveRule` with `Choice` and `SiteSize` (what a minor cycle fetches).
"""

from ultracrawl.rules.recrawl.adaptive import DEFAULT_CYCLE, AdaptiveRule, Aim, Choice, Ranked, SiteSize
from ultracrawl.rules.recrawl.change import checksum, classify, is_known
from ultracrawl.rules.recrawl.conditional import conditional_headers
from ultracrawl.rules.recrawl.cycle import ON_DEMAND, CyclePlace, CycleRule, RefreshMode
from ultracrawl.rules.recrawl.history import ChangeHistory, Observation
from ultracrawl.rules.recrawl.lastmod import is_statement, vouches
from ultracrawl.rules.recrawl.orphans import provable
from ultracrawl.rules.recrawl.scores import FREQUENCIES, KnownPage, ScoreParts, Scorer
from ultracrawl.rules.recrawl.status import outcome_of_status

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
