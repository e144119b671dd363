"""
The scale target of an autoscaler: any object with a scale subresource.

For built-in kinds the table of kinds says where counts are, for custom kinds their
definition. Objects are read as they are stored, so the paths are those of the stored version.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from kohort.apiserver.resources.builtin import SCALED
from kohort.apiserver.resources.resource import Scale
from kohort.apiserver.resources.scales import Counts, read_counts, read_scale_paths
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import DEFINITION
from kohort.cluster.objects import Kind, Object
from kohort.simulator.component import View


class NoTarget(Exception):
    """The object that an autoscaler refers to is missing or has no scale."""


@dataclass(frozen=True, slots=True)
class Target:
    """An object that can be scaled, and its scale."""

    kind: Kind
    entry: StoredObject
    counts: Counts


def split_group(reference: Object) -> tuple[str, str]:
    """The group and kind that a reference names; versions do not matter."""
    return (reference.get("apiVersion") or "").rpartition("/")[0], reference.get("kind", "")


def find_target(reference: Object, namespace: str, known: Iterable[Kind], view: View) -> Target:
    """The object that a reference of an autoscaler names."""
    group, name = split_group(reference)
    kind = next((k for k in known if (k.group, k.name) == (group, name)), None)
    if kind is None:
        raise NoTarget(f'no matches for kind "{name}" in group "{group}"')
    paths = SCALED.get(kind) or _find_paths(kind, view)
    if paths is None or not kind.namespaced:
        raise NoTarget("the server could not find the requested resource")
    entry = view.find(kind, namespace, reference["name"])
    if entry is None:
        raise NoTarget(f'{kind.group_resource} "{reference["name"]}" not found')
    counts = read_counts(paths, entry.decode())
    if not isinstance(counts.wanted or 0, int) or not isinstance(counts.found, int):
        raise NoTarget(f'the counts of {kind.group_resource} "{entry.name}" are no numbers')
    return Target(kind, entry, counts)


def _find_paths(kind: Kind, view: View) -> Scale | None:
    entry = view.find(DEFINITION, "", kind.group_resource)
    if entry is None:
        return None
    versions: list[Object] = entry.decode()["spec"].get("versions") or []
    stored = next((version for version in versions if version.get("storage")), None)
    return None if stored is None else read_scale_paths(stored)
