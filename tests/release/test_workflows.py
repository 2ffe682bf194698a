"""What the forges do: they test branches; a tag they build and install, and publish only when the owner approves."""

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
GITHUB_TESTS = GITHUB.with_name("tests.yml")
TAGGED = r"$CI_COMMIT_TAG =~ /^v\d/"


def jobs(file: Path) -> dict[str, Any]:
    """Return the jobs of a forge; YAML reads the word `on` as true."""
    read = yaml.safe_load(file.read_text())
    return dict(read if file == GITLAB else read["jobs"])


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
    assert jobs(GITLAB)["publish"]["rules"] == [{"if": TAGGED, "when": "manual"}]


def test_no_release_begins_without_a_tag_of_a_version() -> None:
    assert yaml.safe_load(GITHUB.read_text())[True] == {"push": {"tags": ["v*"]}}
    conditions = {
        name: [rule["if"] for rule in job["rules"]]
        for name, job in jobs(GITLAB).items()
        if name not in ("workflow", "stages")
    }
    assert conditions.pop("test") == ["$CI_COMMIT_BRANCH"]
    assert conditions == {name: [TAGGED] for name in ("build", "install", "publish", "announce")}


def test_branches_are_tested() -> None:
    assert "pull_request" in yaml.safe_load(GITHUB_TESTS.read_text())[True]
    for file in (GITHUB_TESTS, GITLAB):
        assert script(file, "test").splitlines()[-1] == "make test"


def test_publishing_waits_for_the_installation() -> None:
    assert set(jobs(GITHUB)["publish"]["needs"]) == {"build", "install"}
    assert jobs(GITHUB)["announce"]["needs"] == "publish"
    stages = jobs(GITLAB)["stages"]
    assert [
        stages.index(jobs(GITLAB)[name]["stage"]) for name in ("build", "install", "publish", "announce")
    ] == [1, 2, 3, 4]


@pytest.mark.servers
@pytest.mark.parametrize(
    "command",
    [
        ("zizmor", "--offline", "--pedantic", GITHUB),
        ("zizmor", "--offline", "--pedantic", GITHUB_TESTS),
        ("check-jsonschema", "--builtin-schema", "vendor.github-workflows", GITHUB, GITHUB_TESTS),
        ("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", GITLAB),
    ],
    ids=["security", "security-tests", "github", "gitlab"],
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
            env={**os.environ, **names, "PATH": path, "PIP_NO_COMPILE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        codes.append(done.returncode)
    assert codes == [0, 1]
