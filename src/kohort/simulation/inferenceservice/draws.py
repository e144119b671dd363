"""
The scenario of a seed for InferenceService: components, a form, a switch of the form, and faults.

It has random streams of its own, so the scenarios of other APIs do not depend on it.
"""

from dataclasses import replace

from kohort.simulation.choices import Choices
from kohort.simulation.faults.catalogue import CATALOGUE, list_failures
from kohort.simulation.faults.draws import Draw, focus, of_part, of_watches, valued
from kohort.simulation.inferenceservice.labels import ONE_GROUP
from kohort.simulation.scenario import Fault, Scenario

KINDS = (
    "Pod",
    "Pod",
    "InferenceService",
    "Deployment",
    "Deployment",
    "RoleBasedGroup",
    "RoleBasedGroup",
    "Service",
    "Service",
    "LeaderWorkerSet",
    "ConfigMap",
    "HorizontalPodAutoscaler",
    "PodDisruptionBudget",
    "RoleInstance",
    "RoleInstanceSet",
    "StatefulSet",
    "ClusterServingRuntime",
    "ClusterBaseModel",
)
ROLES = (
    "engine 1",
    "engine 2",
    "engine 1, router 1",
    "engine 2, router 2",
    "engine 1, decoder 1",
    "engine 1, decoder 2, router 1",
)
FORMS = ("", ONE_GROUP)
_GONE = ("Pod", "Pod", "Deployment", "RoleBasedGroup", "Service", "Service", "LeaderWorkerSet")
_MADE = ("HorizontalPodAutoscaler", "PodDisruptionBudget", "ConfigMap", "RoleInstance")
_PARTS = ("garbage", "kubelet", "scheduler", "deployments", "replicasets", "statefulsets")
# What acts on objects that a service does not have, or has under another name.
_OWN: dict[str, Draw] = {
    **of_watches(KINDS),
    "part-lag": of_part("part-lag", ("Pod", "Node", "StatefulSet"), _PARTS, 6.0),
    "delete-child": valued("delete-child", (*_GONE, *_MADE)),
    "namesake": valued("namesake", ("Service", "Service", "Deployment"), 4.0, 20.0),
    "relabel": valued("relabel", ("Service",)),
}
# StatefulSets belong to another controller, a service has no revisions, and no controller
# replaces a Deployment's pod because a user edited it.
NEVER = (
    "scale-child",
    "restart-set",
    "set-image",
    "swap-set",
    "edit-pod",
    "scale",
    "cost",
    "strip-label",
    "resize",
    "hold",
)
EDITS = (
    "switch",
    "switch",
    "roll",
    "bad-roll",
    "fleeting-roll",
    "scale-role",
    "reshape",
    "edit-shared",
    "edit-shared",
    "recreate",
    "orphan",
)
FAILURES = list_failures(NEVER)


def draw_scenario(seed: int) -> Scenario:
    """What this seed means."""
    choices = Choices(f"isvc/{seed}")
    scenario = _draw_workload(seed, choices)
    return focus(replace(scenario, faults=_draw_faults(choices)), "switch")


def _draw_workload(seed: int, choices: Choices) -> Scenario:
    return Scenario(
        seed=seed,
        api="isvc",
        groups=1,
        size=choices.pick((1, 1, 1, 2)),
        roles=choices.pick(ROLES),
        form=choices.pick(FORMS),
        replicas=choices.pick((1, 1, 1, 1, 2)),
        latency=choices.pick((0.0, 0.0, 0.01, 0.2)),
    )


def _draw_faults(choices: Choices) -> tuple[Fault, ...]:
    swarm = [choices.pick(FAILURES) for _ in range(1 + choices.below(4))]
    names = [choices.pick(swarm) for _ in range(choices.below(7))]
    edits = [choices.pick(EDITS) for _ in range(choices.below(3))]
    drawn = [_draw(name, choices) for name in ["switch", *edits, *names]]
    return tuple(sorted(drawn, key=lambda fault: (fault.at, fault.n)))


def _draw(name: str, choices: Choices) -> Fault:
    return _OWN.get(name, CATALOGUE[name].draw)(choices)
