"""The release that all tests here look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from .rehearsal import rehearse


@pytest.fixture(scope="session")
def dist(testrun_uid: str) -> Path:
    """The files of a release."""
    return rehearse(testrun_uid)
