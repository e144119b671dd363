"""Every LeaderWorkerSet that upstream shows becomes ready as a ModelServing."""

import orjson
import pytest
from serving_lab import ServingLab

from kohort.apis.bridges.conversions import TO_SERVING, convert_documents
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, name_of, owner_reference
from kohort.cluster.port import PatchType
from lws_samples import SHARED, list_upstream

# What the samples ask of nodes; cpu and memory of the largest engine among them.
DEVICES = {"nvidia.com/gpu": "8", "google.com/tpu": "4", "cpu": "256", "memory": "2048Gi"}
DEVICES["ephemeral-storage"] = "2048Gi"
POOL = "cloud.google.com/gke-nodepool"
TPU = {
    "cloud.google.com/gke-tpu-topology": "4x4",
    "cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice",
}


async def equip(lab: ServingLab) -> None:
    """Give nodes the devices and labels that samples name, a pool to each four of them."""
    for number, node in enumerate(lab.all(kinds.NODE)):
        marks = {**TPU, POOL: f"pool-{number // 4}"}
        await patch(lab, node, {"metadata": {"labels": marks}})
        await patch(lab, node, {"status": {"capacity": DEVICES, "allocatable": DEVICES}}, "status")


async def patch(lab: ServingLab, node: Object, body: Object, part: str = "") -> None:
    target = lab.api.target(kinds.NODE, "", name_of(node), part)
    await lab.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions())


async def bring_named(lab: ServingLab, sample: Object) -> None:
    """The service accounts and the storage class that pods name."""
    provisioner = {"provisioner": "example.com/disks", "metadata": {"name": "default"}}
    await lab.apply({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", **provisioner})
    role = sample["spec"]["template"]["roles"][0]
    templates = [role[key]["spec"] for key in ("entryTemplate", "workerTemplate") if key in role]
    for name in {template.get("serviceAccountName") for template in templates} - {None}:
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}
        await lab.apply(account)


async def bring_claims(lab: ServingLab) -> None:
    """The claims of ephemeral volumes, which the controller of a real cluster makes for a pod."""
    for name, pod in lab.pods().items():
        for volume in pod["spec"].get("volumes") or ():
            if "ephemeral" in volume:
                spec = volume["ephemeral"]["volumeClaimTemplate"]["spec"]
                claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": spec}
                claim["metadata"] = {"name": f"{name}-{volume['name']}"}
                claim["metadata"]["ownerReferences"] = [owner_reference(pod)]
                await lab.apply(claim)


@pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
@pytest.mark.parametrize(
    ("name", "sample"), list_upstream() or [("none", {})], ids=lambda v: str(v)[:60]
)
async def test_a_sample_of_upstream_becomes_ready_as_a_model_serving(name: str, sample: Object):
    lab = ServingLab()
    await lab.open(nodes=16)
    await equip(lab)
    # One of them leaves its image to the reader.
    sample = orjson.loads(orjson.dumps(sample).replace(b'"<image>"', b'"engine:1"'))
    made = convert_documents([sample], TO_SERVING, "default").objects[0]
    made["metadata"]["namespace"] = "default"
    await bring_named(lab, made)
    own, wanted = name_of(await lab.apply(made)), made["spec"].get("replicas", 1)
    await lab.run(5)
    await bring_claims(lab)
    await lab.until(lambda: lab.status(own).get("availableReplicas") == wanted, 300)
    await lab.close()
