"""A service with schedules does with every order what its trace says."""

from __future__ import annotations

from pathlib import Path

import pytest

from golden.served import served
from golden.stored import TRACES, check

pytestmark = pytest.mark.servers


def test_orders(tmp_path: Path) -> None:
    check("served/orders", served(tmp_path))


def test_no_trace_is_left_over() -> None:
    assert [path.stem for path in TRACES.glob("served/*.json")] == ["orders"]
