"""Gangs for Volcano on a real control plane that knows its kinds; no Volcano runs there."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cluster_driver import make_lws
from operator_processes import PATIENT_LEASE, Service, controllers, eventually, install

from control_plane import ControlPlane, real_plane
from kohort.cluster.objects import Object, name_of, uid_of

pytestmark = pytest.mark.real
SHARED = os.environ.get("KOHORT_SHARED")
GROUPS = "podgroups.scheduling.volcano.sh"
KINDS = ("scheduling.volcano.sh_podgroups", "topology.volcano.sh_hypernodes")
HARD = {"mode": "hard", "highestTierAllowed": 1}


@dataclass(frozen=True, slots=True)
class Cluster:
    """A control plane whose operator makes gangs."""

    plane: ControlPlane

    def all(self, kind: str) -> list[Object]:
        found: list[Object] = json.loads(self.plane.kubectl("get", kind, "-o", "json"))["items"]
        return sorted(found, key=name_of)

    def apply(self, obj: Object) -> str:
        return self.plane.kubectl("apply", "-f", "-", feed=json.dumps(obj))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if SHARED is None:
        pytest.skip("KOHORT_SHARED is not set")
    folder = tmp_path_factory.mktemp("volcano") / "plane"
    with real_plane(folder) as plane:
        for kind in KINDS:
            path = Path(SHARED, "data/volcano", f"{kind}.yaml")
            plane.kubectl("apply", "--server-side", "-f", str(path))
        service = Service()
        account = install(plane, service.url, "--gang", "volcano")
        words = (*PATIENT_LEASE, "--gang", "volcano")
        with controllers(plane, service, account, words=words):
            yield Cluster(plane)
        service.close()


def owners(groups: list[Object]) -> set[str]:
    return {group["metadata"]["ownerReferences"][0]["uid"] for group in groups}


def leaders(cluster: Cluster) -> set[str]:
    mark = "leaderworkerset.sigs.k8s.io/worker-index"
    return {uid_of(p) for p in cluster.all("pods") if p["metadata"]["labels"].get(mark) == "0"}


def test_pod_groups_appear_survive_their_leaders_and_go_with_their_groups(cluster: Cluster):
    """lws#1054: the pod group of a leader that is made again is its own."""
    lws = make_lws("gang", groups=2, size=2)
    lws["spec"]["networkTopology"] = HARD
    # The scheduler of this control plane answers to any name, and knows no gangs.
    pod = lws["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    pod["nodeSelector"] = {"example.com/nowhere": "yes"}
    cluster.apply(lws)
    eventually("all pods wait", lambda: len(cluster.all("pods")) == 4)
    eventually("two pod groups", lambda: len(cluster.all(GROUPS)) == 2)
    assert [g["spec"]["networkTopology"] for g in cluster.all(GROUPS)] == [HARD, HARD]
    assert {pod["spec"]["schedulerName"] for pod in cluster.all("pods")} == {"volcano"}
    before = owners(cluster.all(GROUPS))
    cluster.plane.kubectl("delete", "pod", "gang-0")
    eventually("a new leader", lambda: len(leaders(cluster) - before) == 1)
    eventually("its own", lambda: owners(cluster.all(GROUPS)) == leaders(cluster))
    change = json.dumps({"spec": {"networkTopology": {"highestTierAllowed": 2}}})
    cluster.plane.kubectl("patch", "lws", "gang", "--type=merge", "-p", change)
    eventually(
        "the new wish",
        lambda: (
            {g["spec"]["networkTopology"]["highestTierAllowed"] for g in cluster.all(GROUPS)} == {2}
        ),
    )
    cluster.plane.kubectl("delete", "lws", "gang")
    eventually("all are gone", lambda: not cluster.all(GROUPS))
