"""What the forges do with a tag: they build and install it, and publish it only when the owner approves."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.project import ROOT
from support.requirement import require

from .rehearsal import TOOLS, VERSION

GITHUB, GITLAB = ROOT / ".github" / "workflows" / "release.yml", ROOT / ".gitlab-ci.yml"


def jobs(file: Path) -> dict[str, Any]:
    """Return the jobs of a forge; YAML reads the word `on` as true."""
    read = yaml.safe_load(file.read_text())
    return dict(read["jobs"] if file == GITHUB else read)


def script(file: Path, job: str) -> str:
    """Return what a job runs in a shell."""
    found = jobs(file)[job]
    lines = found["script"] if file == GITLAB else [step["run"] for step in found["steps"] if "run" in step]
    return "\n".join(lines)


def test_only_the_job_with_approval_has_an_identity_at_the_index() -> None:
    with_identity = {name for name, job in jobs(GITHUB).items() if "id-token" in job["permissions"]}
    assert with_identity == {"publish"}
    assert jobs(GITHUB)["publish"]["environment"] == "release"
    assert {name for name, job in jobs(GITLAB).items() if "id_tokens" in job} == {"publish"}
    assert jobs(GITLAB)["publish"]["environment"] == "release"
    assert jobs(GITLAB)["publish"]["rules"] == [{"when": "manual"}]


def test_nothing_begins_without_a_tag_of_a_version() -> None:
    assert yaml.safe_load(GITHUB.read_text())[True] == {"push": {"tags": ["v*"]}}
    assert [rule["if"] for rule in jobs(GITLAB)["workflow"]["rules"]] == [r"$CI_COMMIT_TAG =~ /^v\d/"]


def test_publishing_waits_for_the_installation() -> None:
    assert set(jobs(GITHUB)["publish"]["needs"]) == {"build", "install"}
    assert jobs(GITHUB)["announce"]["needs"] == "publish"
    stages = jobs(GITLAB)["stages"]
    assert [
        stages.index(jobs(GITLAB)[name]["stage"]) for name in ("build", "install", "publish", "announce")
    ] == [
        0,
        1,
        2,
        3,
    ]


@pytest.mark.servers
@pytest.mark.parametrize(
    "command",
    [
        ("zizmor", "--offline", "--pedantic", GITHUB),
        ("check-jsonschema", "--builtin-schema", "vendor.github-workflows", GITHUB),
        ("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", GITLAB),
    ],
    ids=["security", "github", "gitlab"],
)
def test_checkers_of_workflows_find_nothing(command: tuple[str | Path, ...]) -> None:
    require((TOOLS.parent / ".installed").exists(), "what checks workflows", get="make release-tools")
    done = subprocess.run(
        [TOOLS / str(command[0]), *command[1:]], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.servers
@pytest.mark.timeout(900)  # installs sixty packages
@pytest.mark.parametrize("file", [GITHUB, GITLAB], ids=["github", "gitlab"])
def test_the_forge_installs_what_was_built_and_notices_another_version(
    dist: Path, tmp_path: Path, file: Path
) -> None:
    (tmp_path / "dist").symlink_to(dist)
    codes = []
    for tag in (f"v{VERSION}", "v9.8.6"):
        names = dict.fromkeys(("GITHUB_REF_NAME", "CI_COMMIT_TAG"), tag)
        path = f"{TOOLS}{os.pathsep}{os.environ['PATH']}"
        lines = script(file, "install") if tag == f"v{VERSION}" else script(file, "install").splitlines()[-1]
        done = subprocess.run(
            ["bash", "-e", "-c", lines],
            cwd=tmp_path,
            env={**os.environ, **names, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        codes.append(done.returncode)
    assert codes == [0, 1]
