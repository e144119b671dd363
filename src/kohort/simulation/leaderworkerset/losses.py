"""
Whether the scheduler in use cannot express a topology, so that the status must report a loss.
"""

from kohort.cluster.objects import Object
from kohort.simulation.scenario import LEADER_FIRST, Scenario

DEGRADED = "TopologyDegraded"


def find_losses(workload: Object, scenario: Scenario) -> bool | None:
    """Whether something is lost; None where flags or notes decide that by now."""
    topology = workload["spec"].get("networkTopology")
    if not scenario.gang:
        return topology is not None
    if scenario.has("retell", "choose-gang") or "," in scenario.gang:
        return None
    spec = workload["spec"]
    template = spec["leaderWorkerTemplate"]
    is_together = spec.get("startupPolicy") != LEADER_FIRST
    # A subgroup that is the whole group asks for nothing that the group does not.
    parts = (template.get("subGroupPolicy") or {}).get("subGroupSize", 0)
    has_parts = is_together and 0 < parts < template.get("size", 1)
    match scenario.gang:
        case "volcano":
            return False
        case "coscheduling":
            return has_parts or topology is not None
    # Kubernetes' own gangs know hard limits alone.
    return has_parts or (topology is not None and topology["mode"] == "soft")
