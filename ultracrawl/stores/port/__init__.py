"""What the crawler asks of a store, whatever the store is made of.

`Store` is made of six parts: `RecordPart` (the document table), `VisitPart` (each URL over time), `QueuePart` (what
waits), `SitePart` (clocks, robots.txt, sitemaps, feeds), `LinkPart` (links and their texts), `DocumentPart` (documents
kept back, in the index, or on the way there). The value types that go in and out lie beside the part that they are of.
"""
