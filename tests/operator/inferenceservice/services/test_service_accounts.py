"""A router that gets another service account: pods that run keep theirs."""

from service_lab import ServiceLab, kinds, service, start

from kohort.cluster.kinds import SERVICE_ACCOUNT
from kohort.cluster.objects import Object

NAME = "chat-router"


def bound(lab: ServiceLab) -> list[str]:
    """The accounts that may read pods."""
    found: Object = lab.find(kinds.ROLE_BINDING, NAME) or {}
    return sorted(each["name"] for each in found["subjects"])


def used(lab: ServiceLab) -> set[str]:
    return {pod["spec"]["serviceAccountName"] for pod in lab.pods("router").values()}


async def test_an_account_stays_as_long_as_a_pod_uses_it(lab: ServiceLab):
    await start(lab, service("engine", "router"))
    assert (used(lab), bound(lab)) == ({NAME}, [NAME])
    await lab.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "mine"}})
    await lab.set_field("/spec/router/serviceAccountName", "mine")
    await lab.until(lambda: "mine" in used(lab), 30)
    assert NAME in used(lab), "the old pod stays until the new one is ready"
    assert bound(lab) == [NAME, "mine"]
    assert lab.find(SERVICE_ACCOUNT, NAME) is not None
    await lab.until(lambda: used(lab) == {"mine"}, 120)
    await lab.run(5)
    assert bound(lab) == ["mine"]
    assert lab.find(SERVICE_ACCOUNT, NAME) is None
    assert lab.is_ready()
