"""When two pages are one document, and which of their URLs stands for it; pure rules.

`Fingerprints` (what is compared, as 16 bytes a page), `simhash`, `distance` and `blocks` (texts that are nearly
equal), `preference`, `rank` and `rank_of` (which URL survives).
"""

from ultracrawl.rules.duplicates.fingerprint import Fingerprints
from ultracrawl.rules.duplicates.preference import Rank, preference, rank, rank_of
from ultracrawl.rules.duplicates.simhash import blocks, distance, simhash

__all__ = ["Fingerprints", "Rank", "blocks", "distance", "preference", "rank", "rank_of", "simhash"]
