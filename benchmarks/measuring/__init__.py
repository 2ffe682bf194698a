"""Speed comparison with other crawlers.

Cost of a command (`cost`), crawlers (`ours`, `others`), figures (`results`), and output (`aims`, `table`, `plot`).
"""
