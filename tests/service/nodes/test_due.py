"""When a node takes a source, in its own process: what it once saw is looked at again."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
import yaml
from stores.conftest import a_schema

from ultracrawl.errors import StateError
from ultracrawl.service.nodes.node import open_node
from ultracrawl.service.schedules import plans
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.port.schedule_store import own_key
from ultracrawl.stores.project_stores import open_state

pytestmark = pytest.mark.servers


@pytest.mark.parametrize("finished", [True, False])
def test_a_source_whose_state_could_not_be_read_once_is_taken_when_it_is_due_and_not_before(
    tmp_path: Path,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    finished: bool,
) -> None:
    with a_schema(database) as options:
        state = {"engine": "postgresql", "url": options["url"], "schema_name": options["schema"]}
        source = {"start_urls": ["http://birds.example/"], "refresh": {"interval": "1 h"}}
        file = tmp_path / "ultracrawl.yaml"
        file.write_text(yaml.safe_dump({"state": state, "sources": {"birds": source}}))
        project = require(read_definitions(file))
        with closing(open_state(project, "birds")) as store:
            run, _ = store.begin_run(time.time(), "")
            store.end_run(replace(run, finished=time.time() if finished else 0.0))
        with open_node(lambda: project, dict, "a") as node:
            with monkeypatch.context() as patched:
                patched.setattr(plans, "state_to_read", Mock(side_effect=StateError("away")))
                for _ in range(2):
                    assert not node._look([], 1).taken, "nobody knows whether it is due"
                    node._seen.clear()  # as a minute later
                (told,) = [one for one in caplog.records if "birds" in one.getMessage()]
                assert "away" in told.getMessage()
            assert node._look([], 1).taken.keys() == (set() if finished else {own_key("birds")})
