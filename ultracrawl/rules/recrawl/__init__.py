"""Recrawls: conditional requests, detection of changes, refresh cycles, deletions.

* `change`: validators, checksums, outcomes of visits, credibility of sitemap dates
* `cycle`: refresh modes and cycles; `adaptive`: the choice of URLs in adaptive refreshing
* `failure_policy`, `deletion`, `orphans`, `feed_links`: when documents are deleted
"""
