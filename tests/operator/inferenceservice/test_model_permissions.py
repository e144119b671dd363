"""The operator may do to models and accelerators what it does, and the rest is known by name."""

from model_lab import ModelLab, accelerator, model

from kohort.apis.inferenceservice import kinds as ome
from kohort.cluster import kinds
from kohort.cluster.permissions import Grant
from kohort.controller.install.permissions import cluster_grants


def name_grant(grant: Grant) -> str:
    return f"{grant.kind.name}/{grant.part}" if grant.part else grant.kind.name


async def live_a_full_life(lab: ModelLab) -> None:
    """Models come, a node goes, models and a class that upstream held are deleted."""
    held = accelerator()
    held["metadata"]["finalizers"] = ["acceleratorclasses.ome.io/finalizer"]
    for obj in (model(), model(namespace="default"), held):
        await lab.apply(obj)
    await lab.run(10)
    await lab.remove(kinds.NODE, "gpu-00")
    await lab.run(10)
    await lab.remove(ome.CLUSTER_BASE_MODEL, "llama")
    await lab.remove(ome.BASE_MODEL, "llama", "default")
    await lab.remove(ome.ACCELERATOR_CLASS, "h100")
    await lab.run(10)


async def test_the_cluster_role_allows_every_write(lab: ModelLab):
    await live_a_full_life(lab)
    granted = {(verb, name_grant(g)) for g in cluster_grants(lab.apis) for verb in g.verbs}
    asked = set(lab.cluster.tried)
    assert asked <= granted
    assert ("delete", "ConfigMap") in asked
    for kind in ("BaseModel", "ClusterBaseModel", "AcceleratorClass"):
        assert {("patch", kind), ("patch", f"{kind}/status")} <= asked


def test_the_cluster_role_lets_the_operator_see_what_models_name():
    apis = ModelLab().apis
    seen = {g.kind.name for g in cluster_grants(apis) if {"list", "watch"} <= set(g.verbs)}
    assert {"ConfigMap", "Node", "BaseModel", "ClusterBaseModel", "AcceleratorClass"} <= seen
