"""Detection of duplicates, and the choice of the URL that is indexed.

`Fingerprints` (16 bytes per page), `signature`, `distance` and `blocks` (near-duplicates), `preference` and
`UrlRanking` (the order of the URLs of equal content).
"""
