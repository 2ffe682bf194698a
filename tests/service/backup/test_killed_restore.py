"""A restore that is killed between its renames: the next command completes it, or it has not begun."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from service.backup.conftest import move
from support.project import Workspace
from support.same_index import index_differences
from support.sentences import sentence
from support.site import Site

from ultracrawl.errors import UserError, WorkError
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.sessions import SessionStore
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.access.users import UserStore
from ultracrawl.system.replacement import DRAFT, JOURNAL, OWN_NAMES, finish_replacement, replacing

OLD = {"state/a": "old", "state/b": "old", "state/deep/c": "old", "index/a": "old", "index/gone": "old"}
NEW = {"state/a": "new", "state/deep/d": "new", "state/more": "new", "index/a": "new", "index/deep/e": "new"}
PROGRAM = """
import os, sys
from pathlib import Path
from ultracrawl.system import replacement
what, kill_after, fail_at, *names = sys.argv[1:]
folders, left, tried, rename = list(map(Path, names)), int(kill_after), 0, Path.rename

def counted(path, target):
    global left, tried
    tried += 1
    if tried == int(fail_at):
        raise OSError(16, "Device or resource busy", str(path))
    rename(path, target)
    left -= 1
    if not left:
        os._exit(9)

if what == "restore":
    with replacement.replacing(folders) as one:
        for text in NEW:
            top, _, inner = text.partition("/")
            (file,) = (one.draft_of(folder) / inner for folder in folders if folder.name == top)
            file.parent.mkdir(exist_ok=True)
            file.write_text("new")
        Path.rename = counted
        one.commit()
else:
    Path.rename = counted
    replacement.finish_replacement(folders[0])
print(tried)
"""


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    for name, text in OLD.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return [tmp_path / "state", tmp_path / "index"]


def contents(folders: list[Path]) -> dict[str, str]:
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folders[0].parent).as_posix(): path.read_text() for path in files}


def run(what: str, folders: list[Path], *, kill_after: int = 0, fail_at: int = 0) -> int:
    program = f"NEW = {list(NEW)}\n{PROGRAM}"
    words = [what, str(kill_after), str(fail_at), *map(str, folders)]
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode


@pytest.mark.processes
@pytest.mark.parametrize("kill_after", range(1, 10))
def test_a_restore_killed_at_any_rename_is_completed(folders: list[Path], kill_after: int) -> None:
    assert run("restore", folders, kill_after=kill_after) == 9
    assert contents(folders) != NEW
    run("finish", folders, kill_after=2)  # it is killed as well
    finish_replacement(folders[0])
    assert contents(folders) == NEW
    finish_replacement(folders[0])
    assert contents(folders) == NEW


@pytest.mark.processes
@pytest.mark.parametrize("kill_after", range(4, 7))
def test_one_that_failed_and_is_killed_while_it_goes_back_is_undone(
    folders: list[Path], kill_after: int
) -> None:
    assert run("restore", folders, kill_after=kill_after, fail_at=4) == 9
    run("finish", folders, kill_after=1)
    finish_replacement(folders[0])
    assert contents(folders) == OLD


def test_what_was_only_drafted_is_deleted_by_the_next_command(folders: list[Path]) -> None:
    with replacing(folders) as one:
        (one.draft_of(folders[1]) / "half").write_text("new")
        during = contents(folders)
        finish_replacement(folders[0])  # it still runs: nothing is touched
        assert contents(folders) == during
    assert contents(folders) == OLD
    (folders[0] / JOURNAL).write_text(f'{{"folders": ["{folders[0]}", "{folders[1]}"]}}\n{{"replac')
    (folders[1] / DRAFT).mkdir()
    (folders[1] / DRAFT / "half").write_text("new")
    finish_replacement(folders[0])
    assert contents(folders) == OLD


def test_two_restores_at_a_time_are_one(folders: list[Path]) -> None:
    with replacing(folders), pytest.raises(WorkError, match="another backup"), replacing(folders):
        pass
    assert contents(folders) == OLD


def test_nested_folders_and_what_belongs_to_the_file_system_stay(tmp_path: Path) -> None:
    outer, inner = tmp_path / "var", tmp_path / "var" / "state"
    (outer / "lost+found").mkdir(parents=True)
    inner.mkdir()
    (inner / "a").write_text("old")
    with replacing([inner, outer]) as one:
        (one.draft_of(inner) / "a").write_text("new")
        (one.draft_of(outer) / "b").write_text("new")
        one.commit()
    assert sorted(path.name for path in outer.rglob("*")) == ["a", "b", "lost+found", "state"]
    assert (inner / "a").read_text() == "new"


@pytest.mark.parametrize("verb", [("search", "text"), ("status",), ("urls",), ("plan",)])
def test_the_next_command_ends_a_killed_restore(
    workspace: Workspace, elsewhere: Workspace, url: str, site: Site, verb: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    workspace.define(f"{url}/")
    workspace.crawl()
    archive = move(workspace, elsewhere)
    site.page("/", title="Start", links=["/new"])
    site.page("/new", title="New", text="another text")
    elsewhere.crawl()
    assert elsewhere.command("search", "text").code == 0  # from now on the definition is cached
    rename = Path.rename
    left = 3

    def killed(path: Path, target: Path) -> Path:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", killed)
        elsewhere.command("restore", str(archive), "--force")
    state = elsewhere.directory / "var" / "state"
    assert (state / JOURNAL).exists()
    ended = elsewhere.command(*verb)
    assert ended.code == 0, ended.err
    assert not [path for path in (elsewhere.directory / "var").rglob("*") if path.name in OWN_NAMES]
    assert index_differences(workspace, elsewhere) == []


def test_folders_that_are_mounts_are_restored(
    workspace: Workspace, elsewhere: Workspace, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    archive = move(workspace, elsewhere)
    mounts = [elsewhere.directory / "var" / name for name in ("state", "index")]

    def device(path: str | os.PathLike[str]) -> Path | None:
        return next((mount for mount in mounts if mount in Path(path).parents), None)

    def guarded(original):  # type: ignore[no-untyped-def]  # whichever of the functions it is
        def move_within(source, target, *more, **options):  # type: ignore[no-untyped-def]
            if {Path(source), Path(target)} & set(mounts):
                raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(source))
            if device(source) != device(target):
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(source))
            return original(source, target, *more, **options)

        return move_within

    for name in ("rename", "replace"):
        monkeypatch.setattr(os, name, guarded(getattr(os, name)))
    restored = elsewhere.command("restore", str(archive), "--force")
    assert restored.code == 0, restored.err
    assert index_differences(workspace, elsewhere) == []


def test_a_backup_is_not_part_of_the_next_one(workspace: Workspace, url: str) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    for place in ("state", "index", "cache"):
        archive = workspace.directory / "var" / place / "saved.tgz"
        refused = workspace.command("backup", str(archive))
        assert (refused.code, sentence("backup.in_next_backup") in refused.err) == (2, True), refused.err
        assert not archive.exists()


# ---- tokens


def tokens_of(workspace: Workspace) -> TokenStore:
    return TokenStore(workspace.directory / "var" / "state" / "service" / "tokens.json")


def test_a_restore_revives_no_revoked_token(workspace: Workspace, elsewhere: Workspace, url: str) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    secret = tokens_of(workspace).create_token("portal", Role.READER)
    archive = move(workspace, elsewhere)
    assert tokens_of(elsewhere).find_token(secret) is not None  # there were none
    tokens_of(workspace).revoke_token("portal")
    other = tokens_of(workspace).create_token("other", Role.READER)
    told = workspace.command("restore", str(archive), "--force")
    assert (told.code, sentence("backup.tokens_not_restored") in told.out) == (0, True), told.err
    assert tokens_of(workspace).find_token(secret) is None
    assert tokens_of(workspace).find_token(other) is not None
    with pytest.raises(UserError):
        tokens_of(workspace).revoke_token("portal")
    tokens_of(workspace).revoke_token("other")
    assert workspace.command("restore", str(archive), "--force", "--json").json["tokens"] == "kept"
    assert tokens_of(workspace).all_tokens() == []


def test_a_restore_revives_no_removed_user_and_no_session(
    workspace: Workspace, elsewhere: Workspace, url: str
) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    folder = workspace.directory / "var" / "state" / "service"
    users = UserStore(folder / "users.json")
    users.add_user("anna", Role.READER, "correct horse battery")
    SessionStore(folder / "sessions.json").begin("anna", "1")
    archive = move(workspace, elsewhere)
    restored = elsewhere.directory / "var" / "state" / "service"
    assert UserStore(restored / "users.json").find_user("anna") is not None
    assert not (restored / "sessions.json").exists()
    users.remove_user("anna")
    assert workspace.command("restore", str(archive), "--force", "--json").json["users"] == "kept"
    assert users.all_users() == []


def test_it_is_reported_that_the_tokens_of_a_backup_are_valid(
    workspace: Workspace, elsewhere: Workspace, url: str
) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    assert workspace.command("backup", "../none.tar").code == 0
    tokens_of(workspace).create_token("portal", Role.READER)
    assert workspace.command("backup", "../one.tar").code == 0
    (elsewhere.directory / "ultracrawl.yaml").write_bytes(
        (workspace.directory / "ultracrawl.yaml").read_bytes()
    )
    nothing = elsewhere.command("restore", "../none.tar", "--json").json
    assert (nothing["tokens"], nothing["users"]) == ("none", "none")
    told = elsewhere.command("restore", "../one.tar", "--force")
    assert sentence("backup.tokens_are_of_backup") in told.out
