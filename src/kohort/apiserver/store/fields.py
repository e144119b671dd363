"""
Values for field selectors, in a compact form.

All objects of a kind have the same names, so these are kept once and each object has
its values only. Labels that many objects share are kept once too: none of this is
ever changed.
"""

from collections.abc import Iterator, Mapping

_SHARED_MAX = 10_000
_SHARED_LABELS_MAX = 64  # of one object; more of them hardly repeat
_places: dict[tuple[str, ...], dict[str, int]] = {}
_labels: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
NO_LABELS: dict[str, str] = {}


class Fields(Mapping[str, str]):
    """The values of one object, by name."""

    __slots__ = ("_places", "ordered")

    def __init__(self, places: dict[str, int], ordered: tuple[str, ...]) -> None:
        self._places = places
        self.ordered = ordered

    def __getitem__(self, name: str) -> str:
        return self.ordered[self._places[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self.ordered)


def keep_names(values: Mapping[str, str]) -> dict[str, int]:
    """The index of each name's value, as one dictionary for all objects with these names."""
    names = tuple(values)
    found = _places.get(names)
    if found is None:
        found = _places[names] = {name: place for place, name in enumerate(names)}
    return found


def keep_labels(labels: dict[str, str] | None) -> dict[str, str]:
    """The same labels, as one dictionary for all objects that have them."""
    if not labels:
        return NO_LABELS
    if len(labels) > _SHARED_LABELS_MAX:
        return dict(labels)
    pairs = tuple(labels.items())
    found = _labels.get(pairs)
    if found is None:
        if len(_labels) >= _SHARED_MAX:
            _labels.clear()
        # A copy, since the caller that stored the object may go on to change it.
        found = _labels[pairs] = dict(pairs)
    return found
