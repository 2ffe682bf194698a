"""Hooks: declared once by `Feature`, called only for features that override them, in the order of `add`."""

from __future__ import annotations

from ultracrawl.run.hooks import Feature, Hooks


class Ticking(Feature):
    """Overrides one hook."""

    def __init__(self, name: str, ticks: list[str]) -> None:
        self._name = name
        self._ticks = ticks

    def tick(self) -> None:
        self._ticks.append(self._name)


def test_every_hook_of_a_feature_is_empty_until_a_feature_overrides_it() -> None:
    hooks = Hooks()
    hooks.add(Feature(), None)
    declared = {hook for name, hook in vars(Feature).items() if not name.startswith("_")}
    assert hooks.keys() == declared
    assert not any(hooks.values())


def test_methods_are_called_in_the_order_in_which_they_were_added() -> None:
    ticks: list[str] = []
    hooks, last = Hooks(), Ticking("last", ticks).tick
    hooks.add(Ticking("first", ticks), Ticking("second", ticks))
    hooks.call(Feature.tick, last)
    for tick in hooks[Feature.tick]:
        tick()
    assert (ticks, hooks[Feature.resumed]) == (["first", "second", "last"], ())
