"""Which QoS class a pod gets."""

from api_builders import Bench, pod

from kohort.cluster.kinds import LIMIT_RANGE, POD

HALF = {"requests": {"cpu": "500m"}}


async def test_the_class_of_a_pod_follows_its_requests(bench: Bench):
    container = {"name": "c", "image": "i", "resources": HALF}
    made = await bench.create(POD, pod(containers=[container]))
    assert made["status"]["qosClass"] == "Burstable"


async def test_requests_of_a_limit_range_count_for_the_class(bench: Bench):
    limits = [{"type": "Container", "defaultRequest": {"cpu": "500m"}}]
    await bench.create(LIMIT_RANGE, {"metadata": {"name": "l"}, "spec": {"limits": limits}})
    made = await bench.create(POD, pod())
    assert made["spec"]["containers"][0]["resources"] == HALF
    assert made["status"]["qosClass"] == "Burstable"
