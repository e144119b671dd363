"""
RoleBasedGroup on a real control plane: its life, images changed in running pods, both versions.

Three of upstream's examples are tried, one for each kind of object; ``make test-real
ARGS=--all-samples`` tries all of them. Where an example names a gang scheduler, which the plane
does not have, the usual scheduler places its pods.
"""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from group_objects import (
    DECODE,
    OLD,
    OLD_RICH,
    PREFILL,
    RICH,
    ROUTER,
    make_group,
    make_sets,
)
from operator_processes import QUICK_LEASE, Controller, controllers, eventually, install

from conftest import Site, open_site
from group_samples import (
    DEVICE,
    FOREIGN,
    JUDGED,
    claim,
    list_group_samples,
    list_missing_claims,
    list_missing_profiles,
)

pytestmark = pytest.mark.real
APIS = "lws,rbg"
KIND = "rolebasedgroups.workloads.x-k8s.io"
OLD_KIND = "rolebasedgroups.v1alpha1.workloads.x-k8s.io"
VERSIONS = (KIND, OLD_KIND)
SET_VERSIONS = (
    "rolebasedgroupsets.workloads.x-k8s.io",
    "rolebasedgroupsets.v1alpha1.workloads.x-k8s.io",
)
NAMES = ("llama", "former")
ADAPTER = "rolebasedgroupscalingadapters.workloads.x-k8s.io"
MODE = "rbg.workloads.x-k8s.io/discovery-config-mode"
INDEX = "rbg.workloads.x-k8s.io/role-instance-index"
OWNED = (
    *("pods", "services", "configmaps", "controllerrevisions"),
    *("roleinstancesets", "roleinstances", "rolebasedgroupscalingadapters"),
)
CHOSEN = (
    "basic/rbg/patterns/custom-components-ordered-discovery.yaml",
    "deprecated/v1alpha1/basics/rbg-with-lws-workload.yaml",
    "basic/rbgs/rbgs-base.yaml",
)


class Hand:
    """A user with kubectl, in a namespace that goes with the test."""

    def __init__(self, site: Site, namespace: str) -> None:
        self.namespace, self.kubectl = namespace, site.plane.kubectl
        self.kubectl("create", "namespace", namespace)
        eventually("its ConfigMap is there", self.list_names)
        self._before = self.list_names()

    def __call__(self, *words: str, feed: str = "") -> str:
        return str(self.kubectl("-n", self.namespace, *words, feed=feed))

    def apply(self, *objects: dict[str, Any]) -> None:
        self("apply", "--server-side", "-f", "-", feed=yaml.safe_dump_all(objects))

    def list_names(self) -> set[str]:
        return set(self("get", ",".join(OWNED), "-o", "name").split())

    def list_left(self) -> set[str]:
        return self.list_names() - self._before

    def read(self, kind: str, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self("get", kind, name, "-o", "json"))
        return found

    def pods(self) -> dict[str, dict[str, Any]]:
        found = json.loads(self("get", "pods", "-o", "json"))["items"]
        return {pod["metadata"]["name"]: pod for pod in found}

    def images(self) -> set[str]:
        return {pod["spec"]["containers"][0]["image"] for pod in self.pods().values()}

    def set_images(self, image: str, *paths: str) -> None:
        patch = [
            {
                "op": "replace",
                "path": f"/spec/roles/{path}/template/spec/containers/0/image",
                "value": image,
            }
            for path in paths
        ]
        self("patch", KIND, "llama", "--type=json", "-p", json.dumps(patch))

    def is_ready(self, kind: str = KIND, name: str = "llama") -> bool:
        obj = self.read(kind, name)
        status = obj.get("status") or {}
        told = {c["type"]: c["status"] for c in status.get("conditions") or ()}
        is_seen = status.get("observedGeneration") == obj["metadata"]["generation"]
        return is_seen and told.get("Ready") == "True"

    def is_updated(self) -> bool:
        counts = self.read(KIND, "llama")["status"]["roleStatuses"]
        return self.is_ready() and all(c["updatedReplicas"] == c["replicas"] for c in counts)

    def close(self) -> None:
        self.kubectl("delete", "namespace", self.namespace, "--wait=false")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A plane of its own: what is written to the other one is judged as a whole."""
    with open_site(tmp_path_factory.mktemp("groups") / "plane") as found:
        yield found


@pytest.fixture(scope="module")
def operator(site: Site) -> Iterator[Controller]:
    kubeconfig = install(site.plane, site.service.url, "--apis", APIS)
    words = (*QUICK_LEASE, f"--apis={APIS}")
    with controllers(site.plane, site.service, kubeconfig, words=words) as (one,):
        yield one


@pytest.fixture
def hand(site: Site, operator: Controller, request: pytest.FixtureRequest) -> Iterator[Hand]:
    found = Hand(site, f"groups-{abs(hash(request.node.name)) % 10**8}")
    yield found
    found.close()


def test_a_group_becomes_ready_is_scaled_through_its_adapter_and_goes_whole(
    hand: Hand, operator: Controller
):
    hand.apply(make_group(PREFILL, DECODE, ROUTER))
    eventually("it is ready", hand.is_ready, operator.log.read_text)
    names = {"llama-prefill-0-0", "llama-prefill-0-1", "llama-decode-0", "llama-decode-1"}
    assert set(hand.pods()) == {*names, "llama-router-0"}
    # The webhook wrote it with the create, so the operator never patches a new group.
    assert hand.read(KIND, "llama")["metadata"]["annotations"] == {MODE: "refine"}
    before = {name: pod["metadata"]["uid"] for name, pod in hand.pods().items()}
    hand("scale", f"{ADAPTER}/llama-decode", "--replicas=3")

    def is_scaled() -> bool:
        status = hand.read(ADAPTER, "llama-decode").get("status") or {}
        return status.get("replicas") == status.get("readyReplicas") == 3

    eventually("it is scaled", is_scaled, operator.log.read_text)
    assert hand.read(KIND, "llama")["spec"]["roles"][1]["replicas"] == 3
    assert before.items() <= {n: p["metadata"]["uid"] for n, p in hand.pods().items()}.items()
    scale = hand.kubectl("get", "--raw", f"{find_path(hand)}/llama-decode/scale")
    assert "rbg.workloads.x-k8s.io/role-name=decode" in json.loads(scale)["status"]["selector"]
    hand("delete", KIND, "llama", "--wait=false")
    eventually("nothing is left", lambda: not hand.list_left(), lambda: str(hand.list_left()))


def find_path(hand: Hand) -> str:
    group, plural = "workloads.x-k8s.io/v1alpha2", ADAPTER.split(".", maxsplit=1)[0]
    return f"/apis/{group}/namespaces/{hand.namespace}/{plural}"


def test_images_change_in_running_pods_though_the_operator_is_killed(
    hand: Hand, operator: Controller
):
    """Uid, address and node stay, and only the container restarts."""
    hand.apply(make_group(PREFILL, DECODE))
    eventually("it is ready", hand.is_ready, operator.log.read_text)

    def facts() -> dict[str, tuple[str, str, str]]:
        return {
            name: (p["metadata"]["uid"], p["spec"]["nodeName"], p["status"]["podIP"])
            for name, p in hand.pods().items()
        }

    before = facts()
    hand.set_images("engine:2", "0/leaderWorkerPattern", "1/standalonePattern")
    eventually("it begins", lambda: "engine:2" in hand.images(), operator.log.read_text)
    operator.kill()
    operator.revive()
    operator.wait_until_ready()
    eventually("all have it", lambda: hand.images() == {"engine:2"}, operator.log.read_text)
    eventually("it is over", hand.is_updated, operator.log.read_text)
    assert facts() == before
    statuses = [pod["status"]["containerStatuses"][0] for pod in hand.pods().values()]
    assert {status["image"] for status in statuses} == {"engine:2"}
    indexes = {n: p["metadata"]["labels"][INDEX] for n, p in hand.pods().items()}
    assert indexes["llama-decode-1"] == "1"


def test_a_group_of_the_former_version_is_converted_by_the_operator(
    hand: Hand, operator: Controller
):
    hand.apply(OLD)
    eventually("it is ready", lambda: hand.is_ready(name="former"), operator.log.read_text)
    assert set(hand.pods()) == {"former-engine-0-0", "former-engine-0-1"}
    assert hand.read(KIND, "former")["spec"]["roles"][0]["leaderWorkerPattern"]["size"] == 2
    newer = [{"op": "add", "path": "/spec/roles/0/podManagementPolicy", "value": "OrderedReady"}]
    hand("patch", KIND, "former", "--type=json", "-p", json.dumps(newer))
    old = hand.read(OLD_KIND, "former")
    assert old["spec"]["roles"][0]["leaderWorkerSet"] == {"size": 2}
    # A patch, since the operator may write the status between a read and a replace.
    more = [{"op": "replace", "path": "/spec/roles/0/replicas", "value": 2}]
    hand("patch", OLD_KIND, "former", "--type=json", "-p", json.dumps(more))
    (role,) = hand.read(KIND, "former")["spec"]["roles"]
    assert (role["replicas"], role["podManagementPolicy"]) == (2, "OrderedReady")
    eventually("it has grown", lambda: len(hand.pods()) == 4, operator.log.read_text)


def test_no_field_is_lost_on_the_way_through_the_other_version(hand: Hand, operator: Controller):
    """A patch in either version converts the stored object there and back; sets, too."""
    hand.apply(make_group(RICH, DECODE), OLD_RICH, *make_sets())
    eventually("it is ready", hand.is_ready, operator.log.read_text)

    def read_all() -> list[Any]:
        found = [hand.read(kind, name) for kind, name in itertools.product(VERSIONS, NAMES)]
        found += [hand.read(kind, name) for kind, name in itertools.product(SET_VERSIONS, NAMES)]
        return [(obj["spec"], obj["metadata"].get("annotations")) for obj in found]

    before = read_all()
    (role,) = before[3][0]["roles"]
    assert before[3][0]["podGroupPolicy"] == OLD_RICH["spec"]["podGroupPolicy"]
    assert before[3][0]["coordination"][0]["strategy"]["scaling"]["progression"] == "OrderReady"
    assert role["restartPolicy"] == "RecreateRoleInstanceOnPodRestart"
    newer_set, former_set = before[4][0], before[7][0]
    assert newer_set["groupTemplate"]["spec"]["roles"][0]["podManagementPolicy"] == "OrderedReady"
    assert former_set["template"]["podGroupPolicy"] == OLD_RICH["spec"]["podGroupPolicy"]
    for (new_kind, old_kind), name in itertools.product((VERSIONS, SET_VERSIONS), NAMES):
        hand("label", old_kind, name, "seen-in=v1alpha1")
        hand("label", new_kind, name, "seen-by=v1alpha2")
    assert read_all() == before


def test_roles_go_back_together_when_an_update_of_one_fails(hand: Hand, operator: Controller):
    rolling = {"maxSkew": 1, "versionsTogether": {"rollBackAfterSeconds": 5}}
    rule = {"name": "pd", "roles": ["prefill", "decode"], "strategy": {"rollingUpdate": rolling}}
    policy = {
        "apiVersion": "workloads.x-k8s.io/v1alpha2",
        "kind": "CoordinatedPolicy",
        "metadata": {"name": "llama"},
        "spec": {"policies": [rule]},
    }
    # With new pods: a container of the plane that waits for an image takes no former one.
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"type": "RecreatePod"}}
    hand.apply(policy, make_group(PREFILL, {**DECODE, "rolloutStrategy": strategy}))
    eventually("it is ready", hand.is_ready, operator.log.read_text)
    broken = {"metadata": {"annotations": {"sim.kohort.dev/never-ready": "true"}}}
    path = "/spec/roles/1/standalonePattern/template/metadata"
    patch = [{"op": "add", "path": path, "value": broken["metadata"]}]
    hand("patch", KIND, "llama", "--type=json", "-p", json.dumps(patch))
    hand.set_images("engine:2", "0/leaderWorkerPattern", "1/standalonePattern")

    def went_back() -> bool:
        notes = hand.read(KIND, "llama")["metadata"].get("annotations") or {}
        return "roles prefill and decode go back" in notes.get("kohort.dev/rolled-back", "")

    eventually("it goes back", went_back, operator.log.read_text)
    eventually("all serve", lambda: hand.is_updated() and hand.images() == {"engine:1"})


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "source" in metafunc.fixturenames:
        is_all = metafunc.config.getoption("all_samples", default=False)
        found = [s for s in list_group_samples() if is_all or s in CHOSEN]
        metafunc.parametrize("source", found)


def prepare(hand: Hand, objects: list[dict[str, Any]]) -> None:
    """Devices, claims with volumes, and profiles that an example names and does not bring."""
    nodes = hand.kubectl("get", "nodes", "-o", "name").split() if DEVICE in str(objects) else []
    body = json.dumps({"status": {"capacity": {DEVICE: "16"}, "allocatable": {DEVICE: "16"}}})
    for node in nodes:
        hand.kubectl("patch", node, "--subresource=status", "--type=merge", "-p", body)
    if profiles := list_missing_profiles(objects):
        hand.apply(*profiles)
    held = [o for o in objects if o["kind"] == "PersistentVolumeClaim"]
    missing = [claim(name) for name in list_missing_claims(objects)]
    for own in (*held, *missing):
        hand.apply(make_volume(hand, own), bind(hand, own))


def make_volume(hand: Hand, own: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{hand.namespace}-{own['metadata']['name']}"},
        "spec": {
            "capacity": own["spec"]["resources"]["requests"],
            "accessModes": own["spec"]["accessModes"],
            "hostPath": {"path": "/mnt/models"},
            "storageClassName": "",
        },
    }


def bind(hand: Hand, own: dict[str, Any]) -> dict[str, Any]:
    metadata, volume = {"name": own["metadata"]["name"]}, make_volume(hand, own)["metadata"]["name"]
    spec = {**own["spec"], "storageClassName": "", "volumeName": volume}
    return {**own, "metadata": metadata, "spec": spec}


def use_usual_scheduler(obj: Any) -> Any:
    if isinstance(obj, list):
        return [use_usual_scheduler(each) for each in obj]
    if not isinstance(obj, dict):
        return obj
    return {k: use_usual_scheduler(v) for k, v in obj.items() if k != "schedulerName"}


def test_a_sample_of_upstream_becomes_ready(hand: Hand, operator: Controller, source: str):
    objects = list_group_samples()[source]
    prepare(hand, objects)
    beside = (*FOREIGN, "PersistentVolumeClaim")
    made = [use_usual_scheduler(o) for o in objects if o["kind"] not in beside]
    for obj in made:
        obj["metadata"].pop("namespace", None)
    # Examples have fields that the definitions do not know, which the server leaves out.
    hand("apply", "--validate=warn", "-f", "-", feed=yaml.safe_dump_all(made))
    for obj in (each for each in made if each["kind"] in JUDGED):
        kind = f"{obj['kind'].lower()}s.workloads.x-k8s.io"
        name = obj["metadata"]["name"]
        eventually(
            f"{name} is ready",
            lambda k=kind, n=name: hand.is_ready(k, n),
            lambda k=kind: hand("get", k, "-o", "yaml") + hand("get", "pods", "-o", "wide"),
        )


def test_nothing_was_done_that_should_not(site: Site, operator: Controller):
    assert not site.audit.read_breaches()
