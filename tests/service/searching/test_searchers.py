"""Open searchers are used again as long as nothing they depend on has changed."""

from __future__ import annotations

from service.searching.conftest import Birds

from ultracrawl.service.searching.searchers import SearcherPool, View


def test_searchers_are_used_again_for_the_same_view_alone(birds: Birds) -> None:
    pool, project = SearcherPool(), birds.project
    with pool.searcher_for(project, View()) as everybody:
        pass
    for view in (
        View(principals=("staff",)),
        View(principals=None),
        View("default"),
        View(sources=("lake",)),
    ):
        with pool.searcher_for(project, view) as other:
            assert other is not everybody
    with pool.searcher_for(project, View()) as again, pool.searcher_for(project, View()) as beside:
        assert again is everybody
        assert beside is not everybody
    with pool.searcher_for(birds.read(), View()) as of_changed_definitions:
        assert of_changed_definitions not in (everybody, beside)
    pool.close()
