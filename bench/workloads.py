"""
Workloads: what a measurement must know of an API, as one value for each.

How objects are asked for, edited and scaled, by which labels their groups are found, and which
fields of a status say that all is as it was asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bench.objects import DEFAULT_SCHEDULER
from bench.snapshots import make_workload
from kohort.apis.leaderworkerset import labels as lws
from kohort.apis.modelserving import labels as ms
from kohort.apis.rolebasedgroup import labels as rbg
from kohort.cluster.objects import Kind, Object

SIZE = 4
_ROLE = "serve"
_SET_IMAGE = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image"
_ROLE_PATH = "/spec/template/roles/0"


@dataclass(frozen=True, slots=True)
class BenchApi:
    """One API, as measurements use it."""

    name: str
    served_name: str  # what ``--apis`` takes
    kind: Kind
    owner_label: str
    group_label: str
    counts: tuple[str, ...]  # of a status, each the wanted number when all is done
    make: Callable[[str, int], Object]  # name, groups
    image_paths: tuple[str, ...]  # in the spec
    has_roles: bool = False  # whether the status counts instances of roles
    restarts_groups: bool = True  # whether a pod that is deleted takes its group with it

    def is_done(self, workload: Object) -> bool:
        """Whether the status says that all is as it was asked for."""
        status = workload.get("status") or {}
        if self.has_roles:
            return _are_roles_done(workload, status)
        counts = {status.get(name) for name in self.counts}
        is_seen = status.get("observedGeneration") == workload["metadata"]["generation"]
        true = {c["type"] for c in status.get("conditions") or () if c["status"] == "True"}
        return is_seen and counts == {workload["spec"]["replicas"]} and "Available" in true

    @property
    def path(self) -> str:
        """Where all objects of the kind are listed."""
        return f"/apis/{self.kind.api_version}/{self.kind.plural}"

    def path_in(self, namespace: str, name: str = "") -> str:
        """Where those of one namespace are listed and made, or one of them is edited."""
        place = f"/apis/{self.kind.api_version}/namespaces/{namespace}/{self.kind.plural}"
        return f"{place}/{name}" if name else place

    def edit_image(self, image: str) -> list[Object]:
        """The JSON patch that begins a rollout."""
        return [{"op": "replace", "path": path, "value": image} for path in self.image_paths]


def scale_to(groups: int) -> list[Object]:
    """The JSON patch that asks for another number of groups."""
    return [{"op": "replace", "path": "/spec/replicas", "value": groups}]


def leader_worker_sets(carrier: str) -> BenchApi:
    """LeaderWorkerSets on one of their carriers."""
    return BenchApi(
        name=f"LeaderWorkerSet on {carrier}",
        served_name="lws",
        kind=lws.KIND,
        owner_label=lws.NAME,
        group_label=lws.GROUP_INDEX,
        counts=("readyReplicas", "updatedReplicas", "replicas"),
        make=lambda name, groups: make_workload(name, groups, SIZE, carrier),
        image_paths=(_SET_IMAGE,),
    )


def model_servings(*, by_role: bool = False) -> BenchApi:
    """ModelServings of one role with an entry and three workers, rolled by group or by role."""
    templates = ("entryTemplate", "workerTemplate")
    image = "spec/containers/0/image"
    return BenchApi(
        name="ModelServing",
        served_name="ms",
        kind=ms.KIND,
        owner_label=ms.NAME,
        group_label=ms.GROUP_INDEX,
        counts=("availableReplicas", "updatedReplicas", "replicas"),
        make=lambda name, groups: _make_serving(name, groups, by_role),
        image_paths=tuple(f"{_ROLE_PATH}/{template}/{image}" for template in templates),
    )


def role_based_groups(update: str = "RecreatePod") -> BenchApi:
    """RoleBasedGroups of one role of so many instances; of none: of two roles of one pod each."""
    return BenchApi(
        name="RoleBasedGroup",
        served_name="rbg",
        kind=rbg.KIND,
        owner_label=rbg.GROUP_NAME,
        group_label=rbg.INSTANCE_NAME,
        counts=(),
        make=lambda name, instances: _make_group(name, instances, update),
        image_paths=("/spec/roles/0/leaderWorkerPattern/template/spec/containers/0/image",),
        has_roles=True,
        restarts_groups=False,
    )


def _are_roles_done(workload: Object, status: Object) -> bool:
    wanted = {role["name"]: role["replicas"] for role in workload["spec"]["roles"]}
    ready = {role["name"]: role["readyReplicas"] for role in status.get("roleStatuses") or ()}
    updated = {role["name"]: role["updatedReplicas"] for role in status.get("roleStatuses") or ()}
    is_seen = status.get("observedGeneration") == workload["metadata"]["generation"]
    return is_seen and wanted == ready == updated


def _make_group(name: str, instances: int, update: str) -> Object:
    template = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
    rolling = {"type": update, "maxUnavailable": "10%" if instances >= 10 else 1}
    role = {
        "name": _ROLE,
        "replicas": instances,
        "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
        "leaderWorkerPattern": {"size": SIZE, "template": template},
    }
    pair = [
        {"name": each, "replicas": 1, "standalonePattern": {"template": template}}
        for each in ("prefill", "decode")
    ]
    return {
        "apiVersion": rbg.KIND.api_version,
        "kind": rbg.KIND.name,
        "metadata": {"name": name},
        "spec": {"roles": [role] if instances else pair},
    }


def _make_serving(name: str, groups: int, by_role: bool) -> Object:
    template = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
    role = {
        "name": _ROLE,
        "replicas": 1,
        "workerReplicas": SIZE - 1,
        "entryTemplate": template,
        "workerTemplate": template,
    }
    strategy: Object = {"type": "RoleRollingUpdate"}
    if not by_role:
        rolling = {"maxUnavailable": "10%" if groups >= 10 else 1}
        strategy = {"type": "ServingGroupRollingUpdate", "rollingUpdateConfiguration": rolling}
    return {
        "apiVersion": ms.KIND.api_version,
        "kind": ms.KIND.name,
        "metadata": {"name": name},
        "spec": {
            "replicas": groups,
            "schedulerName": DEFAULT_SCHEDULER,
            "rolloutStrategy": strategy,
            "template": {"roles": [role]},
        },
    }
