"""A service changes between one node and several: workers, which need no probe, get no requests."""

import pytest
from service_lab import KIND, RBG, RUNNER, ServiceLab, model, runtime, service
from test_service_switch import list_endpoints

from kohort.apis.inferenceservice import labels
from kohort.cluster.kinds import SERVICE
from kohort.cluster.objects import Object, labels_of, name_of

RAW, GANG = "RawDeployment", "MultiNode"
SEVERAL = {"leader": {"runner": RUNNER}, "worker": {"size": 1, "runner": RUNNER}}
NAMES = ("chat", "chat-engine")


ONE, MANY = {"minReplicas": 2}, {"minReplicas": 2, **SEVERAL}


async def begin(lab: ServiceLab, mode: str, engine: Object) -> None:
    await lab.stock(model(), runtime())
    obj = service("engine", mode=mode)
    obj["spec"]["engine"] = engine
    await lab.apply(obj)
    await lab.until(lab.is_ready, 120)
    await lab.run(5)


async def change(lab: ServiceLab, mode: str, engine: Object) -> None:
    path = f"/metadata/annotations/{labels.DEPLOYMENT_MODE.replace('/', '~1')}"
    changes = (
        {"op": "replace", "path": path, "value": mode},
        {"op": "replace", "path": "/spec/engine", "value": engine},
    )
    await lab.edit("chat", *changes, kind=KIND)


async def watch(lab: ServiceLab, pods: int) -> tuple[int, set[str]]:
    """Until so many pods are left: the fewest endpoints, and workers that were among them."""
    least, strays = 99, set()
    for _ in range(900):
        await lab.run(0.2)
        for name in NAMES:
            found = list_endpoints(lab, name)
            least = min(least, len(found))
            strays |= {name_of(pod) for pod in found if labels.APP not in labels_of(pod)}
        if lab.is_ready() and len(lab.pods()) == pods:
            return least, strays
    raise AssertionError("the form never changed")


@pytest.mark.parametrize(("old", "new"), [(GANG, RAW), (GANG, RBG), (RBG, RAW), (RBG, RBG)])
async def test_old_workers_get_no_requests(lab: ServiceLab, old: str, new: str):
    await begin(lab, old, MANY)
    await change(lab, new, ONE)
    least, strays = await watch(lab, 2)
    assert (least >= 1, strays) == (True, set())
    await lab.run(5)
    selector = lab.find(SERVICE, "chat")["spec"]["selector"]
    assert selector == {labels.SERVICE_NAME: "chat", labels.COMPONENT: "engine"}


@pytest.mark.parametrize(("old", "new"), [(RAW, GANG), (RBG, GANG), (RAW, RBG), (RBG, RBG)])
async def test_new_workers_get_no_requests(lab: ServiceLab, old: str, new: str):
    await begin(lab, old, ONE)
    await change(lab, new, MANY)
    least, strays = await watch(lab, 4)
    assert (least >= 1, strays) == (True, set())
    await lab.run(5)
    assert lab.find(SERVICE, "chat")["spec"]["selector"][labels.NODE_TYPE] == "head"
