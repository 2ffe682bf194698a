"""Runs the filters of a source, and limits the time and memory of user code that they call.

`Filtering` is imported on first use: it loads all of the filters.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
