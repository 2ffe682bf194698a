"""The notes by which a crawl is seen and steered: who may use them, and what a dead crawl leaves behind."""

from __future__ import annotations

import json
import os
import platform
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from stores.conftest import Place

from ultracrawl.errors import StateError
from ultracrawl.stores.control_channel import (
    Command,
    ControlChannel,
    CrawlStatus,
    Phase,
    SiteWait,
    crawl_status,
    leave_order,
    order_waits,
)
from ultracrawl.stores.file_notes import FileNotes
from ultracrawl.stores.port.notes import Notes, NotesOf

STATUS, ORDER = "crawl", "order"


@pytest.fixture
def notes(kept: Place) -> Notes:
    """The notes of a source on each engine whose stores outlive a process."""
    return notes_of(kept)


@pytest.fixture
def files(tmp_path: Path) -> FileNotes:
    return FileNotes(tmp_path, "s.sqlite.")


@pytest.fixture
def post(files: FileNotes) -> Iterator[ControlChannel]:
    with closing(ControlChannel(files)) as one:
        yield one


def notes_of(place: Place, of: NotesOf = NotesOf.SOURCE) -> Notes:
    found = place.engine.open_notes(place.folder, "" if of is NotesOf.SERVICE else "s", of)
    assert found is not None
    return found


def test_what_a_crawl_waits_for_is_seen_with_its_phase(notes: Notes) -> None:
    wait = SiteWait("h.test", "refused", 1_800_000_000.5)
    with closing(ControlChannel(notes)) as post:
        post.publish_wait(wait)
        assert (seen(notes).wait, seen(notes).phase) == (wait, Phase.RUNNING)
        post.publish_phase(Phase.PAUSED)
        assert seen(notes).wait == wait
        post.publish_wait(None)
        assert (seen(notes).wait, seen(notes).phase) == (None, Phase.PAUSED)


def seen(notes: Notes) -> CrawlStatus:
    sign = crawl_status(notes)
    assert sign is not None
    return sign


# ---- every engine


def test_a_source_without_crawl_has_no_sign(notes: Notes) -> None:
    assert crawl_status(notes) is None
    assert crawl_status(None) is None


def test_a_crawl_shows_what_it_does__portal_robot_133(notes: Notes) -> None:
    with closing(ControlChannel(notes)) as post:
        first = seen(notes)
        assert (first.pid, first.phase, first.in_flight) == (os.getpid(), Phase.RUNNING, 0)
        post.publish_phase(Phase.PAUSING, 7)
        assert seen(notes) == replace(first, phase=Phase.PAUSING, in_flight=7)
        post.publish_phase(Phase.PAUSED)
        assert seen(notes).phase is Phase.PAUSED
    assert crawl_status(notes) is None


def test_a_process_is_named_with_its_machine_where_that_is_another_one(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(ControlChannel(notes)):
        here = seen(notes)
        monkeypatch.setattr(platform, "node", lambda: "elsewhere")
        there = seen(notes)
    assert str(os.getpid()) in here.process
    assert here.machine not in CrawlStatus("c", 7).process
    assert there.process == f"{CrawlStatus('c', here.pid).process} on {here.machine}"


@pytest.mark.parametrize("command", list(Command))
def test_an_order_is_taken_once(notes: Notes, command: Command) -> None:
    with closing(ControlChannel(notes)) as post:
        assert post.pop_order() is None
        leave_order(notes, seen(notes), command)
        assert order_waits(notes)
        assert post.pop_order() is command
        assert not order_waits(notes)
        assert post.pop_order() is None


def test_of_two_orders_the_later_one_counts(notes: Notes) -> None:
    with closing(ControlChannel(notes)) as post:
        leave_order(notes, seen(notes), Command.PAUSE)
        leave_order(notes, seen(notes), Command.STOP)
        assert (post.pop_order(), post.pop_order()) == (Command.STOP, None)


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b'{"command": "stop"}', b'{"crawl": "another", "command": "stop"}', b"x" * 100_000],
    ids=["empty", "torn", "list", "for-nobody", "for-another", "long"],
)
def test_what_is_no_order_for_this_crawl_is_cleared_away(notes: Notes, text: bytes) -> None:
    with closing(ControlChannel(notes)) as post:
        notes.leave(ORDER, text)
        assert post.pop_order() is None
        assert not order_waits(notes)


def test_an_unknown_command_is_no_order(notes: Notes) -> None:
    with closing(ControlChannel(notes)) as post:
        notes.leave(ORDER, json.dumps({"crawl": seen(notes).crawl, "command": "fly"}).encode())
        assert post.pop_order() is None


def test_an_ended_crawl_leaves_nothing(notes: Notes) -> None:
    post = ControlChannel(notes)
    leave_order(notes, seen(notes), Command.PAUSE)
    post.close()
    assert crawl_status(notes) is None
    assert not order_waits(notes)


def test_what_a_killed_crawl_left_does_not_confuse_the_next(kept: Place) -> None:
    notes = notes_of(kept)

    def crawl(_: object) -> None:
        own = notes_of(kept)
        post = ControlChannel(own)
        post.publish_phase(Phase.PAUSED)
        leave_order(own, seen(own), Command.STOP)

    kept.killed(crawl)
    assert crawl_status(notes) is None, "its sign died with it"
    order = notes.read(ORDER)
    assert order is not None
    with closing(ControlChannel(notes)) as post:
        assert seen(notes).phase is Phase.RUNNING
        assert post.pop_order() is None
        notes.leave(ORDER, order)
        assert post.pop_order() is None, "an order for the dead one that comes late is not for this one"


def test_a_robot_has_a_sign_of_its_own(kept: Place) -> None:
    source, robot = notes_of(kept), notes_of(kept, NotesOf.ROBOT)
    with closing(ControlChannel(robot)) as post:
        assert crawl_status(source) is None
        leave_order(robot, seen(robot), Command.RESTART)
        assert not order_waits(source)
        assert post.pop_order() is Command.RESTART


def test_a_note_is_written_changed_and_deleted(notes: Notes) -> None:
    assert notes.read("sites") is None
    notes.change("sites", lambda text: text + b"one\n")
    notes.change("sites", lambda text: text + b"two\n")
    assert notes.read("sites") == b"one\ntwo\n"
    notes.change("sites", lambda _: b"")
    assert not notes.read("sites")
    notes.write("failed", b"\x00\xff \n")
    notes.write("failed", b"why")
    assert notes.read("failed") == b"why"
    notes.delete("failed")
    notes.delete("failed")
    assert notes.read("failed") is None


def test_changes_of_several_processes_are_all_there(kept: Place) -> None:
    notes = notes_of(kept)
    children = list[int]()
    for number in range(4):
        child = os.fork()
        if not child:
            own = notes_of(kept)
            for line in range(20):
                added = f"{number}.{line}\n".encode()
                own.change("sites", lambda text, added=added: text + added)  # type: ignore[misc]
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    text = notes.read("sites") or b""
    assert len(set(text.splitlines())) == 80


def test_notes_of_those_who_are_present_are_listed_by_their_ending(kept: Place) -> None:
    notes = notes_of(kept, NotesOf.SERVICE)
    first, second = notes.appear("1.runner", b"first"), notes.appear("2.runner", b"second")
    other = notes.appear("3.other", b"other")
    notes.write("4.runner", b"of nobody")
    assert sorted(notes.all_present(".runner")) == [b"first", b"second"]
    assert notes.lease_left("1.runner") is None, "this machine knows that it lives"
    first.publish(b"changed")
    second.close()
    assert notes.all_present(".runner") == [b"changed"]
    first.close()
    other.close()
    assert notes.all_present(".runner") == []


def test_names_are_of_one_source_only(kept: Place) -> None:
    mine = notes_of(kept)
    other = kept.engine.open_notes(kept.folder, "t")
    assert other is not None
    mine.write("failed", b"why")
    assert other.read("failed") is None


# ---- files


def test_who_is_there_keeps_others_of_the_name_out(
    files: FileNotes, post: ControlChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ultracrawl.stores.file_notes._LOCK_TIMEOUT", 0.05)
    with pytest.raises(StateError):
        ControlChannel(files)
    assert seen(files).phase is Phase.RUNNING


def test_both_files_belong_to_their_owner_alone(files: FileNotes, post: ControlChannel) -> None:
    before = os.umask(0)
    try:
        leave_order(files, seen(files), Command.PAUSE)
    finally:
        os.umask(before)
    for name in (STATUS, ORDER):
        assert stat.S_IMODE(files.path(name).stat().st_mode) == 0o600


def test_a_sign_that_others_may_write_is_taken_back(files: FileNotes) -> None:
    files.path(STATUS).touch()
    files.path(STATUS).chmod(0o666)
    with closing(ControlChannel(files)):
        assert stat.S_IMODE(files.path(STATUS).stat().st_mode) == 0o600


def test_a_link_is_not_followed(files: FileNotes, post: ControlChannel, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text(json.dumps({"crawl": seen(files).crawl, "command": "stop"}))
    files.path(ORDER).symlink_to(elsewhere)
    assert post.pop_order() is None
    assert elsewhere.exists()
    files.path(ORDER).unlink(missing_ok=True)
    files.path(ORDER).symlink_to(elsewhere)
    leave_order(files, seen(files), Command.PAUSE)
    assert "stop" in elsewhere.read_text()
    assert post.pop_order() is Command.PAUSE


def test_an_ended_crawl_leaves_no_file(files: FileNotes, tmp_path: Path) -> None:
    post = ControlChannel(files)
    leave_order(files, seen(files), Command.PAUSE)
    post.close()
    assert list(tmp_path.iterdir()) == []


def test_looking_does_not_keep_a_crawl_from_beginning(files: FileNotes) -> None:
    with files.path(STATUS).open("w") as held:
        code = (
            "import fcntl, sys, time; file = open(sys.argv[1]); fcntl.flock(file, fcntl.LOCK_SH); "
            "print(flush=True); time.sleep(0.3)"
        )
        process = subprocess.Popen([sys.executable, "-c", code, held.name], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        ControlChannel(files).close()
        process.communicate()
