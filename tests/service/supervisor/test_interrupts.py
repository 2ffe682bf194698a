"""Ctrl-C while several crawls start, or one: a sentence that says how to go on, and no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.project import LOOPBACK, ROOT, Workspace
from support.sentences import sentence
from support.site import Site
from support.until import until

from ultracrawl.cli.crawl import crawl as verb
from ultracrawl.cli.main import run_words
from ultracrawl.cli.mistakes import CommandFailedError, Mistake

INTERRUPTED_IMPORT = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
PROGRAM = """
import signal
from ultracrawl.system import fork_server

def tell(pipe):
    blocked = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    pipe.send("blocked" if blocked else "as usual")

fork_server._PROGRAMS = ["interrupted_import"]
if __name__ == "__main__":
    process, pipe = fork_server.start_process(tell, name="one")
    print(pipe.recv())
    process.join()
"""


@pytest.mark.processes
def test_an_interrupt_does_not_end_the_fork_server_while_it_imports(tmp_path: Path) -> None:
    (tmp_path / "interrupted_import.py").write_text(INTERRUPTED_IMPORT)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}"}
    ended = subprocess.run(
        [sys.executable, str(program)], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.stdout, ended.stderr) == ("as usual\n", "")


def three_sources(workspace: Workspace, url: str) -> None:
    one: dict[str, Any] = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0.05}}
    workspace.write({"sources": dict.fromkeys("abc", one)})


@pytest.mark.servers
def test_interrupted_crawls_of_several_sources_name_the_command_that_goes_on(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", links=[f"/{number}" for number in range(60)], text="words")
    site.page("/20", title="Twenty", text="words")
    answer = site.hold("/20")
    three_sources(workspace, url)
    process = workspace.start("crawl", "--jobs", "3", hosted=False)
    until(lambda: site.requests, process)
    os.killpg(process.pid, signal.SIGINT)
    answer.set()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err.endswith(sentence("stop.crawl_again", names="a b c"))
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "again"), [([], sentence("service.ultracrawl_crawl_b_c")), (["b"], "ultracrawl crawl b")]
)
def test_an_interrupt_before_a_run_has_begun(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, words: list[str], again: str
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    three_sources(workspace, "http://127.0.0.1:9")
    monkeypatch.chdir(workspace.directory)
    monkeypatch.setattr(verb, "crawl_sources", interrupted)
    with pytest.raises(CommandFailedError) as caught:
        run_words(["crawl", *words])
    assert (caught.value.mistake, caught.value.values) == (Mistake.INTERRUPTED, {"again": again})
