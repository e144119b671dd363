"""
Fields: the values that selectors can ask of an object, kept small.

All objects of a kind have the same names, so these are kept once and each object has
its values only. Labels that many objects share are kept once too: none of this is
ever changed.
"""

from collections.abc import Iterator, Mapping

_SHARED_MAX = 10_000
_places: dict[tuple[str, ...], dict[str, int]] = {}
_labels: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
NO_LABELS: dict[str, str] = {}


class Fields(Mapping[str, str]):
    """The values of one object, by name."""

    __slots__ = ("_places", "_values")

    def __init__(self, values: Mapping[str, str]) -> None:
        names = tuple(values)
        places = _places.get(names)
        if places is None:
            places = _places[names] = {name: place for place, name in enumerate(names)}
        self._places = places
        self._values = tuple(values.values())

    def __getitem__(self, name: str) -> str:
        return self._values[self._places[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._values)


def keep_fields(values: Mapping[str, str]) -> Fields:
    """The same values, kept small."""
    return values if isinstance(values, Fields) else Fields(values)


def keep_labels(labels: dict[str, str] | None) -> dict[str, str]:
    """The same labels, as one dictionary for all objects that have them."""
    if not labels:
        return NO_LABELS
    pairs = tuple(labels.items())
    found = _labels.get(pairs)
    if found is None:
        if len(_labels) >= _SHARED_MAX:
            _labels.clear()
        # A copy, since whoever stored the object may go on to change it.
        found = _labels[pairs] = dict(pairs)
    return found
