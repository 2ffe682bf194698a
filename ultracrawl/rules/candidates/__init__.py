"""The stages that decide whether a link is queued; crawls use a fast form, `explain` the list of decisions.

`CandidateRules` has the list in both forms: the stages of the boundary, then `ClosedStage` (no new URLs),
`PatternStage` (crawler traps, which `traps` recognises) and `TrapStage` (limits of known URLs).
"""
