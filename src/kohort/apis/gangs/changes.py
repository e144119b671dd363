"""
How a stored gang differs from the rendered one, and what a merge patch says to mend it.

A merge patch keeps fields that it does not name and replaces lists whole. So a field that only the
stored object has is ended by null, and a list is compared to the last field of its items: a
dialect must write every field of them that the API server would fill in.
"""

from typing import Any

from kohort.apis.carriers.desired import has_changed


def find_pruned_fields(pruned: frozenset[str]) -> set[str]:
    """The fields of a spec that the API server drops, or of which it drops a part."""
    return {path.removeprefix("spec.").split(".")[0].split("[")[0] for path in pruned}


def is_changed(wanted: Any, found: Any) -> bool:
    """Whether a field of a stored spec is not as it was rendered; None: it was not."""
    return has_changed(_end_all(wanted, found), found)


def with_endings(wanted: Any, found: Any) -> Any:
    """The value with null for each field that only the stored object has: a merge keeps those."""
    if not isinstance(wanted, dict) or not isinstance(found, dict):
        return wanted
    return {
        **dict.fromkeys(found, None),
        **{key: with_endings(value, found.get(key)) for key, value in wanted.items()},
    }


def _end_all(wanted: Any, found: Any) -> Any:
    """The same, also inside of lists: to compare, for in lists a patch would store the nulls."""
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        return [_end_all(ours, theirs) for ours, theirs in zip(wanted, found, strict=True)]
    if isinstance(wanted, dict) and isinstance(found, dict):
        kept = {key: _end_all(value, found.get(key)) for key, value in wanted.items()}
        return {**dict.fromkeys(found, None), **kept}
    return wanted
