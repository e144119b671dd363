"""A laboratory with RoleBasedGroupWarmups in it, in which pods succeed, fail or run as told."""

from typing import Any

from group_lab import GroupLab
from operator_lab import Lab

from kohort.apis.api import DEFAULTS
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.apis.rolebasedgroup.warmup.api import ROLE_BASED_GROUP_WARMUP
from kohort.apiserver.api.admission import Review
from kohort.apiserver.api.requests import PatchBody, Target, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, find_condition, labels_of, name_of
from kohort.cluster.port import PatchType
from kohort.simulator.api_admission import ApiAdmission
from kohort.simulator.stages import CRASH_AFTER, RUN_FOR

KIND = labels.WARMUP
PRELOAD = {"imagePreload": {"images": ["engine:2"]}}
FAIL, SLEEP = {CRASH_AFTER: "100ms"}, {RUN_FOR: "24h"}


def warmup(target: Object | None = None, name: str = "x", **more: Any) -> Object:
    """A warm-up of three nodes, or of another target; ``more`` are policies."""
    nodes = {"nodeNames": ["gpu-00", "gpu-01", "gpu-02"], **PRELOAD}
    spec: Object = {"targetNodes": nodes} if target is None else dict(target)
    paused = more.pop("paused", None)
    if paused is not None:
        spec["paused"] = paused
    if more:
        spec["policies"] = more
    return {
        "apiVersion": KIND.api_version,
        "kind": KIND.name,
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


class Fates(ApiAdmission):
    """Writes on pods of warm-ups how they end, by their node."""

    fates: dict[str, Object]  # by node; "" is for all others

    def concerns(self, operation: str, target: Target) -> bool:
        is_pod = operation == "CREATE" and target.resource.kind == kinds.POD
        return is_pod or super().concerns(operation, target)

    async def mutate(self, review: Review) -> Object:
        obj = await super().mutate(review)
        node = labels_of(obj).get(labels.WARMUP_NODE)
        if node is None:
            return obj
        told = self.fates.get(node, self.fates.get("", {}))
        metadata = {**obj["metadata"]}
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **told}
        return {**obj, "metadata": metadata}


class WarmupLab(GroupLab):
    """A cluster with warm-ups and RoleBasedGroups."""

    def __init__(self) -> None:
        Lab.__init__(self, DEFAULTS, apis=(ROLE_BASED_GROUP, ROLE_BASED_GROUP_WARMUP))
        self.most_active = 0

    def decide_fates(self, **fates: Object) -> None:
        context = self.api.context
        found = Fates(self.apis, self.settings, find=context.find_objects)
        found.fates = {name.replace("_", "-"): told for name, told in fates.items()}
        found.fates.setdefault("", found.fates.pop("others", {}))
        context.admission = found

    def warmup(self, name: str = "x") -> Object:
        return self.find(KIND, name) or {}

    def said(self, name: str = "x") -> Object:
        found: Object = self.warmup(name).get("status") or {}
        return found

    def counts(self) -> tuple[int, int, int, int]:
        said = self.said()
        return said["desired"], said["active"], said["succeeded"], said["failed"]

    def condition(self, kind: str) -> Object:
        return find_condition(self.warmup(), kind) or {}

    def warmers(self) -> dict[str, Object]:
        """The pods of warm-ups."""
        found = [pod for pod in self.all(kinds.POD) if labels.WARMUP_NAME in labels_of(pod)]
        return {name_of(pod): pod for pod in found}

    def node_of(self, pod: Object) -> str:
        return labels_of(pod)[labels.WARMUP_NODE]

    async def end_pod(self, name: str, status: Object) -> None:
        """Let a pod end as its node would say it."""
        target = self.api.target(kinds.POD, "default", name, "status")
        await self.api.patch(target, PatchBody(PatchType.MERGE, {"status": status}), WriteOptions())

    async def until_phase(self, phase: str, seconds: float = 300.0) -> None:
        """Let time pass until the status says so, and note how many pods ran at once."""
        end = self.clock.elapsed() + seconds
        while self.said().get("phase") != phase:
            assert self.clock.elapsed() < end, self.said()
            await self.run(0.25)
            running = [p for p in self.warmers().values() if not _has_ended(p)]
            self.most_active = max(self.most_active, len(running))


def _has_ended(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
