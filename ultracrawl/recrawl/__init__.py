"""What a later visit to a known URL asks for, and what its answer means; pure rules.

`conditional_headers` (the validators that a request carries), `checksum`, `classify` and `is_known` (new,
modified or as it was), `outcome_of_status` (what an answer without a page means), `vouches` and `is_statement`
(what the date of a sitemap entry is worth).
"""

from ultracrawl.recrawl.change import checksum, classify, is_known
from ultracrawl.recrawl.conditional import conditional_headers
from ultracrawl.recrawl.lastmod import is_statement, vouches
from ultracrawl.recrawl.status import outcome_of_status

__all__ = [
    "checksum",
    "classify",
    "conditional_headers",
    "is_known",
    "is_statement",
    "outcome_of_status",
    "vouches",
]
