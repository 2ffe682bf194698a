"""Tests of the engine `opensearch`, which need its client library."""

from __future__ import annotations

import os
from importlib.util import find_spec

collect_ignore_glob = (
    ["test_*.py"] if find_spec("opensearchpy") is None and os.environ.get("CI") != "true" else []
)
