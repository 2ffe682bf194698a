"""All that is stored of a source, under its name: what is left over of it, removing it, and giving it another name.

The names that each crawl would load, and few need, are imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
