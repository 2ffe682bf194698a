"""The HTTP API of the service: who may ask (`tokens`), what is asked and answered, and errors as RFC 9457 has them.

`app.make_app` makes the ASGI application, which the extra `serve` is for; `tokens` needs nothing beyond the program.
"""

from importlib.util import find_spec

from ultracrawl.errors import MissingExtraError


def check_extra() -> None:
    """Raise `MissingExtraError` unless what serves the API is installed; to be called before `app` is imported."""
    if not all(map(find_spec, ("fastapi", "uvicorn", "prometheus_client"))):
        raise MissingExtraError("the API of the service", "serve")
