"""Good objects of which one place holds something else: what any tenant can send."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

Place = tuple[str | int, ...]

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "9" * 5000, "9" * 5000 + "%", "-1", "²", "1e9999", "\x1b[31m", "a\nb"])
    | st.text(max_size=8)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


def list_places(value: Any, above: Place = ()) -> Iterator[Place]:
    """All places inside a value, outermost first."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in inner:
        yield (*above, key)
        if isinstance(member, dict | list):
            yield from list_places(member, (*above, key))


def spoil(obj: Any, place: Place, value: Any) -> Any:
    """A copy with that value at that place."""
    spoiled = deepcopy(obj)
    holder = spoiled
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    return spoiled


def spoiled(obj: Any) -> st.SearchStrategy[Any]:
    """The object with anything in any one place."""
    places = st.sampled_from(list(list_places(obj)))
    return st.builds(lambda place, value: spoil(obj, place, value), places, VALUES)
