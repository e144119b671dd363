"""
A new group says that its ConfigMap lists all addresses, so that upstream's controller keeps it.

Upstream's controller decides once how a group's addresses are listed, and takes a group that has a
status and says nothing for one of its old days: it would no longer update the ConfigMap.
"""

import pytest
from group_lab import GroupLab, group, standalone, start
from test_group_takeover import decide

from kohort.apis.rolebasedgroup import labels
from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster.objects import Object, annotations_of
from recorded_groups import Recorded
from upstream_group import list_objects

OLD = labels.KIND.group + "/v1alpha1"


def mode_of(lab: GroupLab) -> str | None:
    return annotations_of(lab.group()).get(labels.DISCOVERY_MODE)


async def test_a_new_group_says_that_its_addresses_are_listed_without_a_write_of_its_own(
    lab: GroupLab,
):
    await start(lab, standalone())
    assert mode_of(lab) == "refine"
    assert not lab.cluster.tried["patch", labels.KIND.name]


async def test_a_group_of_the_former_version_says_it_too(lab: GroupLab):
    role = {"name": "a", "replicas": 1, "template": standalone()["standalonePattern"]["template"]}
    role["workload"] = {"apiVersion": labels.KIND.api_version, "kind": "RoleInstanceSet"}
    old: Object = {**group(), "apiVersion": OLD, "spec": {"roles": [role]}}
    await lab.apply(old)
    assert mode_of(lab) == "refine"


async def test_a_group_that_says_legacy_keeps_it(lab: GroupLab):
    await start(lab, standalone(), **{labels.DISCOVERY_MODE: "legacy"})
    assert mode_of(lab) == "legacy"


async def test_a_user_may_remove_it(lab: GroupLab):
    """As with upstream's controller, which would now take the group for an old one."""
    await start(lab, standalone())
    before, path = lab.uids(), labels.DISCOVERY_MODE.replace("/", "~1")
    gone = {"op": "remove", "path": f"/metadata/annotations/{path}"}
    await lab.edit("x", gone, kind=labels.KIND)
    await lab.run(60)
    assert (mode_of(lab), lab.uids()) == (None, before)


async def test_a_group_whose_annotations_cannot_be_read_is_refused_by_its_schema(lab: GroupLab):
    odd = group()
    odd["metadata"]["annotations"] = {"a": 1}
    with pytest.raises(Exception, match="annotations"):
        await lab.api.create(
            lab.api.target(labels.KIND, lab.namespace), odd, WriteOptions(manager="user")
        )


@pytest.mark.parametrize("mode", ["refine", "legacy", None])
def test_a_group_whose_sets_upstream_made_keeps_its_mode(mode: str | None):
    case = Recorded("by hand", "at_rest", list_objects())
    notes = {**annotations_of(case.group)}
    notes.pop(labels.DISCOVERY_MODE, None)
    case.group["metadata"]["annotations"] = notes | ({labels.DISCOVERY_MODE: mode} if mode else {})
    assert decide(case)[-1] == ()
