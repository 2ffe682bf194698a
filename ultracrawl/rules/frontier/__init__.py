"""What is fetched next, and how gently: a queue per site, places, delays of every origin, levels.

`Frontier` (the choice; its `entries` are what waits, its `clocks` say when each site may go), `Waiting` (what an
entry must have), `Pace` with `Week`, `Span` and `BackOff` (how gently), `LevelSelector` and `PopScheme` (from which
level), `LevelRules` (onto which level), `Grouping` (hosts that belong together), `Mirrors` (hosts that stand in for
one another), `Watch` with `Move` (told of places).
"""

from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.frontier.grouping import Grouping
from ultracrawl.rules.frontier.level_rules import LevelRule, LevelRules
from ultracrawl.rules.frontier.levels import LevelSelector, PopScheme
from ultracrawl.rules.frontier.mirrors import Mirrors
from ultracrawl.rules.frontier.politeness.backoff import BackOff
from ultracrawl.rules.frontier.politeness.pace import Delay, Pace
from ultracrawl.rules.frontier.politeness.retry_after import retry_after
from ultracrawl.rules.frontier.politeness.windows import Span, Week
from ultracrawl.rules.frontier.site import Waiting
from ultracrawl.rules.frontier.site_registry import Move, Watch

__all__ = [
    "BackOff",
    "Delay",
    "Frontier",
    "Grouping",
    "LevelRule",
    "LevelRules",
    "LevelSelector",
    "Mirrors",
    "Move",
    "Pace",
    "PopScheme",
    "Span",
    "Waiting",
    "Watch",
    "Week",
    "retry_after",
]
