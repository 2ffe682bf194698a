"""Pages whose scripts are run: the browser, and the choice of pages that are opened in it.

The names are imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
