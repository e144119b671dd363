"""
The worked example of a disaggregated service, as the running operator stores it.

Group m1: engine (leader and one worker, 2 instances), decoder (3), router (1); decoder and router
are scaled by an autoscaler. Every object is named here, and no other may be there.
"""

from hashlib import sha1

import pytest
import yaml
from group_lab import GroupLab, leader_worker, standalone

from kohort.apis.rolebasedgroup import labels
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster.kinds import CONFIG_MAP, CONTROLLER_REVISION, POD, SERVICE
from kohort.cluster.objects import (
    Kind,
    Object,
    annotations_of,
    find_condition,
    is_true,
    labels_of,
    name_of,
    uid_of,
)
from kohort.cluster.port import PatchType

P = "rbg.workloads.x-k8s.io/"
SHA1 = sha1(b"default/m1", usedforsecurity=False).hexdigest()
ADAPTER = {"scalingAdapter": {"enable": True}}
SIZES = {"engine": 2, "decoder": 3, "router": 1}
PODS = {
    "m1-engine-0-0": "m1-engine-0",
    "m1-engine-0-1": "m1-engine-0",
    "m1-engine-1-0": "m1-engine-1",
    "m1-engine-1-1": "m1-engine-1",
    **{f"m1-{name}": f"m1-{name}" for name in ("decoder-0", "decoder-1", "decoder-2", "router-0")},
}
VARIABLES = {
    "RBG_COMPONENT_INDEX": P + "component-id",
    "RBG_COMPONENT_NAME": P + "component-name",
    "RBG_GROUP_NAME": "m1",
    "RBG_ROLE_INDEX": P + "role-instance-index",
    "RBG_ROLE_INSTANCE_NAME": P + "role-instance-name",
}
OF_PAIRS = {
    "RBG_LWP_LEADER_ADDRESS": "$(RBG_ROLE_INSTANCE_NAME)-0.s-m1-engine.default",
    "RBG_LWP_WORKER_INDEX": P + "component-index",
    "RBG_LWP_GROUP_SIZE": P + "component-size",
}


def common(role: str) -> dict[str, str]:
    return {P + "group-name": "m1", P + "group-uid": SHA1, P + "role-name": role}


@pytest.fixture
async def m1(lab: GroupLab) -> GroupLab:
    """The laboratory, in which the group is ready."""
    roles = [leader_worker("engine"), standalone("decoder", 3, **ADAPTER)]
    roles.append(standalone("router", 1, **ADAPTER))
    made = {"apiVersion": labels.KIND.api_version, "kind": labels.KIND.name}
    metadata = {"name": "m1", "namespace": "default"}
    await lab.apply({**made, "metadata": metadata, "spec": {"roles": roles}})
    await lab.until(lambda: is_true(lab.group("m1"), "Ready"), 120)
    await lab.run(5)
    return lab


def stored(lab: GroupLab, kind: Kind) -> dict[str, Object]:
    """All objects of a kind, but those that belong to the cluster itself."""
    own = (obj for obj in lab.all(kind) if "m1" in name_of(obj))
    return {name_of(obj): obj for obj in own}


def owner_of(obj: Object) -> tuple[str, str, bool]:
    (owner,) = obj["metadata"]["ownerReferences"]
    return owner["kind"], owner["name"], owner.get("controller", False)


async def test_the_group_counts_its_instances(m1: GroupLab):
    found = m1.group("m1")
    assert found["status"]["roleStatuses"] == [
        {"name": role, "replicas": size, "readyReplicas": size, "updatedReplicas": size}
        for role, size in SIZES.items()
    ]
    said = find_condition(found, "Ready") or {}
    assert (said["status"], said["reason"]) == ("True", "AllRolesReady")
    assert annotations_of(found) == {P + "discovery-config-mode": "refine"}


async def test_one_revision_holds_all_roles_and_one_each_role(m1: GroupLab):
    found = stored(m1, CONTROLLER_REVISION)
    (own,) = (r for r in found.values() if owner_of(r)[0] == "RoleBasedGroup")
    digest = labels_of(own)[P + "group-revision"]
    assert (name_of(own), own["revision"]) == (f"m1-{digest}-1", 1)
    assert labels_of(own)[P + "group-name"] == "m1"
    others = sorted(owner_of(r) for r in found.values() if r is not own)
    assert others == sorted(("RoleInstanceSet", f"m1-{role}", True) for role in SIZES)


async def test_the_config_map_lists_every_instance(m1: GroupLab):
    (found,) = stored(m1, CONFIG_MAP).values()
    assert (name_of(found), owner_of(found)) == ("m1", ("RoleBasedGroup", "m1", True))
    config = yaml.safe_load(found["data"]["config.yaml"])
    assert config["group"] == {"name": "m1", "size": 3, "roles": ["engine", "decoder", "router"]}
    addresses = {
        role: [each["address"] for each in held["instances"]]
        for role, held in config["roles"].items()
    }
    assert addresses == {
        "engine": ["m1-engine-0-0.s-m1-engine", "m1-engine-1-0.s-m1-engine"],
        "decoder": [f"m1-decoder-{n}.s-m1-decoder" for n in range(3)],
        "router": ["m1-router-0.s-m1-router"],
    }


async def test_each_role_has_a_set(m1: GroupLab):
    found = stored(m1, labels.INSTANCE_SET)
    assert set(found) == {f"m1-{role}" for role in SIZES}
    for role, size in SIZES.items():
        held = found[f"m1-{role}"]
        kind = "LeaderWorkerSet" if role == "engine" else "PodTemplate"
        assert owner_of(held) == ("RoleBasedGroup", "m1", True)
        assert (held["spec"]["replicas"], held["status"]["readyReplicas"]) == (size, size)
        assert common(role).items() <= labels_of(held).items()
        assert labels_of(held)[P + "role-type"] == kind
        assert labels_of(held)[P + f"role-revision-{role}"]
        notes = annotations_of(held)
        assert notes[P + "role-size"] == str(size)
        assert notes[P + "role-instance-pattern"] == "Stateful"
        assert held["spec"]["selector"] == {"matchLabels": common(role)}
        strategy = {"type": "InPlaceIfPossible", "maxUnavailable": 1, "maxSurge": 0, "partition": 0}
        assert strategy.items() <= held["spec"]["updateStrategy"].items()


async def test_sets_hold_components_and_the_restart_policy_of_their_pattern(m1: GroupLab):
    found = stored(m1, labels.INSTANCE_SET)
    templates = {role: found[f"m1-{role}"]["spec"]["roleInstanceTemplate"] for role in SIZES}
    shown = {
        role: [(c["name"], c["size"], c.get("serviceName")) for c in held["components"]]
        for role, held in templates.items()
    }
    assert shown == {
        "engine": [("leader", 1, "s-m1-engine"), ("worker", 1, None)],
        "decoder": [("decoder", 1, "s-m1-decoder")],
        "router": [("router", 1, "s-m1-router")],
    }
    assert templates["engine"]["restartPolicyConfig"] == {
        "type": "RecreateRoleInstanceOnPodRestart",
        "baseDelaySeconds": 30,
        "maxDelaySeconds": 600,
    }
    assert templates["decoder"]["restartPolicyConfig"]["type"] == "None"


async def test_each_role_has_a_headless_service(m1: GroupLab):
    found = stored(m1, SERVICE)
    assert set(found) == {f"s-m1-{role}" for role in SIZES}
    for role in SIZES:
        spec = found[f"s-m1-{role}"]["spec"]
        leader = {P + "component-name": "leader"} if role == "engine" else {}
        assert (spec["clusterIP"], spec["publishNotReadyAddresses"]) == ("None", True)
        assert spec["selector"] == {P + "group-name": "m1", P + "role-name": role, **leader}
        assert owner_of(found[f"s-m1-{role}"]) == ("RoleInstanceSet", f"m1-{role}", False)


async def test_instances_belong_to_their_set_and_name_its_revision(m1: GroupLab):
    found = stored(m1, labels.INSTANCE)
    assert set(found) == {f"m1-{role}-{n}" for role, size in SIZES.items() for n in range(size)}
    sets = stored(m1, labels.INSTANCE_SET)
    for name, held in found.items():
        owner = name.rpartition("-")[0]
        assert owner_of(held) == ("RoleInstanceSet", owner, True)
        revision = labels_of(held)["controller-revision-hash"]
        assert revision == sets[owner]["status"]["updateRevision"]
        assert revision.startswith(f"{owner}-")
        assert is_true(held, "RoleInstanceReady")


async def test_pods_have_the_labels_gates_and_files_of_their_place(m1: GroupLab):
    found = stored(m1, POD)
    assert set(found) == set(PODS)
    for name, instance in PODS.items():
        marks, spec = labels_of(found[name]), found[name]["spec"]
        assert owner_of(found[name]) == ("RoleInstance", instance, True)
        role, ordinal = instance.split("-")[1:]
        assert common(role).items() <= marks.items()
        assert marks[P + "role-instance-name"] == instance
        assert marks[P + "role-instance-index"] == ordinal
        is_pair = role == "engine"
        index = name[-1]
        part = ("leader", "worker")[int(index)] if is_pair else role
        assert marks[P + "component-name"] == part
        assert marks[P + "component-id"] == "0"
        assert marks[P + "component-size"] == ("2" if is_pair else "1")
        assert marks.get(P + "component-index") == (index if is_pair else None)
        gates = [gate["conditionType"] for gate in spec["readinessGates"]]
        assert gates == ["InPlaceUpdateReady", "InstancePodReady"]
        mounts = [each["mountPath"] for each in spec["containers"][0]["volumeMounts"]]
        assert "/etc/rbg" in mounts
        has_name = part != "worker"
        subdomain = f"s-m1-{role}" if has_name else None
        assert (spec.get("subdomain"), spec.get("hostname")) == (
            subdomain,
            name if has_name else None,
        )


async def test_containers_have_upstreams_variables(m1: GroupLab):
    for name in PODS:
        (container,) = stored(m1, POD)[name]["spec"]["containers"]
        role = name.split("-")[1]
        told = {each["name"]: _value_of(each) for each in container["env"]}
        own = {key: value for key, value in told.items() if key.startswith("RBG_")}
        wanted = {**VARIABLES, "RBG_ROLE_NAME": role, **(OF_PAIRS if role == "engine" else {})}
        assert own == wanted


def _value_of(variable: Object) -> str:
    """The value, or the label that it comes from."""
    if "value" in variable:
        return str(variable["value"])
    path: str = variable["valueFrom"]["fieldRef"]["fieldPath"]
    return path.removeprefix("metadata.labels['").removesuffix("']")


async def test_roles_that_are_scaled_have_an_adapter(m1: GroupLab):
    found = stored(m1, labels.ADAPTER)
    assert set(found) == {"m1-decoder", "m1-router"}
    for role in ("decoder", "router"):
        held = found[f"m1-{role}"]
        target = {"name": "m1", "role": role}
        assert held["spec"] == {"replicas": SIZES[role], "scaleTargetRef": target}
        assert (held["status"]["phase"], held["status"]["replicas"]) == ("Bound", SIZES[role])
        selected = dict(pair.split("=") for pair in held["status"]["selector"].split(","))
        assert selected == common(role)


async def test_an_autoscaler_raises_a_role_and_no_other_pod_is_touched(m1: GroupLab):
    pods = {name: uid_of(pod) for name, pod in stored(m1, POD).items()}
    revisions = set(stored(m1, CONTROLLER_REVISION))
    target = m1.api.target(labels.ADAPTER, "default", "m1-decoder", "scale")
    body = {"spec": {"replicas": 5}}
    await m1.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="autoscaler"))
    await m1.until(lambda: is_true(m1.group("m1"), "Ready") and len(stored(m1, POD)) == 10, 120)
    assert m1.group("m1")["spec"]["roles"][1]["replicas"] == 5
    assert stored(m1, labels.INSTANCE_SET)["m1-decoder"]["spec"]["replicas"] == 5
    made = {name: uid_of(pod) for name, pod in stored(m1, POD).items()}
    assert set(made) - set(pods) == {"m1-decoder-3", "m1-decoder-4"}
    assert pods.items() <= made.items()
    assert set(stored(m1, CONTROLLER_REVISION)) == revisions
    config = yaml.safe_load(stored(m1, CONFIG_MAP)["m1"]["data"]["config.yaml"])
    assert config["roles"]["decoder"]["size"] == len(config["roles"]["decoder"]["instances"]) == 5
