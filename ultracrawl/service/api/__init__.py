"""The HTTP API of the service: access, routes, and errors in the format of RFC 9457.

`app.make_app` creates the ASGI application, which needs the extra `serve`.
"""

from importlib.util import find_spec

from ultracrawl.errors import MissingExtraError

_MODULES = ("fastapi", "uvicorn", "prometheus_client", "argon2", "itsdangerous", "jinja2", "babel")


def check_extra() -> None:
    """Raise `MissingExtraError` if the extra `serve` is not installed; call it before importing `app`."""
    if not all(map(find_spec, _MODULES)):
        raise MissingExtraError("the search page and the API", "serve")
