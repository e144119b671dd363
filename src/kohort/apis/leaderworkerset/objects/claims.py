"""
The volume claims of pods that the operator makes itself: their names and their owners.

We write the owner references that the StatefulSet controller would write, and the garbage
collector does the rest: it deletes a claim with the workload, or with a pod that is scaled
away. The workload owns the claims of workers too, not their leader: a recreated group finds
its data again. We do not touch a claim that another controller owns, or one whose owner is
an earlier workload or pod of the same name.
"""

from kohort.apis.facts import PodFacts, Whole
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.objects.sets import claim_template
from kohort.apis.leaderworkerset.spec import template_of
from kohort.cluster.kinds import CLAIM
from kohort.cluster.objects import (
    Object,
    labels_of,
    name_of,
    namespace_of,
    owner_reference,
    uid_of,
)

_LEADER_MARKS = (labels.NAME, labels.WORKER_INDEX)
_WORKER_MARKS = (labels.NAME, labels.GROUP_INDEX, labels.GROUP_KEY)


def claim_templates(lws: Object) -> list[Object]:
    """The claim templates of the workload: each pod gets a claim of each."""
    return [claim_template(lws, t) for t in template_of(lws).get("volumeClaimTemplates") or ()]


def claim_name(template: Object, pod: str) -> str:
    """The name of a pod's claim."""
    return f"{name_of(template)}-{pod}"


def render_claim(lws: Object, template: Object, pod: str, marks: dict[str, str]) -> Object:
    """A claim for a pod that has these labels."""
    is_leader = marks.get(labels.WORKER_INDEX) == "0"
    keys = _LEADER_MARKS if is_leader else _WORKER_MARKS
    metadata: Object = {
        "name": claim_name(template, pod),
        "namespace": namespace_of(lws),
        "labels": {**labels_of(template), **{key: marks[key] for key in keys if key in marks}},
    }
    if template["metadata"].get("annotations"):
        metadata["annotations"] = dict(template["metadata"]["annotations"])
    if _goes_with(lws, "whenDeleted"):
        metadata["ownerReferences"] = [owner_reference(lws)]
    return {
        "apiVersion": CLAIM.api_version,
        "kind": CLAIM.name,
        "metadata": metadata,
        "spec": template["spec"],
    }


def is_going(lws: Object, claim: Whole, pod: str) -> bool:
    """Whether a claim is about to be deleted, so that no new pod may use it."""
    if claim.metadata.is_leaving:
        return True
    owners = {(owner.kind, owner.name) for owner in claim.metadata.owner_references}
    return _goes_with(lws, "whenScaled") and ("Pod", pod) in owners


def find_owners(lws: Object, pod: PodFacts, claim: Whole, is_surplus: bool) -> list[Object] | None:
    """The owners that a claim should have; None if it has them, or is not ours to change."""
    held: list[Object] = claim.decode()["metadata"].get("ownerReferences") or []
    ours = {uid_of(lws), pod.metadata.uid}
    namesakes = {(labels.KIND.name, name_of(lws)), ("Pod", pod.metadata.name)}
    if any((o["kind"], o["name"]) in namesakes and o["uid"] not in ours for o in held):
        return None
    others = [owner for owner in held if owner["uid"] not in ours]
    has_controller = any(owner.get("controller") for owner in others)
    wanted = [] if has_controller else _wanted_owners(lws, pod, is_surplus)
    present = {(o["uid"], bool(o.get("controller"))) for o in held if o["uid"] in ours}
    if present == {(owner["uid"], True) for owner in wanted}:
        return None
    return [*others, *wanted]


def _wanted_owners(lws: Object, pod: PodFacts, is_surplus: bool) -> list[Object]:
    if is_surplus and _goes_with(lws, "whenScaled"):
        metadata = {"name": pod.metadata.name, "uid": pod.metadata.uid}
        owner = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
        # A claim is in use until its pod is gone: a pod that waited for its claim would never go.
        return [owner_reference(owner, block=False)]
    return [owner_reference(lws)] if _goes_with(lws, "whenDeleted") else []


def goes_when_scaled(lws: Object) -> bool:
    """Whether the claims of pods that are scaled away are deleted with them."""
    return _goes_with(lws, "whenScaled")


def _goes_with(lws: Object, when: str) -> bool:
    policy = template_of(lws).get("persistentVolumeClaimRetentionPolicy") or {}
    return bool(policy.get(when) == "Delete")
