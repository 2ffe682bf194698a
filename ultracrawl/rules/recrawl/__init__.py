"""What a later visit to a known URL asks for, what its answer means, and when the next one is due; pure rules.

`conditional_headers` (the validators that a request carries), `checksum`, `classify` and `is_known` (new,
modified or as it was), `outcome_of_status` (what an answer without a page means), `vouches` and `is_statement`
(what the date of a sitemap entry is worth), `CycleRule`, `CyclePlace` and `RefreshMode` (refresh cycles),
`provable` (orphans), `Observation` and `ChangeHistory` (how often a page changes), `Scorer` with `KnownPage` and
`ScoreParts` (what a page deserves), `AdaptiveRule` with `Choice` and `SiteSize` (what a minor cycle fetches).
"""
