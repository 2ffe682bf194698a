"""When two pages are one document, and which of their URLs stands for it; pure rules.

`Fingerprints` (what is compared, as 16 bytes a page), `simhash`, `distance` and `blocks` (texts that are nearly
equal), `preference` and `UrlRanking` (which URL survives).
"""
