"""Conversion in separate processes, so that a document that crashes or hangs its converter only fails itself.

`ConversionPool` passes `Job`s to `ConversionProcess`es and returns `Converted` or `NotConverted`; large pages are
parsed there as well, as `PageJob`s with the results `PageRead` and `PageLost`. The program of such a process is
`python -m ultracrawl.content.service.worker`; `frames` is the protocol between the two.

`ConversionProcess` is imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
