"""
Whether an object that has the name of one that we want to create is that one.

A controller tells, and no labels do: another client may write these. Some children have owners of
which none controls them, as upstream writes them. Then an owner tells, or the labels by which our
caches select children: an object that bears these is a child for every plan.
"""

from collections.abc import Collection

from kohort.cluster.objects import Object, find_controller, find_owner, labels_of, metadata_of


def is_same(wanted: Object, existing: Object, selected_by: Collection[str]) -> bool:
    """Whether an existing object is ours by its owner, or by the labels that caches select by."""
    ours, theirs = find_controller(wanted), find_controller(existing)
    owner = find_owner(wanted)
    if ours or theirs or owner is None:
        return (ours or {}).get("uid") == (theirs or {}).get("uid")
    held: list[Object] = metadata_of(existing).get("ownerReferences") or []
    if owner["uid"] in {each.get("uid") for each in held}:
        return True
    marks = {k: v for k, v in labels_of(wanted).items() if k in selected_by}
    return bool(marks) and marks.items() <= labels_of(existing).items()


def owner_uid(obj: Object) -> str:
    """The uid of the first owner of an object; empty if it has none."""
    return str((find_owner(obj) or {}).get("uid", ""))
