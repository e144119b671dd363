"""
The LeaderWorkerSets that users of simulations make, and how they edit them.
"""

from kohort.cluster import kinds
from kohort.cluster.node_labels import HOST
from kohort.cluster.objects import Object
from kohort.simulation.gang_clusters import find_scheduler, write_topology
from kohort.simulation.leaderworkerset.labels import EXCLUSIVE
from kohort.simulation.scenario import (
    CLAIMS,
    NAME,
    SHARED,
    STATEFULSETS,
    Scenario,
    make_template,
)
from kohort.simulation.simulated_api import SpecEdits, Template


def make_workload(scenario: Scenario, is_first: bool = False) -> Object:
    """The object that a user makes; without a carrier it gets the operator's default."""
    rolling = {
        "maxUnavailable": scenario.unavailable,
        "maxSurge": scenario.surge,
        "partition": scenario.partition,
    }
    has_default = is_first and scenario.has("upgrade") and scenario.carrier == STATEFULSETS
    notes = {} if has_default else {"kohort.dev/carrier": scenario.carrier}
    if scenario.min_ready:
        notes["kohort.dev/min-ready-seconds"] = str(scenario.min_ready)
    if scenario.is_exclusive:
        notes[EXCLUSIVE] = HOST
    scheduler = find_scheduler(scenario.gang) if scenario.names_scheduler else ""
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": NAME, "annotations": notes},
        "spec": {
            "replicas": scenario.groups,
            "startupPolicy": scenario.startup,
            "rolloutStrategy": {
                "type": "RollingUpdate",
                "rollingUpdateConfiguration": rolling,
            },
            "networkConfig": {"subdomainPolicy": scenario.subdomain},
            "leaderWorkerTemplate": {
                "size": scenario.size,
                "restartPolicy": scenario.restart,
                "workerTemplate": make_template(
                    "engine:1", gpus=scenario.gpus, scheduler=scheduler
                ),
                **_make_claims(scenario.claims),
                **({"subGroupPolicy": {"subGroupSize": scenario.part}} if scenario.part else {}),
            },
            **({"networkTopology": write_topology(scenario.topology)} if scenario.topology else {}),
        },
    }


def _make_claims(policy: str) -> Object:
    if not policy:
        return {}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "volumeClaimTemplates": [{"metadata": {"name": CLAIMS}, "spec": spec}],
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": policy, "whenScaled": policy},
    }


def write_template(scenario: Scenario, workload: Object, wanted: Template) -> Object:
    """Another template of all pods."""
    template = make_template(wanted.image, gpus=scenario.gpus)
    template["metadata"]["annotations"] = wanted.notes
    return {"leaderWorkerTemplate": {"workerTemplate": template}}


EDITS = SpecEdits(
    write_template=write_template,
    write_size=lambda workload, size: {"leaderWorkerTemplate": {"size": size}},
    write_partition=lambda workload, partition: {
        "rolloutStrategy": {"rollingUpdateConfiguration": {"partition": partition}}
    },
    write_role_scale=lambda workload, count, pick: {},
)


def list_free_names(scenario: Scenario, kind: object, pick: int) -> list[str]:
    """Names that children would have, first that which was picked."""
    if kind == kinds.SERVICE and scenario.subdomain == SHARED:
        return [NAME]
    return [f"{NAME}-{(pick + step) % scenario.groups}" for step in range(scenario.groups)]
