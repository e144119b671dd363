"""Rollout verbs on workloads with roles: differences, history, promotions and restarts."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import Told
from workload_hand import Hand, create_all

from kohort.apis.modelserving.api import MODEL_SERVING
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object
from kohort.cluster.port import Selection

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]
POD_TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}


class RoleHand(Hand):
    """What a user does with a workload that has one role."""

    def list_uids(self) -> set[str]:
        """The uids of its pods."""
        found = self._do(lambda door: door.list(Selection(POD, "default")))
        pods = [json.loads(raw)["metadata"] for raw in found.items]
        return {pod["uid"] for pod in pods if pod["name"].startswith(f"{self._name}-")}

    def hold(self, pointer: str, value: object) -> None:
        """Add a field, so that a rollout does not reach every unit."""
        self.edit({"op": "add", "path": pointer, "value": value})


def make(cluster: Path, kind: str, name: str) -> RoleHand:
    """A ModelServing of two groups, or a RoleBasedGroup of two instances."""
    if kind == "ms":
        hand = RoleHand(cluster, name, MODEL_SERVING.kind)
        role: Object = {"name": "engine", "replicas": 1, "workerReplicas": 0}
        rolling = {"type": "ServingGroupRollingUpdate", "rollingUpdateConfiguration": {}}
        hand.make(
            {
                "replicas": 2,
                "template": {"roles": [{**role, "entryTemplate": POD_TEMPLATE}]},
                "rolloutStrategy": rolling,
            }
        )
    else:
        hand = RoleHand(cluster, name, ROLE_BASED_GROUP.kind)
        pattern = {"standalonePattern": {"template": POD_TEMPLATE}}
        rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}
        hand.make(
            {"roles": [{"name": "engine", "replicas": 2, "rolloutStrategy": rolling, **pattern}]}
        )
    return hand


PARTITIONS = {
    "ms": "/spec/rolloutStrategy/rollingUpdateConfiguration/partition",
    "rbg": "/spec/roles/0/rolloutStrategy/rollingUpdate/partition",
}


def follow(kohort: RunKohort, target: str) -> None:
    told = kohort("rollout", "status", target, "--timeout", "60s")
    assert told.code == 0, told.err


@pytest.mark.parametrize("kind", ["ms", "rbg"])
def test_a_restart_replaces_every_pod(kohort: RunKohort, cluster: Path, kind: str):
    hand, target = make(cluster, kind, f"again-{kind}"), f"{kind}/again-{kind}"
    follow(kohort, target)
    before = hand.list_uids()
    assert kohort("rollout", "restart", target).code == 0
    follow(kohort, target)
    after = hand.list_uids()
    assert (len(before), len(after), before & after) == (2, 2, set())


def test_a_restart_of_a_role_that_is_only_updated_in_place_is_refused(
    kohort: RunKohort, cluster: Path
):
    hand = RoleHand(cluster, "kept", ROLE_BASED_GROUP.kind)
    pattern = {"standalonePattern": {"template": POD_TEMPLATE}}
    only = {"type": "RollingUpdate", "rollingUpdate": {"type": "InPlaceOnly"}}
    fixed = {"name": "fixed", "replicas": 1, "rolloutStrategy": only, **pattern}
    hand.make({"roles": [{"name": "free", "replicas": 1, **pattern}, fixed]})
    follow(kohort, "rbg/kept")
    before = hand.read()["spec"]
    for words in ((), ("--role", "fixed"), ("--dry-run",)):
        told = kohort("rollout", "restart", "rbg/kept", *words)
        assert (told.code, hand.read()["spec"]) == (1, before), told.out
        assert "role fixed of rbg/kept may only be updated in place (InPlaceOnly)" in told.err
        assert "set the type of its rolling update to InPlaceIfPossible first" in told.err
        assert ("--role free" in told.err) is ("--role" not in words)
    assert kohort("rollout", "restart", "rbg/kept", "--role", "free").code == 0


@pytest.mark.parametrize("kind", ["ms", "rbg"])
def test_a_difference_and_the_history_name_the_fields_of_roles(
    kohort: RunKohort, cluster: Path, kind: str
):
    make(cluster, kind, f"told-{kind}")
    target = f"{kind}/told-{kind}"
    follow(kohort, target)
    assert kohort("rollout", "set-image", target, "engine=engine:2").code == 0
    follow(kohort, target)
    fields = json.loads(kohort("rollout", "diff", target, "-o", "json").out)["fields"]
    [field] = fields
    assert field["path"].endswith("engine.image")
    assert (field["old"], field["new"]) == ("engine:1", "engine:2")
    how = "every group" if kind == "ms" else "every instance of role engine in place"
    assert field["restarts"] == how
    first, second = json.loads(kohort("rollout", "history", target, "-o", "json").out)
    assert first["changes"] == []
    [change] = second["changes"]
    assert change["path"].endswith("engine.image")


@pytest.mark.parametrize("kind", ["ms", "rbg"])
def test_a_promotion_removes_the_partition_and_says_so(kohort: RunKohort, cluster: Path, kind: str):
    hand, target = make(cluster, kind, f"canary-{kind}"), f"{kind}/canary-{kind}"
    follow(kohort, target)
    hand.hold(PARTITIONS[kind], 1)
    assert kohort("rollout", "set-image", target, "engine=engine:2").code == 0
    follow(kohort, target)
    dry = kohort("rollout", "promote", target, "--dry-run").out
    assert "(dry run: nothing was changed)" in dry and "steps     1" in dry
    told = kohort("rollout", "promote", target).out
    assert told.splitlines()[0] == f"{target} goes on to the end"
    assert "partition: 1 → (none)" in told
    follow(kohort, target)
    row = json.loads(kohort("get", target, "-o", "json").out)["row"]
    assert row["updated"] == row["wanted"], row


def test_a_service_says_that_others_steer_its_rollouts(kohort: RunKohort, cluster: Path):
    create_all(cluster, kohort("new", "isvc", "--example", "--name", "chat").out)
    for verb in ("diff", "promote", "restart", "undo"):
        told = kohort("rollout", verb, "isvc/chat")
        assert (told.code, told.out) == (1, "")
        assert told.err.startswith("error: InferenceService has no r")
