"""The files by which a crawl is seen and steered: who may use them, and what a dead crawl leaves behind."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ultracrawl.stores.control_channel import (
    Command,
    ControlChannel,
    CrawlStatus,
    Phase,
    crawl_status,
    leave_order,
    order_path,
    status_path,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "s.sqlite"


@pytest.fixture
def post(file: Path) -> Iterator[ControlChannel]:
    one = ControlChannel(file)
    yield one
    one.close()


def seen(file: Path) -> CrawlStatus:
    sign = crawl_status(file)
    assert sign is not None
    return sign


def test_a_source_without_crawl_has_no_sign(file: Path) -> None:
    assert crawl_status(file) is None


def test_a_crawl_shows_what_it_does__portal_robot_133(file: Path, post: ControlChannel) -> None:
    first = seen(file)
    assert (first.pid, first.phase, first.in_flight) == (os.getpid(), Phase.RUNNING, 0)
    post.publish_phase(Phase.PAUSING, 7)
    assert seen(file) == CrawlStatus(first.crawl, first.pid, Phase.PAUSING, 7)
    post.publish_phase(Phase.PAUSED)
    assert seen(file).phase is Phase.PAUSED


@pytest.mark.parametrize("command", list(Command))
def test_an_order_is_taken_once(file: Path, post: ControlChannel, command: Command) -> None:
    assert post.pop_order() is None
    leave_order(file, seen(file), command)
    assert post.pop_order() is command
    assert post.pop_order() is None


def test_of_two_orders_the_later_one_counts(file: Path, post: ControlChannel) -> None:
    leave_order(file, seen(file), Command.PAUSE)
    leave_order(file, seen(file), Command.STOP)
    assert (post.pop_order(), post.pop_order()) == (Command.STOP, None)


def test_both_files_belong_to_their_owner_alone(file: Path, post: ControlChannel) -> None:
    before = os.umask(0)
    try:
        leave_order(file, seen(file), Command.PAUSE)
    finally:
        os.umask(before)
    for path in (status_path(file), order_path(file)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_sign_that_others_may_write_is_taken_back(file: Path) -> None:
    status_path(file).touch()
    status_path(file).chmod(0o666)
    post = ControlChannel(file)
    assert stat.S_IMODE(status_path(file).stat().st_mode) == 0o600
    post.close()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"command": "stop"}',
        b'{"crawl": "another", "command": "stop"}',
        b"x" * 100_000,
    ],
    ids=["empty", "torn", "list", "no-text", "for-nobody", "for-another", "long"],
)
def test_what_is_no_order_for_this_crawl_is_cleared_away(
    file: Path, post: ControlChannel, text: bytes
) -> None:
    order_path(file).write_bytes(text)
    assert post.pop_order() is None
    assert not order_path(file).exists()


def test_an_unknown_command_is_no_order(file: Path, post: ControlChannel) -> None:
    order_path(file).write_text(json.dumps({"crawl": seen(file).crawl, "command": "fly"}))
    assert post.pop_order() is None


def test_a_link_is_not_followed(file: Path, post: ControlChannel, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text(json.dumps({"crawl": seen(file).crawl, "command": "stop"}))
    order_path(file).symlink_to(elsewhere)
    assert post.pop_order() is None
    assert elsewhere.exists()


def test_an_ended_crawl_leaves_nothing(file: Path, tmp_path: Path) -> None:
    post = ControlChannel(file)
    leave_order(file, seen(file), Command.PAUSE)
    post.close()
    assert list(tmp_path.iterdir()) == []
    assert crawl_status(file) is None


def test_what_a_killed_crawl_left_does_not_confuse_the_next(file: Path) -> None:
    code = (
        "import sys, os, signal; from pathlib import Path\n"
        "from ultracrawl.stores.control_channel import *\n"
        "file = Path(sys.argv[1]); post = ControlChannel(file); post.publish_phase(Phase.PAUSED)\n"
        "leave_order(file, crawl_status(file), Command.STOP)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(file)], check=False)
    assert status_path(file).exists()
    assert order_path(file).exists()
    assert crawl_status(file) is None, "its lock died with it"
    order = order_path(file).read_bytes()
    post = ControlChannel(file)
    assert seen(file).phase is Phase.RUNNING
    assert post.pop_order() is None
    order_path(file).write_bytes(order)
    assert post.pop_order() is None, "an order for the dead one that comes late is not for this one"
    post.close()


def test_looking_does_not_keep_a_crawl_from_beginning(file: Path) -> None:
    with status_path(file).open("w") as held:
        code = (
            "import fcntl, sys, time; file = open(sys.argv[1]); fcntl.flock(file, fcntl.LOCK_SH); "
            "print(flush=True); time.sleep(0.3)"
        )
        process = subprocess.Popen([sys.executable, "-c", code, held.name], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        ControlChannel(file).close()
        process.communicate()
