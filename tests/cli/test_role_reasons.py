"""``kohort why`` and ``kohort rollout status`` say which role holds which back, and by how much."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_lines import Told
from workload_hand import Hand

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.cluster.objects import Object, find_condition

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]
TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}


def role(name: str, **more: Any) -> Object:
    pattern = {"standalonePattern": {"template": TEMPLATE}}
    rolling = {"rolloutStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}}
    return {"name": name, "replicas": 4, **pattern, **rolling, **more}


def make_pair(cluster: Path, name: str, **rolling: Any) -> Hand:
    """Prefill and decode of four instances each, under a policy."""
    rule = {"name": "pd", "roles": ["prefill", "decode"], "strategy": {"rollingUpdate": rolling}}
    Hand(cluster, name, labels.POLICY).make({"policies": [rule]})
    hand = Hand(cluster, name, ROLE_BASED_GROUP.kind)
    hand.make({"roles": [role("prefill"), role("decode")]})
    return hand


def hold_decode(hand: Hand) -> None:
    path = "/spec/roles/1/rolloutStrategy/rollingUpdate/paused"
    hand.edit({"op": "add", "path": path, "value": True})


def test_a_paused_role_is_named_as_the_one_that_holds_the_other(kohort: RunKohort, cluster: Path):
    hand = make_pair(cluster, "tied", maxSkew="25%", versionsTogether={})
    assert kohort("rollout", "status", "rbg/tied", "--timeout", "60s").code == 0
    hold_decode(hand)
    kohort("rollout", "set-image", "rbg/tied", "engine=engine:2")
    hand.wait_for(lambda obj: updated(obj) == {"prefill": 1, "decode": 0})
    held = (
        "role prefill has 1 of 4 instances updated, and may have 1 while role decode, whose "
        "rollout is paused, has 0 of 4 updated and ready: versions are kept together within 25% "
        "(rule pd)"
    )
    text = kohort("why", "rbg/tied").out
    assert f"WaitingForVersions: {held}" in text
    told = json.loads(kohort("why", "rbg/tied", "-o", "json").out)["row"]["roles"]
    prefill, decode = told
    assert prefill["reasons"] == [{"reason": "WaitingForVersions", "message": held}]
    assert (decode["updated"], decode["isPaused"]) == (0, True)
    conditions = {c["type"]: c["message"] for c in hand.read()["status"]["conditions"]}
    assert held in conditions["RollingUpdateInProgress"]
    status = kohort("rollout", "status", "rbg/tied", "--timeout", "0")
    assert "updated: prefill 1/4, decode 0/4" in status.out
    only = kohort("rollout", "status", "rbg/tied", "--timeout", "0", "--role", "prefill")
    assert f"updating: WaitingForVersions: {held}" in only.out


def updated(group: Object) -> dict[str, int]:
    counts = (group.get("status") or {}).get("roleStatuses") or ()
    return {each["name"]: each["updatedReplicas"] for each in counts}


def test_nothing_is_said_of_roles_of_a_workload_that_is_ready(kohort: RunKohort, cluster: Path):
    make_pair(cluster, "calm", maxSkew=1)
    assert kohort("rollout", "status", "rbg/calm", "--timeout", "60s").code == 0
    told = kohort("why", "rbg/calm").out
    assert "prefill" not in told
    assert "updated:" not in kohort("rollout", "status", "rbg/calm").out


def test_a_role_that_lacks_its_profile_is_named_though_others_serve(
    kohort: RunKohort, cluster: Path
):
    lacking = role("decode", engineRuntimes=[{"profileName": "absent"}])
    hand = Hand(cluster, "lacking", ROLE_BASED_GROUP.kind)
    hand.make({"roles": [role("prefill"), lacking]})
    hand.wait_for(lambda obj: updated(obj) == {"prefill": 4, "decode": 0})
    text = kohort("why", "rbg/lacking").out
    assert "WaitingForProfile: role decode names engine runtime profile 'absent'" in text


def test_a_set_that_waits_for_a_hook_says_which_label_holds_it(kohort: RunKohort, cluster: Path):
    hand = Hand(cluster, "hooked", labels.INSTANCE_SET)
    component = {"name": "engine", "size": 1, "template": TEMPLATE}
    marks = {"example.com/drain": "wanted"}
    hand.make(
        {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "hooked"}},
            "roleInstanceTemplate": {"components": [component]},
            "lifecycle": {"preDelete": {"labelsHandler": marks}},
        },
        annotations={labels.INSTANCE_PATTERN: "Stateless"},
        labels={"app": "hooked", **marks},
    )
    hand.wait_for(lambda obj: (obj.get("status") or {}).get("readyReplicas") == 2)
    hand.edit({"op": "replace", "path": "/spec/replicas", "value": 1})
    hand.wait_for(lambda obj: find_condition(obj, "RoleWaiting") is not None)
    text = kohort("why", "ris/hooked").out
    assert "WaitingForHook: " in text and "label example.com/drain=wanted" in text
