"""Libraries of remote folders: installed where they are needed, and not imported elsewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.project import ROOT, Workspace

LIBRARIES = {
    "sftp://reader@files.example.com/docs": ("asyncssh", "sftp"),
    "s3://bucket/docs": ("botocore", "s3"),
    "smb://reader@files.example.com/share": ("smbprotocol", "smb"),
}


@pytest.mark.processes
@pytest.mark.parametrize("path", LIBRARIES)
def test_a_missing_library_is_reported_with_the_line_that_installs_it(
    workspace: Workspace, tmp_path: Path, path: str
) -> None:
    package, extra = LIBRARIES[path]
    without = tmp_path / "without"
    without.mkdir()
    (without / "sitecustomize.py").write_text(f"import sys\nsys.modules[{package!r}] = None\n")
    workspace.write({"sources": {"share": {"type": "file", "paths": [path]}}})
    for verb in ("lint", "crawl"):
        ended = workspace.command(verb, PYTHONPATH=f"{without}:{ROOT}")
        assert ended.code == 2, verb
        assert f'pip install "ultracrawl[{extra}]"' in ended.out + ended.err, verb


def test_local_folders_import_no_library(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    program = f"""
import sys
from pathlib import Path
from ultracrawl.agents.file.kind import KIND
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.port import KindSetup
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.secrets import SecretReader

setup = KindSetup(FileSection(paths=["."]), DataSource(name="s"), Path({str(tmp_path)!r}), SecretReader({{}}))
list(KIND.make_lister(setup).list_entries("", ""))
KIND.make_fetcher(setup)
print(sorted({{{", ".join(repr(package) for package, _ in LIBRARIES.values())}}} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=60, cwd=ROOT
    )
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
