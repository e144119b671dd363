"""
The revision of each pod of a StatefulSet, for objects that are written by hand.

The StatefulSet controller replaces a pod whose label ``controller-revision-hash`` does not name the
revision of its set's template, and it alone knows that name. So it is asked: sets without pods,
and without owners, are made in a namespace of their own, read and removed.
"""

import json
from collections.abc import Sequence
from typing import Any

from operator_processes import eventually

from control_plane import ControlPlane

Object = dict[str, Any]
REVISION = "controller-revision-hash"
SPACE = "revisions-of-sets"


def sign_pods(plane: ControlPlane, objects: Sequence[Object]) -> list[Object]:
    """The objects; a pod of a StatefulSet that names no revision gets that of its set."""
    unsigned = {id(pod): _set_of(pod) for pod in objects if _is_unsigned(pod)}
    wanted = set(unsigned.values())
    sets = [o for o in objects if o["kind"] == "StatefulSet" and o["metadata"]["uid"] in wanted]
    revisions = _read_revisions(plane, sets) if sets else {}
    return [_sign(o, revisions[unsigned[id(o)]]) if id(o) in unsigned else o for o in objects]


def _set_of(pod: Object) -> str:
    """The uid of the StatefulSet that owns a pod; empty if none does."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return next((ref["uid"] for ref in owners if ref["kind"] == "StatefulSet"), "")


def _is_unsigned(obj: Object) -> bool:
    is_member = obj["kind"] == "Pod" and bool(_set_of(obj))
    return is_member and REVISION not in (obj["metadata"].get("labels") or {})


def _sign(pod: Object, revision: str) -> Object:
    labels = {**pod["metadata"]["labels"], REVISION: revision}
    return {**pod, "metadata": {**pod["metadata"], "labels": labels}}


def _read_revisions(plane: ControlPlane, sets: Sequence[Object]) -> dict[str, str]:
    """The revisions that the plane's StatefulSet controller makes of sets, by their uids."""
    plane.kubectl("create", "namespace", SPACE)
    listed = {"apiVersion": "v1", "kind": "List", "items": [_empty(each) for each in sets]}
    plane.kubectl("create", "-f", "-", feed=json.dumps(listed))
    found: dict[str, str] = {}

    def are_all_told() -> bool:
        items = json.loads(plane.kubectl("-n", SPACE, "get", "statefulsets", "-o", "json"))["items"]
        told = {o["metadata"]["name"]: (o.get("status") or {}).get("updateRevision") for o in items}
        found.update({name: revision for name, revision in told.items() if revision})
        return len(found) == len(sets)

    eventually("sets have revisions", are_all_told, lambda: str(found))
    plane.kubectl("delete", "namespace", SPACE, "--timeout=180s")
    return {each["metadata"]["uid"]: found[each["metadata"]["name"]] for each in sets}


def _empty(found: Object) -> Object:
    """A StatefulSet of the same name and template, without pods."""
    about = {"name": found["metadata"]["name"], "namespace": SPACE}
    kept = {key: found[key] for key in ("apiVersion", "kind")}
    return {**kept, "metadata": about, "spec": {**found["spec"], "replicas": 0}}
