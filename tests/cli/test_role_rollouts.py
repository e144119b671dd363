"""``kohort rollout … --role``: one role is followed and steered without the others."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_lines import Told
from workload_hand import Hand

from kohort.apis.modelserving.api import MODEL_SERVING
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.cluster.objects import Object
from kohort.simulator.stages import PULL_ERROR

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]
TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
BROKEN = {**TEMPLATE, "metadata": {"annotations": {PULL_ERROR: "manifest unknown"}}}
BY_ROLE = {"rolloutStrategy": {"type": "RoleRollingUpdate"}}


def make_serving(cluster: Path, name: str, decode: Object = TEMPLATE, **spec: Any) -> Hand:
    """A ModelServing with two roles."""
    roles = [
        {"name": role, "replicas": 2, "workerReplicas": 0, "entryTemplate": template}
        for role, template in (("prefill", TEMPLATE), ("decode", decode))
    ]
    hand = Hand(cluster, name, MODEL_SERVING.kind)
    hand.make({"replicas": 1, "template": {"roles": roles}, **spec})
    return hand


def images_of(hand: Hand) -> dict[str, str]:
    roles = hand.read()["spec"]["template"]["roles"]
    return {r["name"]: r["entryTemplate"]["spec"]["containers"][0]["image"] for r in roles}


def test_a_role_is_waited_for_while_another_cannot_start(kohort: RunKohort, cluster: Path):
    make_serving(cluster, "half", BROKEN)
    status = kohort("rollout", "status", "ms/half", "--role", "prefill", "--timeout", "60s")
    assert status.code == 0, status.err
    assert "role prefill: instances 2/2 ready   revision 1 (2/2)   ready" in status.out
    stuck = kohort("rollout", "status", "ms/half", "--role", "decode", "--timeout", "60s")
    assert stuck.code == 4
    assert "error: ms/half --role decode is " in stuck.err
    assert "prefill" not in stuck.out + stuck.err


def test_an_image_and_a_restart_reach_one_role_only(kohort: RunKohort, cluster: Path):
    hand = make_serving(cluster, "one", **BY_ROLE)
    assert kohort("rollout", "status", "ms/one", "--timeout", "60s").code == 0
    told = kohort("rollout", "set-image", "ms/one", "engine=engine:2", "--role", "decode")
    assert told.out.startswith("role decode of ms/one rolls out another image\n")
    assert images_of(hand) == {"prefill": "engine:1", "decode": "engine:2"}
    status = ("rollout", "status", "ms/one", "--role", "decode", "--timeout", "60s")
    assert "(2/2)   ready" in kohort(*status).out.splitlines()[-1]
    assert kohort("rollout", "restart", "ms/one", "--role", "decode").code == 0
    prefill, decode = hand.read()["spec"]["template"]["roles"]
    assert "restartedAt" in json.dumps(decode)
    assert "restartedAt" not in json.dumps(prefill)
    assert kohort(*status).code == 0
    history = kohort("rollout", "history", "ms/one", "--role", "prefill", "-o", "json").out
    assert [line["changes"] for line in json.loads(history)] == [[], [], []]
    undone = kohort("rollout", "undo", "ms/one", "--role", "decode", "--to-revision", "1")
    assert undone.out.startswith("role decode of ms/one goes back to revision 1\n")
    assert images_of(hand)["decode"] == "engine:1"


def test_a_role_is_paused_while_another_rolls(kohort: RunKohort, cluster: Path):
    make_serving(cluster, "still", **BY_ROLE)
    assert kohort("rollout", "status", "ms/still", "--timeout", "60s").code == 0
    paused = kohort("rollout", "pause", "ms/still", "--role", "decode")
    assert paused.out == "role decode of ms/still is paused\n"
    assert "paused already" in kohort("rollout", "pause", "ms/still", "--role", "decode").out
    kohort("rollout", "set-image", "ms/still", "engine=engine:2")
    status = ("rollout", "status", "ms/still", "--timeout", "60s")
    assert kohort(*status, "--role", "prefill").code == 0
    held = kohort(*status)
    assert held.code == 4
    assert "the rollout of role decode is paused" in held.out
    resume = ("rollout", "resume", "ms/still", "--role")
    assert (
        f"go on with 'kohort {' '.join(resume)} decode'" in kohort(*status, "--role", "decode").err
    )
    assert kohort(*resume, "prefill").out == "role prefill of ms/still is not paused\n"
    assert kohort(*resume, "decode").out == "role decode of ms/still goes on\n"
    assert kohort(*status).code == 0


def test_a_role_that_does_not_exist_is_refused_by_name(kohort: RunKohort, cluster: Path):
    make_serving(cluster, "known")
    for verb in ("status", "history", "undo", "restart", "pause", "resume"):
        told = kohort("rollout", verb, "ms/known", "--role", "decoder")
        assert told.code == 1, verb
        assert "ms/known has no role 'decoder' (did you mean 'decode'?); it has: " in told.err
    told = kohort("rollout", "pause", "ms/known", "--role", "decode")
    assert (told.code, "rolls with its groups" in told.err) == (1, True)
    note = kohort("rollout", "restart", "ms/known", "--role", "decode", "--dry-run").out
    assert "its groups roll as one" in note


def test_a_leader_worker_set_has_no_roles(kohort: RunKohort, cluster: Path):
    Hand(cluster, "plain").create(groups=1)
    told = kohort("rollout", "status", "lws/plain", "--role", "leader", "--timeout", "0")
    assert told.code == 2
    assert "a LeaderWorkerSet has no roles with names; leave out --role leader" in told.err
    told = kohort("rollout", "set-image", "lws/plain", "engine=engine:2", "--role", "leader")
    assert told.code == 2


def test_a_role_based_group_is_steered_by_role(kohort: RunKohort, cluster: Path):
    shared = {"standalonePattern": {"templateRef": {"name": "base"}}}
    roles = [{"name": role, "replicas": 1, **shared} for role in ("prefill", "decode")]
    hand = Hand(cluster, "grouped", ROLE_BASED_GROUP.kind)
    hand.make({"roles": roles, "roleTemplates": [{"name": "base", "template": TEMPLATE}]})
    status = ("rollout", "status", "rbg/grouped", "--timeout", "60s", "--role")
    assert kohort(*status, "decode").code == 0
    told = kohort("rollout", "set-image", "rbg/grouped", "engine=engine:2", "--role", "decode")
    assert told.code == 0, told.err
    spec = hand.read()["spec"]
    assert spec["roleTemplates"] == [{"name": "base", "template": TEMPLATE}]
    assert "engine:2" not in json.dumps(spec["roles"][0])
    patch = spec["roles"][1]["standalonePattern"]["templateRef"]["patch"]
    assert patch == {"spec": {"containers": [{"name": "engine", "image": "engine:2"}]}}
    assert kohort(*status, "decode").code == 0
    assert kohort("rollout", "pause", "rbg/grouped", "--role", "decode").code == 0
    kohort("rollout", "set-image", "rbg/grouped", "engine=engine:3")
    assert kohort(*status, "prefill").code == 0
    assert kohort(*status, "decode").code == 4
    assert kohort("rollout", "resume", "rbg/grouped").code == 0
    assert kohort(*status, "decode").code == 0
