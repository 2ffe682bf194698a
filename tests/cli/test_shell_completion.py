"""What shells complete, what is printed without `-v`, and the one line where files cannot be locked."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.project import LOOPBACK, ROOT, Workspace
from support.site import Site

pytestmark = pytest.mark.processes


def completed(workspace: Workspace, line: str) -> list[str]:
    """Return what bash is offered behind a line; its last word may be incomplete."""
    environment = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    ended = workspace.command(_ULTRACRAWL_COMPLETE="bash_complete", hosted=False, **environment)
    assert (ended.code, ended.err) == (0, "")
    return [offer.partition(",")[2] for offer in ended.out.splitlines() if offer]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("ultracrawl craw", ["crawl"]),
        ("ultracrawl crawl ", ["handbook", "intranet"]),
        ("ultracrawl crawl han", ["handbook"]),
        ("ultracrawl urls --source i", ["intranet"]),
        ("ultracrawl remove -c other.yaml ", ["elsewhere"]),
        ("ultracrawl crawl --lim", ["--limit"]),
        ("ultracrawl pause -c missing.yaml ", []),
    ],
)
def test_verbs_options_and_sources_are_completed(workspace: Workspace, line: str, offered: list[str]) -> None:
    source = {"start_urls": ["https://www.example.com/"]}
    workspace.write({"sources": {"handbook": source, "intranet": source}})
    (workspace.directory / "other.yaml").write_text(
        "sources: {elsewhere: {start_urls: [https://a.example/]}}"
    )
    assert completed(workspace, line) == offered


def test_a_misspelt_verb_is_no_error_while_one_types(workspace: Workspace) -> None:
    assert "crawl" in completed(workspace, "ultracrawl serach ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_documented_lines_print_a_script(workspace: Workspace, shell: str) -> None:
    assert f"_ULTRACRAWL_COMPLETE={shell}_source ultracrawl" in (ROOT / "docs/commands.md").read_text()
    if shell == "bash":  # its version is asked for
        return
    ended = workspace.command(_ULTRACRAWL_COMPLETE=f"{shell}_source", hosted=False)
    assert ended.code == 0
    assert "_ULTRACRAWL_COMPLETE" in ended.out


def test_numbers_of_the_crawler_are_behind_verbose_and_in_json(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.robots("User-agent: *\nDisallow: /private")
    site.page("/", title="Home", links=["/private", "/missing"])
    workspace.define(f"{url}/", boundary=LOOPBACK)
    workspace.crawl()
    for words in (["urls"], ["explain", "/private"]):
        plain, verbose = workspace.command(*words).out, workspace.command(*words, "-v").out
        assert not {"951", "30031"} & set(plain.replace("(", " ").split())
        assert {"951", "30031"} <= set(verbose.replace("(", " ").split())
    assert "404" in workspace.command("urls").out.split()
    private = workspace.command("urls", "--json", "--outcome", "ROBOTS").json
    assert (private["status_code"], private["cause"]) == (951, "robots")


def test_one_line_where_files_cannot_be_locked(workspace: Workspace) -> None:
    hiding = workspace.directory / "hiding"
    hiding.mkdir()
    (hiding / "sitecustomize.py").write_text("import sys\nsys.modules['fcntl'] = None\n")
    ended = subprocess.run(
        [sys.executable, "-m", "ultracrawl", "--version"],
        env={"PYTHONPATH": f"{hiding}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
