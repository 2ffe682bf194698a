"""The rule for programs and packages that a test needs: skip on a desk, fail in continuous integration."""

import os

import pytest

SERVERS = "servers"
"""The marker of tests that need what `make servers` installs."""

_allowed = [True]


def require(present: object, what: str, package: str = "", *, get: str = "") -> None:
    """Go on when `present` is true; otherwise skip the test, or fail it under `CI=true`.

    `package` is a Debian package that brings it, `get` another command that does.

    A skip in continuous integration would hide that a whole area is no longer tested.
    """
    if package and not _allowed[0]:
        pytest.fail(f"a test that needs {what} has the marker `{SERVERS}`", pytrace=False)
    if present:
        return
    message = f"{what} is missing; install it with: {get or f'apt-get install {package}'}"
    if os.environ.get("CI") == "true":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def note_markers(item: pytest.Item) -> None:
    """Remember whether the test that begins may need what the system has to bring."""
    _allowed[0] = any(map(item.get_closest_marker, (SERVERS, "night")))
