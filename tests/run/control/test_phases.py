"""A crawl in two phases ends with the same index."""

import yaml
from support.project import Workspace
from support.site import Site


def test_ultra_search_5_7_a_crawl_in_turns_with_indexing(site: Site, url: str, workspace: Workspace) -> None:
    pages = [f"/p{number}" for number in range(40)]
    for path in pages:
        site.page(path, title=path, text=f"the text of {path} " * 20)
    site.page("/", title="Home", links=pages, text="welcome")
    workspace.define(f"{url}/", politeness={"delay": 0, "concurrency": 2})
    file = workspace.directory / "ultracrawl.yaml"
    definition = yaml.safe_load(file.read_text())
    workspace.write({**definition, "cache": {"size": "4 KB", "phases": "two"}})
    run = workspace.crawl().run
    assert run["outcomes"] == {"NEW": 41}
    assert workspace.indexed() == sorted(["/", *pages])
