"""Crawls in child processes: starting, monitoring, restarting and ending them; and the long-running service.

The names are imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
