"""Notices: messages to people about events that need them, rate-limited.

`channels` sends messages, `digest` limits their rate, `watch` checks conditions without events (low disks, stale
sources, certificates), `noticing` combines them in a service.
"""
