"""Tests that wait for seconds or measure them are found."""

from __future__ import annotations

import clocks
import pytest

READ = {
    "a function of the module": "import time\ntime.sleep(1)",
    "another name of the module": "import time as t\nseconds = t.monotonic()",
    "a name of the function": "from time import perf_counter as now\nnow()",
    "one that is handed on": "import time\nrun(clock=time.time)",
    "one of nanoseconds": "from time import monotonic_ns\nmonotonic_ns()",
    "in a function": "def test():\n    import time\n    time.process_time()",
    "no time by a name": "import asyncio\nasync def test(): await asyncio.sleep(seconds)",
    "on the loop": "import asyncio\nasync def test(): await asyncio.sleep(1)",
}
FREE = {
    "a module of the same name": "from support import time\ntime.sleep(1)",
    "what only has the name": "def sleep(): ...\nsleep()\nloop.time()",
    "another function": "import time\ntime.tzset()",
    "a turn of the loop": "import asyncio\nasync def test(): await asyncio.sleep(0)",
    "a wait for what happens": "from support.until import until\nuntil(lambda: True)",
}


def uses(grow, text, name="tests/test_one.py"):
    return list(clocks.clock_uses(grow({name: f"{text}\n"}).root))


@pytest.mark.parametrize("case", READ)
def test_a_use_of_a_clock_is_found(grow, case):
    assert len(uses(grow, READ[case])) == 1


@pytest.mark.parametrize("case", FREE)
def test_others_are_free(grow, case):
    assert uses(grow, FREE[case]) == []


@pytest.mark.parametrize(
    ("name", "number"), [("tests/a/conftest.py", 1), ("tests/a/test_b.py", 1), ("tests/support/until.py", 0)]
)
def test_support_may_look_at_a_clock(grow, name, number):
    assert len(uses(grow, READ["on the loop"], name)) == number


def test_exceptions_may_only_shrink(grow):
    found = uses(grow, "import time\ntime.sleep(1)\ntime.sleep(1)")
    assert list(clocks.differences(found, {"tests/test_one.py": 2})) == []
    for allowed in (
        {},
        {"tests/test_one.py": 1},
        {"tests/test_one.py": 3},
        {"tests/test_one.py": 2, "gone": 1},
    ):
        assert list(clocks.differences(found, allowed)), allowed


def test_the_status_says_whether_there_is_more_than_may_be(grow, capsys):
    assert clocks.main(["--tree", str(grow({"tests/test_one.py": READ["on the loop"]}).root)]) == 1
    assert "tests/test_one.py:2" in capsys.readouterr().out
