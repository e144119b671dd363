"""
A scenario: everything that one simulation depends on, as a value.

The same scenario gives the same run, bit for bit. It is what a seed is drawn into, what
is shrunk when it fails, and what a scenario file holds.
"""

from dataclasses import dataclass, replace

from kohort.cluster.objects import Kind, Object
from kohort.simulation.gang_clusters import find_scheduler, write_requests

NAME = "x"
NAMESPACE = "default"
RECREATE, AFTER_START, KEEP = "RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"
TOGETHER, LEADER_FIRST = "LeaderCreated", "LeaderReady"
STATEFULSETS, PODS = "statefulsets", "pods"
BUDGETED, COMPATIBLE = "budgeted", "compatible"
STRATEGY = "kohort.dev/rollout-strategy"  # the annotation by which workloads of each API name one
SHARED, UNIQUE = "Shared", "UniquePerReplica"
CLAIMS = "data"
BAD_IMAGE = "engine:bad"
FOREIGN_IMAGE = "foreign:1"  # the user did not ask for it
FLEETING_IMAGE = "engine:fleeting"  # becomes ready, and crashes soon after


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault or one edit by a user; its name decides what the other fields mean."""

    name: str
    at: float = 0.0  # seconds after the workload was made
    n: int = 0  # or: with the n-th request of the operator
    span: int = 1  # how many requests in a row
    seconds: float = 0.0  # how long it lasts
    kind: str = ""  # of objects
    pick: int = 0  # which of several; counted around
    value: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A small workload, the settings of the run, and its faults."""

    seed: int = 0  # decides the order of what happens at one moment
    api: str = "lws"
    groups: int = 2
    size: int = 2
    unavailable: int | str = 1
    surge: int | str = 0
    partition: int = 0
    restart: str = RECREATE
    startup: str = TOGETHER
    carrier: str = STATEFULSETS
    strategy: str = BUDGETED
    subdomain: str = SHARED
    claims: str = ""  # Retain or Delete: what becomes of claims; empty: pods have none
    replicas: int = 1  # processes of the operator; with more than one they elect a leader
    is_gated: bool = False  # the sets' controller honours maxUnavailable
    is_mixed: bool = True  # what is ready at one moment runs in any order
    latency: float = 0.0  # requests of the operator take up to so many seconds
    gang: str = ""  # the dialects of the operator's flag; empty: there are no gangs
    topology: str = ""  # how near the members of a gang stand: hard 1, soft
    names_scheduler: bool = True  # templates name the scheduler of the first dialect
    is_exclusive: bool = False  # each group has its node to itself
    part: int = 0  # members of a subgroup; 0: there are none
    gpus: int = 0  # that each pod asks for
    min_ready: int = 0  # seconds that a group must be ready before it counts
    roles: str = ""  # instances and workers of each: a 1+1, b 2+0
    rollout: str = ""  # which kind of units rolls, where there are several
    grace: int = 0  # seconds that a failed member may take to be ready again
    role_unavailable: int = 0  # instances of a role that may be missing; 0: nothing is said
    role_partition: int = 0
    after: str = ""  # roles that come after another: b a, c b
    rules: str = ""  # of roles: skew 1, together 1, grow 50%, order a b, ratio a 2 b 1
    adapters: str = ""  # roles that another object scales
    stateless: str = ""  # roles whose instances have no ordinals
    drain: int = 0  # seconds between the end of serving and a change in place
    is_ordered: bool = False  # instances of a role come one by one
    carried: str = ""  # roles that another controller makes the pods of: a StatefulSet
    form: str = ""  # the mode that a service asks for; empty: one workload for each component
    faults: tuple[Fault, ...] = ()

    def has(self, *names: str) -> bool:
        """Whether a fault of one of these names is in it."""
        return any(fault.name in names for fault in self.faults)

    @property
    def may_roll_alike(self) -> bool:
        """
        Whether groups may be replaced although their template stays.

        That is so where the scheduler that places them changes, or a user edits the leader set.
        """
        is_named = self.names_scheduler and find_scheduler(self.gang)
        changes = self.has("retopology", "retell") and not is_named
        return changes or self.has("choose-gang", "restart-set", "set-image", "swap-set")

    def without(self, faults: set[int]) -> "Scenario":
        """The same scenario with some faults, by their places, left out."""
        kept = tuple(f for place, f in enumerate(self.faults) if place not in faults)
        return replace(self, faults=kept)


def make_namesake(kind: Kind, name: str) -> Object:
    """An object of another client, with a name that one of ours would have."""
    labels = {"app": "other"}
    container = {"name": "other", "image": "other:1"}
    pods: Object = {
        "replicas": 0,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    }
    specs: dict[str, Object] = {
        "Pod": {"containers": [container]},
        "Service": {"selector": labels, "ports": [{"name": "other", "port": 80}]},
        "StatefulSet": {"serviceName": name, **pods},
        "Deployment": pods,
    }
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {"name": name, "labels": labels},
        "spec": specs[kind.name],
    }


def make_template(image: str, *, gpus: int = 0, scheduler: str = "") -> Object:
    """The template of all pods."""
    container = {"name": "engine", "image": image, **write_requests(gpus)}
    named = {"schedulerName": scheduler} if scheduler else {}
    return {"metadata": {"annotations": {}}, "spec": {"containers": [container], **named}}
