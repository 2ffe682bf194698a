"""Access to protected servers: form logins, credentials, cookies, headers, client certificates, proxies.

The names of form logins are imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
