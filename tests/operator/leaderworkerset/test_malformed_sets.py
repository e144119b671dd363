"""Objects that were stored before the schema was ours: each costs its own condition, no more."""

from dataclasses import replace
from typing import Any

import pytest
from operator_lab import LWS, Lab, make_lws

from kohort.apis.api import Reading, Snapshot
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, find_condition, name_of
from kohort.cluster.port import PatchType
from kohort.controller.process.measures import Measures

NAME = "leaderworkersets.leaderworkerset.x-k8s.io"
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


async def loosen(lab: Lab) -> None:
    """Let the cluster store anything: another definition, and no webhook that is asked."""
    lab.remove_webhooks()
    version = "/spec/versions/0"
    changes = [
        {"op": "replace", "path": f"{version}/schema/openAPIV3Schema", "value": ANYTHING},
        {"op": "remove", "path": f"{version}/subresources/scale"},
    ]
    target = lab.api.target(kinds.DEFINITION, "", NAME)
    await lab.api.patch(target, PatchBody(PatchType.JSON, changes), WriteOptions())
    await lab.run(1)


def bad(name: str, **body: Any) -> Object:
    return {k: v for k, v in {**make_lws(name), "spec": None, **body}.items() if v is not None}


def stall(lab: Lab, name: str) -> tuple[str, str]:
    found = find_condition(lab.lws(name), "Stalled")
    assert found is not None and found["status"] == "True"
    return found["reason"], found["message"]


SPECS = [
    (None, "spec is missing"),
    ("text", 'spec must be a mapping, not "text"'),
    ({"replicas": 1}, "spec.leaderWorkerTemplate is missing"),
    (
        {**make_lws()["spec"], "replicas": "many"},
        'spec.replicas must be a whole number, not "many"',
    ),
    ({**make_lws()["spec"], "replicas": -1}, "spec.replicas: Invalid value: -1"),
]


@pytest.mark.parametrize(("spec", "why"), SPECS)
async def test_a_malformed_set_gets_a_condition_and_others_are_served(
    lab: Lab, spec: Any, why: str
):
    await loosen(lab)
    await lab.apply(bad("bad", spec=spec))
    await lab.run(2)
    lab.mend_webhooks()
    await lab.apply(make_lws("good", groups=2, size=2))
    await lab.until(lambda: lab.is_available("good"))
    assert stall(lab, "bad")[1].startswith(why)


async def test_a_malformed_set_costs_one_write(lab: Lab):
    await loosen(lab)
    await lab.apply(bad("bad"))
    await lab.run(5)
    before = lab.api.store.revision
    await lab.run(600)
    assert lab.api.store.revision == before


async def test_a_set_that_is_mended_is_served(lab: Lab):
    await loosen(lab)
    await lab.apply(bad("x"))
    await lab.run(2)
    lab.mend_webhooks()
    await lab.edit("x", {"op": "add", "path": "/spec", "value": make_lws()["spec"]})
    await lab.until(lab.is_available)
    condition = find_condition(lab.lws(), "Stalled")
    assert condition is not None and condition["status"] == "False"


async def test_a_status_that_cannot_be_read_is_written_anew(lab: Lab):
    await loosen(lab)
    lab.mend_webhooks()
    await lab.apply(make_lws("x", groups=1, size=1))
    await lab.until(lab.is_available)
    status = lab.api.target(LWS, "default", "x", "status")
    for path, value in (("conditions", "none"), ("readyReplicas", [1])):
        change = {"op": "replace", "path": f"/status/{path}", "value": value}
        await lab.api.patch(status, PatchBody(PatchType.JSON, [change]), WriteOptions())
    await lab.run(5)
    assert lab.is_available()
    assert lab.lws()["status"]["readyReplicas"] == 1


def fail_for_bad(snapshot: Snapshot) -> Reading:
    """A mistake of ours about one object."""
    if name_of(snapshot.root) == "bad":
        raise KeyError("spec")
    return LEADER_WORKER_SET.read(snapshot)


async def test_a_mistake_about_one_object_is_logged_once_and_stops_no_other(
    lab: Lab, caplog: pytest.LogCaptureFixture
):
    controller = lab.operator.controllers[0]
    Measures(lab.time).follow(controller)
    controller._reconciler._api = replace(LEADER_WORKER_SET, read=fail_for_bad)
    await lab.apply(make_lws("bad", groups=1, size=1))
    await lab.apply(make_lws("good", groups=1, size=1))
    await lab.until(lambda: lab.is_available("good"))
    await lab.run(900)
    mistakes = [record for record in caplog.records if record.exc_info]
    assert len(mistakes) == 1
    assert "status" not in lab.lws("bad")
