"""The one list of stages that a link meets: the crawl runs it compiled, whoever explains runs it spelled out.

`CandidateRules` (the list, in both forms), `ClosedStage` (new URLs are kept out altogether), `TrapStage` (guards
against sites that make up URLs without end). The stages of the boundary come before those.
"""
