"""A laboratory whose cluster knows Volcano's pod groups, and what can be seen of them."""

from operator_lab import Lab

from kohort.apis import api
from kohort.apis.gangs.dialects import volcano
from kohort.apis.gangs.dialects.volcano import GROUP_NAME, POD_GROUP
from kohort.apis.leaderworkerset import labels
from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of, name_of, uid_of

VOLCANO = api.Settings(gangs=(volcano.VOLCANO,))
_SCHEMA: Object = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {"minMember": {"type": "integer"}, "queue": {"type": "string"}},
            "x-kubernetes-preserve-unknown-fields": True,
        },
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
DEFINITION: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "podgroups.scheduling.volcano.sh"},
    "spec": {
        "group": POD_GROUP.group,
        "scope": "Namespaced",
        "names": {"plural": "podgroups", "singular": "podgroup", "kind": "PodGroup"},
        "versions": [
            {
                "name": POD_GROUP.version,
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": _SCHEMA},
            }
        ],
    },
}


async def define_pod_groups(lab: Lab) -> None:
    """Let the cluster serve pod groups from now on."""
    await lab.api.create(lab.api.target(kinds.DEFINITION), DEFINITION, WriteOptions())


async def open_gang_lab(lab: Lab) -> Lab:
    """Open the laboratory with pod groups served before the operator starts."""
    await lab.open(operator=False)
    await define_pod_groups(lab)
    lab.start_operator()
    return lab


def gangs(lab: Lab) -> dict[str, Object]:
    """All pod groups by the leader that they belong to."""
    return {group["metadata"]["ownerReferences"][0]["name"]: group for group in lab.all(POD_GROUP)}


def is_in_order(lab: Lab) -> bool:
    """Whether each leader has exactly one pod group, its own, and all pods name theirs."""
    pods = {name_of(pod): pod for pod in lab.all(kinds.POD)}
    groups = {name_of(group): group for group in lab.all(POD_GROUP)}
    leaders = {uid_of(p) for p in pods.values() if labels.LEADER_NAME not in annotations_of(p)}
    owners = [group["metadata"]["ownerReferences"][0]["uid"] for group in groups.values()]
    named = {annotations_of(pod).get(GROUP_NAME) for pod in pods.values()}
    return sorted(owners) == sorted(leaders) and named == set(groups)
