"""Remote file systems behind one interface: their URLs, connections and clients.

The folders are imported on first use, each with its library.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
