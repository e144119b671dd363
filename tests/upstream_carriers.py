"""
What OME and LeaderWorkerSet's controller leave together of a service on several nodes.

OME's part is that of ``upstream_service``. Its LeaderWorkerSets have what their own controller
makes: sets, revisions, a headless Service, and pods with variables; that is written by hand too.
"""

import json

from kohort.cluster.objects import Object
from upstream_objects import Upstream
from upstream_service import list_multi_node

RUNTIME = "srt-many"


def list_service_on_many_nodes() -> list[Object]:
    """Engine and decoder on two nodes each, and a router, with a runtime that the user names."""
    found = json.loads(json.dumps(list_multi_node()).replace('"srt"', json.dumps(RUNTIME)))
    named = [obj for obj in found if obj["kind"] == "ClusterServingRuntime"]
    named[0]["spec"]["supportedModelFormats"][0]["autoSelect"] = False
    found[0]["spec"]["runtime"] = {"name": RUNTIME, "kind": "ClusterServingRuntime"}
    carriers = [obj for obj in found if obj["kind"] == "LeaderWorkerSet"]
    kept = [obj for obj in found if obj not in carriers and not _is_member(obj)]
    return [*kept, *(obj for carrier in carriers for obj in list_set(carrier))]


def list_set(carrier: Object) -> list[Object]:
    """A LeaderWorkerSet at rest, and all that its own controller makes of it."""
    spec, replaced = carrier["spec"], {"$patch": "replace"}
    parts = {part: {**replaced, **spec[part]} for part in ("leaderWorkerTemplate", "networkConfig")}
    vector = {
        "input": carrier,
        "revision_key": "7f9c5d",
        "patch_bytes": json.dumps({"spec": parts}),
    }
    name = carrier["metadata"]["name"]
    found = Upstream(vector, carrier["metadata"]["namespace"]).at_rest()
    for obj in found:  # two sets of one namespace have no uid in common
        metadata = obj["metadata"]
        metadata["uid"] = f"{name} {metadata['uid']}"
        if obj is not found[0]:
            owners = metadata["ownerReferences"]
            metadata["ownerReferences"] = [{**o, "uid": f"{name} {o['uid']}"} for o in owners]
    return found


def _is_member(obj: Object) -> bool:
    owners = obj["metadata"].get("ownerReferences") or ()
    return any(ref["kind"] == "LeaderWorkerSet" for ref in owners)
