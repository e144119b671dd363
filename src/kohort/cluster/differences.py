"""
The fields of a wanted object that a stored one lacks or has with another value.

Only what is wanted is compared: defaults of the API server, and fields of other clients, are no
difference. Items of lists of one length are compared one by one, other lists as a whole. Paths
read like ``spec.template.spec.containers[0].image``.

Other comparisons answer other questions, and stand where they are asked: a JSON patch
(``cluster/patches.py``), what a takeover would change, with items by name
(``takeover/field_changes.py``), and what a person is shown (``views/rollouts.py``).
"""

from collections.abc import Callable, Iterator
from typing import Any

Difference = tuple[str, Any, Any]  # the path, the wanted value, the stored value
IsOurs = Callable[[str], bool]


def list_differences(
    wanted: Any,
    found: Any,
    path: str = "",
    *,
    atomic: tuple[str, ...] = (),
    is_ours: IsOurs | None = None,
) -> Iterator[Difference]:
    """
    All differences below a path, in the order of the wanted fields.

    What ``atomic`` names is compared as a whole. A stored key that is not wanted counts if it
    ``is_ours``: only then no other client can have meant it.
    """
    if isinstance(wanted, dict) and isinstance(found, dict | None) and path not in atomic:
        prefix, held = f"{path}." if path else "", found or {}
        for key, value in wanted.items():
            below = prefix + key
            yield from list_differences(value, held.get(key), below, atomic=atomic, is_ours=is_ours)
        if is_ours is not None:
            for key in held:
                if key not in wanted and is_ours(key):
                    yield prefix + key, None, held[key]
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for index, (ours, theirs) in enumerate(zip(wanted, found, strict=True)):
            below = f"{path}[{index}]"
            yield from list_differences(ours, theirs, below, atomic=atomic, is_ours=is_ours)
    elif wanted != found:
        yield path, wanted, found
