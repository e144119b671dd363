"""A pod that crashes beside others that serve: Ready is false until it lasts, and traffic stays."""

import pytest
from service_lab import RBG, RUNNER, ServiceLab, model, runtime, service

from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds as builtin
from kohort.cluster.objects import Object, is_true, name_of
from kohort.cluster.port import PatchType
from kohort.simulator.stages import CRASH_AFTER, CRASH_EXIT_CODE, CRASH_TIMES

GANG = {"leader": {"runner": RUNNER}, "worker": {"size": 1, "runner": RUNNER}}
MODES = {"Deployment": ("", False), "LeaderWorkerSet": ("MultiNode", True), RBG: (RBG, False)}


async def start_two(lab: ServiceLab, mode: str) -> None:
    """A service of two engines that is ready."""
    form, is_gang = MODES[mode]
    own = runtime(engineConfig=GANG) if is_gang else runtime()
    await lab.stock(model(), own)
    obj = service("engine", mode=form)
    obj["spec"]["engine"]["minReplicas"] = 2
    await lab.apply(obj)
    await lab.until(lab.is_ready, 120)
    await lab.run(20)


async def crash(lab: ServiceLab, name: str, times: int) -> None:
    """Let the container of a pod end with code 3 so many times."""
    notes = {CRASH_AFTER: "1s", CRASH_EXIT_CODE: "3", CRASH_TIMES: str(times)}
    target = lab.api.target(builtin.POD, lab.namespace, name)
    body = {"metadata": {"annotations": notes}}
    await lab.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="user"))


def list_told(lab: ServiceLab) -> list[str]:
    found = lab.all(builtin.EVENT)
    return [e["message"] for e in found if e["involvedObject"]["kind"] == "InferenceService"]


def is_crash(condition: Object, pod: str) -> bool:
    text = f"component engine crashes: container ome-container of pod {pod} ended with exit code 3"
    return condition["status"] == "False" and condition.get("message") == text


@pytest.mark.parametrize("mode", list(MODES))
async def test_a_pod_that_crashes_beside_others_makes_ready_false(lab: ServiceLab, mode: str):
    await start_two(lab, mode)
    pod = sorted(lab.pods("engine"))[0]
    selected = {name_of(each): each["spec"].get("selector") for each in lab.all(builtin.SERVICE)}
    await crash(lab, pod, 2)
    await lab.until(lambda: is_crash(lab.condition(), pod), 10)
    assert is_crash(lab.condition("EngineReady"), pod)
    assert lab.condition("IngressReady")["status"] == "True"
    assert any(lab.condition()["message"] in text for text in list_told(lab))
    assert {name_of(s): s["spec"].get("selector") for s in lab.all(builtin.SERVICE)} == selected


async def test_ready_stays_false_between_two_crashes_and_for_a_while(lab: ServiceLab):
    await start_two(lab, "Deployment")
    pod = sorted(lab.pods("engine"))[0]
    await crash(lab, pod, 3)
    await lab.until(lambda: is_crash(lab.condition(), pod), 10)
    seen, stamps = [], set()
    for _ in range(60):
        await lab.run(1)
        seen.append((is_true(lab.pods()[pod], "Ready"), lab.condition()["status"]))
        if not lab.is_ready():
            stamps.add(lab.condition()["lastTransitionTime"])
    assert (True, "False") in seen[:20]  # ready for a moment, between two crashes
    told = [status for _, status in seen]
    assert told == sorted(told)  # False, and then True for good
    assert seen[-1] == (True, "True")
    assert len(stamps) == 1
