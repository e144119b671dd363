"""
The annotation of a new group that says how the addresses of its pods are listed.

Upstream's controller writes it once, after the create, and no longer updates the ConfigMap of a
group that has a status and lacks it. Admission writes it as part of the create: a write of its own
for each group is saved, and a group that another controller made before keeps what it says.
"""

from kohort.apis.rolebasedgroup import labels
from kohort.cluster.objects import Object, annotations_of

REFINE = "refine"  # a ConfigMap with the name of the group lists all addresses


def add_discovery_mode(group: Object) -> Object:
    """A new group with the mode of its ConfigMap, unless the user chose one."""
    notes = annotations_of(group)
    if labels.DISCOVERY_MODE in notes:
        return group
    metadata = {**group["metadata"], "annotations": {**notes, labels.DISCOVERY_MODE: REFINE}}
    return {**group, "metadata": metadata}
