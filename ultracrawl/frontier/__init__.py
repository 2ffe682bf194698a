"""What is fetched next, and how gently: a queue per site, places, delays of every origin, levels.

`Frontier` (the choice), `Waiting` (what an entry must have), `Pace` with `Week`, `Span` and `BackOff` (how gently),
`Rota` and `PopScheme` (from which level), `LevelRules` (onto which level), `Grouping` (hosts that belong together),
`Mirrors` (hosts that stand in for one another), `Watch` with `Move` (told of places).
"""

from ultracrawl.frontier.backoff import BackOff
from ultracrawl.frontier.frontier import Frontier
from ultracrawl.frontier.grouping import Grouping
from ultracrawl.frontier.level_rules import LevelRule, LevelRules
from ultracrawl.frontier.levels import PopScheme, Rota
from ultracrawl.frontier.mirrors import Mirrors
from ultracrawl.frontier.pace import Delay, Pace
from ultracrawl.frontier.retry_after import retry_after
from ultracrawl.frontier.roster import Move, Watch
from ultracrawl.frontier.site import Waiting
from ultracrawl.frontier.windows import Span, Week

__all__ = [
    "BackOff",
    "Delay",
    "Frontier",
    "Grouping",
    "LevelRule",
    "LevelRules",
    "Mirrors",
    "Move",
    "Pace",
    "PopScheme",
    "Rota",
    "Span",
    "Waiting",
    "Watch",
    "Week",
    "retry_after",
]
