"""Conversion in processes of its own: a document that breaks or hangs its converter costs that document and no more.

`ConversionPool` hands `Job`s to `ConversionProcess`es and gives `Converted` or `NotConverted`; pages that take long to
read go the same way, as `PageJob`s, and come back as `PageRead` or `PageLost`. `python -m
ultracrawl.content.service.worker` is the program of such a process; `frames` is what the two say to each other.
"""
