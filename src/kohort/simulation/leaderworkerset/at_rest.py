"""
What there should be of a LeaderWorkerSet when all is at rest, from its spec alone.

Where the scheduler in use cannot express a topology, the status must report that loss.
"""

from dataclasses import dataclass

from kohort.cluster import kinds
from kohort.cluster.objects import Object, labels_of
from kohort.simulation.checkers.checker import Scene
from kohort.simulation.checkers.kept_units import has_restless
from kohort.simulation.checkers.truth import Group, Truth, image_of
from kohort.simulation.leaderworkerset.groups import find_image
from kohort.simulation.leaderworkerset.labels import KEY, LABELS, OWNER
from kohort.simulation.leaderworkerset.steps import read_policy, read_step
from kohort.simulation.scenario import BAD_IMAGE, LEADER_FIRST, NAME, PODS, UNIQUE, Scenario
from kohort.simulation.simulated_api import Policy


def find_trouble(scene: Scene) -> str:
    """What is not as it was asked for; empty if all is."""
    workload = scene.truth.workload
    assert workload is not None
    rest = _Rest(scene.scenario, scene.truth)
    if has_restless(scene.truth):
        # A kept group that fails again and again comes and goes, and the status with it.
        return rest.find_strays(workload) or rest.find_in_services(workload)
    return (
        rest.find_in_groups(workload)
        or rest.find_in_objects(workload)
        or rest.find_in_status(workload)
    )


@dataclass(frozen=True, slots=True)
class _Rest:
    """The state of the cluster at rest, and the scenario that it is compared with."""

    scenario: Scenario
    truth: Truth

    def find_in_groups(self, workload: Object) -> str:
        """What differs between the groups and the spec; empty if nothing does."""
        policy = read_policy(workload)
        image = find_image(workload["spec"])
        pods = self.truth.objects[kinds.POD]
        sizes, stuck = self._sizes(workload), self._find_stuck(policy)
        wanted = {f"{NAME}-{g}" for g in sizes}
        wanted |= {f"{NAME}-{g}-{w}" for g, size in sizes.items() for w in range(1, size)}
        if set(pods) != wanted:
            return f"pods {sorted(pods)}, not {sorted(wanted)}"
        groups = self.truth.groups()
        serving = [ordinal for ordinal in range(policy.wanted) if ordinal not in stuck]
        if [g.ordinal for g in groups if g.is_ready] != serving:
            return f"ready groups {sorted(self.truth.ready())} of {policy.wanted}"
        held = self._is_held(policy)
        rolled = [g for g in groups if g.ordinal >= policy.partition and not held]
        members = [pod for group in rolled for pod in (group.leader, *group.workers)]
        for pod in members:
            if pod["spec"]["containers"][0]["image"] != image:
                return f"pod {pod['metadata']['name']} has not {image}"
        moved = self.truth.marks.moved
        for pod in pods.values():
            if pod["metadata"]["uid"] in moved:
                return f"pod {pod['metadata']['name']} has labels of another place"
        keys = {revision for group in rolled for revision in group.revisions}
        return f"pods of revisions {keys}" if len(keys) > 1 else ""

    def _find_stuck(self, policy: Policy) -> set[int]:
        """The groups that the user's partition keeps on a template that never serves."""
        below = [group for group in self.truth.groups() if group.ordinal < policy.partition]
        return {g.ordinal for g in below if image_of(g.leader) == BAD_IMAGE}

    def _is_held(self, policy: Policy) -> bool:
        """Whether groups that never serve, and that the partition keeps, take the whole budget."""
        stuck = len(self._find_stuck(policy))
        return stuck > 0 and policy.most - stuck <= policy.fewest

    def _sizes(self, workload: Object) -> dict[int, int]:
        """How many pods each wanted group has; those below the partition keep theirs."""
        policy = read_policy(workload)
        size = workload["spec"]["leaderWorkerTemplate"].get("size", 1)
        held = {group.ordinal: group.size for group in self.truth.groups()}
        sizes = {
            ordinal: held.get(ordinal, size) if ordinal < policy.partition else size
            for ordinal in range(policy.wanted)
        }
        # Workers that wait for a leader which never serves do not come.
        is_alone = self.scenario.startup == LEADER_FIRST
        return sizes | dict.fromkeys(self._find_stuck(policy) if is_alone else (), 1)

    def find_in_objects(self, workload: Object) -> str:
        """The first difference between the children and the spec; empty if there is none."""
        policy = read_policy(workload)
        sets = set(self.truth.objects[kinds.STATEFUL_SET])
        wanted: set[str] = set()
        if self.scenario.carrier != PODS:
            wanted = {NAME}
            wanted |= {f"{NAME}-{g}" for g, size in self._sizes(workload).items() if size > 1}
        if sets != wanted:
            return f"sets {sorted(sets)}, not {sorted(wanted)}"
        if trouble := self.find_in_services(workload):
            return trouble
        uid = workload["metadata"]["uid"]
        revisions = [
            r
            for r in self.truth.objects[kinds.CONTROLLER_REVISION].values()
            if labels_of(r).get(OWNER) == NAME
            and labels_of(r).get(KEY)
            and any(o["uid"] == uid for o in r["metadata"].get("ownerReferences") or ())
        ]
        # While a partition holds groups back the rollout is not over, and all of them stay.
        is_over = policy.partition == 0
        is_right = len(revisions) == 1 if is_over else bool(revisions)
        return "" if is_right else f"{len(revisions)} revisions in force"

    def find_in_services(self, workload: Object) -> str:
        """The Services that there are, if others are wanted."""
        services, names = set(self.truth.objects[kinds.SERVICE]), {NAME}
        if self.scenario.subdomain == UNIQUE:
            names = {f"{NAME}-{g}" for g in range(read_policy(workload).wanted)}
        return "" if services == names else f"services {sorted(services)}, not {sorted(names)}"

    def find_strays(self, workload: Object) -> str:
        """The pods that belong to no group that is wanted; empty if there are none."""
        wanted = range(read_policy(workload).wanted)
        groups = [group for group in self.truth.groups() if group.ordinal in wanted]
        members = {pod["metadata"]["name"] for group in groups for pod in group.members}
        strays = sorted(set(self.truth.objects[kinds.POD]) - members)
        return f"pods {strays} belong to no group that is wanted" if strays else ""

    def _is_told(self, group: Group) -> bool:
        """
        Whether the status must report an edited group, which the partition keeps, as drifted. A
        group of an old revision is not reported: it is replaced when the partition goes down. Nor
        is one without a revision label, since that does not show who removed it.
        """
        step = read_step(self.truth, self.scenario.carrier)
        origin = self.truth.marks.origin_of(group.leader)
        return bool(LABELS.revision_of(group.leader)) and step is not None and origin == step[2]

    def find_in_status(self, workload: Object) -> str:
        """The first difference between the status and the truth; empty if there is none."""
        policy = read_policy(workload)
        status = workload.get("status") or {}
        if status.get("observedGeneration") != workload["metadata"]["generation"]:
            return "the status is of an old generation"
        stuck = len(self._find_stuck(policy))
        counts = [status.get(key, 0) for key in ("replicas", "readyReplicas")]
        updated = status.get("updatedReplicas", 0)
        rolled = 0 if self._is_held(policy) else max(0, policy.wanted - policy.partition)
        if (
            counts != [policy.wanted, policy.wanted - stuck]
            or not rolled <= updated <= policy.wanted
        ):
            return f"the status counts {counts}, {updated} of them updated"
        true = {c["type"] for c in status.get("conditions") or () if c["status"] == "True"}
        losses = find_losses(workload, self.scenario)
        if losses is None:
            true.discard(DEGRADED)
        if stuck:
            # As upstream has it, a rollout is over when all groups serve.
            true.discard("UpdateInProgress")
        wanted = {"Progressing" if stuck else "Available"} | ({DEGRADED} if losses else set())
        below = [g for g in self.truth.groups() if g.ordinal < policy.partition and g.is_edited]
        if any(self._is_told(group) for group in below):
            wanted.add("Drifted")
        elif below:
            true.discard("Drifted")
        return "" if true == wanted else f"conditions {sorted(true)}, not {sorted(wanted)}"


DEGRADED = "TopologyDegraded"


def find_losses(workload: Object, scenario: Scenario) -> bool | None:
    """Whether the status must report a lost topology; None where the scenario leaves it open."""
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
