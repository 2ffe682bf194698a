"""`Draft`: the options of a source under construction, by path, with the places they come from."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ultracrawl.dataclass import dataclass, field
from ultracrawl.dialects.fast_xml.values import Setting
from ultracrawl.sources import Data, OptionPath, Place


@dataclass(slots=True)
class _Leaf:
    value: Data
    place: Place | None = None
    """None for a default, which the first value from a file replaces."""
    members: list[Place] = field(default_factory=list)
    """The places of the list members."""
    is_member: bool = False
    """Whether the value comes from one member of a list in the file."""


class Draft:
    """The options of one source; later values replace earlier ones, list members are appended."""

    def __init__(self, place: Place, defaults: Draft | None = None) -> None:
        self._place = place
        self._leaves: dict[OptionPath, _Leaf] = dict(defaults._leaves) if defaults else {}

    def put_option(
        self, path: OptionPath, value: Data, setting: Setting | None = None, line: int = 0
    ) -> None:
        """Set an option; `line` is that of its list member in the file, if it can be dropped on its own."""
        if setting is not None and line:
            self._leaves[path] = _Leaf(value, setting.member_place(line), is_member=True)
        else:
            self._leaves[path] = _Leaf(value, self._of(setting))

    def put_from(self, path: OptionPath, value: Data, place: Place) -> None:
        """Set an option with the place that it comes from."""
        self._leaves[path] = _Leaf(value, place)

    def below(self, path: OptionPath) -> list[Data]:
        """Return the values of all options below a path, the path itself excluded."""
        return [leaf.value for known, leaf in self._leaves.items() if known[: len(path)] == path != known]

    def add(self, path: OptionPath, member: Data, setting: Setting, line: int) -> None:
        """Append a member to a list."""
        leaf = self._list(path, setting)
        assert isinstance(leaf.value, list)
        leaf.value.append(member)
        if line:
            leaf.members.append(setting.member_place(line))

    def open_list(self, path: OptionPath, setting: Setting) -> None:
        """Set an option to an empty list, unless it is a list already."""
        self._list(path, setting)

    def copy(self, path: OptionPath, other: Draft) -> None:
        """Copy an option with its place from another draft."""
        leaf = other._leaves.get(path)
        if leaf is not None:
            value = list(leaf.value) if isinstance(leaf.value, list) else leaf.value
            self._leaves[path] = _Leaf(value, leaf.place, list(leaf.members))

    def extend(
        self, path: OptionPath, other: Draft, source: OptionPath, only: Collection[str] | None = None
    ) -> None:
        """Append the members of a list of another draft: all, or those in `only`."""
        leaf = other._leaves.get(source)
        if leaf is None or not isinstance(leaf.value, list):
            return
        known = self._leaves.get(path)
        own = known.value if known is not None and isinstance(known.value, list) else []
        places = known.members if known is not None else []
        chosen = [n for n, member in enumerate(leaf.value) if only is None or member in only]
        added = [leaf.members[number] for number in chosen if number < len(leaf.members)]
        place = known.place if known is not None and known.place else leaf.place
        self._leaves[path] = _Leaf([*own, *(leaf.value[n] for n in chosen)], place, [*places, *added])

    def append(self, path: OptionPath, members: Sequence[Data], other: Draft, source: OptionPath) -> None:
        """Append members to a list; they come from files that another draft names in its option `source`."""
        if not members:
            return
        known = self._leaves.get(path)
        own = known.value if known is not None and isinstance(known.value, list) else []
        place = known.place if known is not None and known.place else other.place(source)
        self._leaves[path] = _Leaf([*own, *members], place, known.members if known is not None else [])

    def forget(self, path: OptionPath) -> None:
        """Remove an option, which then has its default."""
        self._leaves.pop(path, None)

    def get(self, path: OptionPath) -> Data:
        """Return the value of an option, or None."""
        leaf = self._leaves.get(path)
        return leaf.value if leaf else None

    def is_default(self, path: OptionPath) -> bool:
        """Return whether no layer sets an option."""
        leaf = self._leaves.get(path)
        return leaf is None or leaf.place is None

    def place(self, path: OptionPath) -> Place:
        """Return the place of an option, or of the nearest option above it."""
        for length in range(len(path), 0, -1):
            leaf = self._leaves.get(path[:length])
            if leaf is not None:
                number = path[length] if length < len(path) else None
                inside = isinstance(number, int) and number < len(leaf.members)
                found = leaf.members[number] if inside and isinstance(number, int) else leaf.place
                return found or self._place
        if not path:
            return self._place
        below = (leaf.place for known, leaf in self._leaves.items() if known[: len(path)] == path)
        return next((place for place in below if place), self._place)

    def drop(self, path: OptionPath) -> bool:
        """Remove a list member; return whether it was removed. Members that name a file are never removed."""
        for length in range(len(path), 0, -1):
            known = self._leaves.get(path[:length])
            if known is not None and known.is_member:
                del self._leaves[path[:length]]
                return True
        for length in range(len(path) - 1, 0, -1):
            leaf, number = self._leaves.get(path[:length]), path[length]
            if leaf is not None and isinstance(number, int) and number < len(leaf.members):
                return self._dropped(leaf, number)
        return False

    @staticmethod
    def _dropped(leaf: _Leaf, number: int) -> bool:
        assert isinstance(leaf.value, list)
        member = leaf.value[number]
        if isinstance(member, dict) and "file" in member:
            return False
        del leaf.value[number], leaf.members[number]
        return True

    def data(self) -> dict[str, Data]:
        """Return the options in the form of a definition file."""
        result: dict[str, Data] = {}
        for path, leaf in self._leaves.items():
            group = result
            for step in path[:-1]:
                inner = group.setdefault(str(step), {})
                assert isinstance(inner, dict)
                group = inner
            group[str(path[-1])] = leaf.value
        return result

    def _list(self, path: OptionPath, setting: Setting) -> _Leaf:
        leaf = self._leaves.get(path)
        if leaf is None or not isinstance(leaf.value, list) or (leaf.place is None and setting.place.line):
            leaf = self._leaves[path] = _Leaf([], self._of(setting))
        return leaf

    @staticmethod
    def _of(setting: Setting | None) -> Place | None:
        return setting.place if setting and setting.place.line else None
