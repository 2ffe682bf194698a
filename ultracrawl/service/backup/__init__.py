"""Backups of a project: states, document cache, stored answers and indexes in one archive.

`places` lists the folders, `saving` writes an archive while crawls run, `restoring` restores one, `manifest` describes
its contents.
"""
