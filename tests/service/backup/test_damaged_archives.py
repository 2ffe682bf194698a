"""Archives that are damaged, foreign or hostile: one line, and nothing has changed."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from service.backup.conftest import move
from support.project import Workspace
from support.same_index import index_differences
from support.sentences import sentence

from ultracrawl.service.backup.manifest import NAME


def members_of(archive: Path) -> list[tuple[tarfile.TarInfo, bytes]]:
    with tarfile.open(archive) as tar:
        return [(one, (tar.extractfile(one) or io.BytesIO()).read()) for one in tar]


def write(archive: Path, members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    with tarfile.open(archive, "w:gz") as tar:
        for member, data in members:
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))


def with_member(archive: Path, member: tarfile.TarInfo, data: bytes = b"x") -> None:
    """Add a member of which the archive itself says that it belongs to it."""
    *files, (last, listed) = members_of(archive)
    manifest = json.loads(listed)
    manifest["files"][member.name] = {"size": len(data), "sha256": sha256(data).hexdigest()}
    write(archive, [*files, (member, data), (last, json.dumps(manifest).encode())])


def add_named(name: str) -> Callable[[Path], None]:
    return lambda archive: with_member(archive, tarfile.TarInfo(name))


def add_link(kind: bytes) -> Callable[[Path], None]:
    def add(archive: Path) -> None:
        member = tarfile.TarInfo("state/link")
        member.type, member.linkname = kind, "/etc/passwd"
        with_member(archive, member, b"")

    return add


def cut(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[:-2000])


def spoil_compression(archive: Path) -> None:
    """Have the second half begin with a block of the type that RFC 1951 leaves unused."""
    data = gzip.decompress(archive.read_bytes())
    compressor = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    half = compressor.compress(data[: len(data) // 2]) + compressor.flush(zlib.Z_FULL_FLUSH)
    archive.write_bytes(half + b"\x07" * 999)


def without_list(archive: Path) -> None:
    write(archive, members_of(archive)[:-1])


def change_a_byte(archive: Path) -> None:
    (member, data), *rest = members_of(archive)
    write(archive, [(member, bytes([data[0] ^ 1]) + data[1:]), *rest])


def leave_one_out(archive: Path) -> None:
    write(archive, members_of(archive)[1:])


def of_a_newer_program(archive: Path) -> None:
    *files, (last, listed) = members_of(archive)
    write(archive, [*files, (last, json.dumps({**json.loads(listed), "format": 2}).encode())])


def nonsense_list(archive: Path) -> None:
    *files, (last, _) = members_of(archive)
    write(archive, [*files, (last, b'{"format": 1, "files": 3}')])


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "no archive": (
        lambda archive: archive.write_bytes(b"text" * 999) and None,
        sentence("backup.damaged_not_backup"),
    ),
    "empty": (lambda archive: archive.write_bytes(b"") and None, sentence("backup.damaged_not_backup")),
    "cut": (cut, "is damaged"),
    "compression": (spoil_compression, sentence("backup.damaged_not_backup")),
    "another archive": (without_list, sentence("backup.list_files_missing")),
    "a byte": (change_a_byte, sentence("backup.differs_from_what_saved")),
    "a file less": (leave_one_out, sentence("backup.differs_from_what_saved")),
    "newer": (of_a_newer_program, "newer version"),
    "nonsense": (nonsense_list, sentence("backup.list_files_cannot_read")),
    "outside": (add_named("../outside"), sentence("backup.no_folder_project")),
    "outside of a folder": (add_named("state/../../outside"), sentence("backup.no_folder_project")),
    "absolute": (add_named("/tmp/outside"), sentence("backup.no_folder_project")),
    "other folder": (add_named("config/x"), sentence("backup.no_folder_project")),
    "index unknown": (add_named("indexes/other/x"), sentence("backup.no_folder_project")),
    "symbolic link": (add_link(tarfile.SYMTYPE), sentence("backup.no_folder_project")),
    "hard link": (add_link(tarfile.LNKTYPE), sentence("backup.no_folder_project")),
    "device": (add_link(tarfile.CHRTYPE), sentence("backup.no_folder_project")),
    "after the list": (
        lambda archive: write(archive, [*members_of(archive), (tarfile.TarInfo("state/x"), b"")]),
        sentence("backup.data_after_list_files"),
    ),
}


@pytest.fixture
def archive(workspace: Workspace, elsewhere: Workspace, url: str) -> Path:
    workspace.define(f"{url}/")
    workspace.crawl()
    return move(workspace, elsewhere)


def test_damaged_archives_change_nothing(workspace: Workspace, elsewhere: Workspace, archive: Path) -> None:
    whole = archive.read_bytes()
    for name, (damage, problem) in DAMAGES.items():
        archive.write_bytes(whole)
        damage(archive)
        refused = elsewhere.command("restore", str(archive), "--force")
        assert (refused.code, refused.out) == (2, ""), name
        assert problem in refused.err, name
        assert refused.err.count("\n") == 1, name
        assert not (archive.parent / "outside").exists()
        assert not (elsewhere.directory / "outside").exists()
    assert index_differences(workspace, elsewhere) == []
    leftover = [path for path in (elsewhere.directory / "var").iterdir() if path.name.startswith(".")]
    assert leftover == []
    assert NAME in {member.name for member, _ in members_of_bytes(whole)}


def members_of_bytes(data: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return [(one, b"") for one in tar]


def test_a_file_that_is_not_there_is_named(elsewhere: Workspace, archive: Path) -> None:
    missing = elsewhere.command("restore", "none.tgz", "--force")
    assert (missing.code, sentence("files.none") in missing.err) == (2, True)
