"""Backups of a project: its states, document cache, stored answers and indexes in one archive, and back again.

`places` says what belongs to it, `saving` writes an archive while crawls go on, `restoring` reads one, `manifest` is
what stands in it about itself.
"""
