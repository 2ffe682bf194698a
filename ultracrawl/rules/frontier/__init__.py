"""The frontier: which URL is fetched next, and when its site may be requested.

* `Frontier`: a queue per site, with slots and levels; `entries` holds the queued entries, `clocks` the delays
* `Pace` with `Week`, `Span` and `BackOff`: the politeness delay
* `LevelSelector`, `PopScheme`: the level of the next entry; `LevelRules`: the level of a URL
* `Grouping`: hosts that belong together; `Mirrors`: hosts that replace one another
* `SlotListener`, `SlotChange`: notification when a site gets or loses its slot
"""
