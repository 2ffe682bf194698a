"""Notices: who is told when something needs a person, on which ways, and not too often.

`channels` sends, `digest` decides when, `watch` looks for what nobody tells (low disks, stale sources, certificates),
`noticing` brings them together in a service.
"""
