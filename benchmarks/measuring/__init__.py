"""Speed beside other crawlers.

What a command costs (`cost`), the crawlers (`ours`, `others`), what was measured (`results`), and what is shown of it
(`aims`, `table`, `plot`).
"""
