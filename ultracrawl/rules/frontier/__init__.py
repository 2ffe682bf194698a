"""What is fetched next, and how gently: a queue per site, places, delays of every origin, levels.

`Frontier` (the choice; its `entries` are what waits, its `clocks` say when each site may go), `Waiting` (what an
entry must have), `Pace` with `Week`, `Span` and `BackOff` (how gently), `LevelSelector` and `PopScheme` (from which
level), `LevelRules` (onto which level), `Grouping` (hosts that belong together), `Mirrors` (hosts that stand in for
one another), `Watch` with `Move` (told of places).
"""
