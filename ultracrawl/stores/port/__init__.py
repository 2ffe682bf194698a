"""The interfaces of the stores, independent of the storage engine.

`Store` has six parts: `RecordPart` (the document table), `VisitPart` (visit and change history), `QueuePart` (the
request queue), `SitePart` (sites, sitemaps, feeds), `LinkPart` (links and anchor texts), `DocumentPart` (documents that
are retained, submitted or indexed). The value types are defined beside the part that uses them.
"""
