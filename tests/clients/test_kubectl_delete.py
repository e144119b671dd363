"""kubectl takes objects away: with what they own, without it, when others agree."""

import json

import pytest
from client_manifests import config_map, deployment, eventually, pod

pytestmark = pytest.mark.clients


def owned(apply, k) -> str:
    """A Deployment that runs; the answer is the name of its ReplicaSet."""
    apply(deployment(replicas=1))
    k("rollout", "status", "deploy/web", "--timeout=60s")
    return k("get", "rs", "-o=name").stdout.strip()


def is_gone(k, what: str) -> bool:
    return k("get", what, "--ignore-not-found", "-o=name").stdout == ""


def finalized(name: str = "settings") -> dict:
    held = config_map(name)
    held["metadata"]["finalizers"] = ["test.kohort.dev/hold"]
    return held


def test_delete_in_the_background_takes_what_it_owns_later(apply, k):
    replica_set = owned(apply, k)
    assert k("delete", "deploy/web").stdout.startswith('deployment.apps "web" deleted')
    k("wait", "--for=delete", replica_set, "pod", "-l=app=web", "--timeout=60s", check=False)
    eventually(lambda: is_gone(k, "rs,pods"))


def test_delete_in_the_foreground_takes_what_it_owns_first(apply, k):
    owned(apply, k)
    k("delete", "deploy/web", "--cascade=foreground", "--timeout=60s")
    assert is_gone(k, "rs,pods")


def test_delete_as_orphan_leaves_what_it_owns(apply, k, read):
    replica_set = owned(apply, k)
    k("delete", "deploy/web", "--cascade=orphan", "--timeout=60s")
    assert read(replica_set, "{.metadata.ownerReferences}") == ""
    assert read(replica_set, "{.status.readyReplicas}") == "1"


def test_an_object_with_a_finalizer_stays_until_it_is_taken_off(apply, k, read):
    apply(finalized())
    k("delete", "cm/settings", "--wait=false")
    assert read("cm/settings", "{.metadata.deletionTimestamp}")
    done = k("delete", "cm/settings", "--timeout=200ms", check=False)
    assert "timed out waiting for the condition" in done.stderr
    patch = '[{"op":"remove","path":"/metadata/finalizers"}]'
    k("patch", "cm/settings", "--type=json", "-p", patch)
    assert is_gone(k, "cm/settings")


def test_delete_waits_for_the_end(apply, k):
    apply(pod())
    k("wait", "--for=condition=Ready", "pod/one", "--timeout=60s")
    k("delete", "pod/one")
    assert is_gone(k, "pod/one")


def test_delete_by_label_takes_only_those(apply, k):
    marked = config_map("a")
    marked["metadata"]["labels"] = {"old": "yes"}
    apply(marked, config_map("b"))
    assert k("delete", "cm", "-l=old=yes").stdout.startswith('configmap "a" deleted')
    assert is_gone(k, "cm/a")
    assert not is_gone(k, "cm/b")


def test_delete_all_of_a_kind(apply, k):
    apply(config_map("a"), config_map("b"))
    told = k("delete", "cm", "--all").stdout
    assert told.count("deleted") == 3, "the namespace has one of its own"
    assert is_gone(k, "cm/a")
    # That one is made again.
    eventually(lambda: k("get", "cm", "-o=name").stdout == "configmap/kube-root-ca.crt\n")


def test_delete_by_force_does_not_wait_for_the_node(apply, k):
    stubborn = pod(terminationGracePeriodSeconds=3600)
    stubborn["metadata"]["annotations"] = {"sim.kohort.dev/ignore-stop": "true"}
    apply(stubborn)
    k("wait", "--for=condition=Ready", "pod/one", "--timeout=60s")
    k("delete", "pod/one", "--wait=false")
    done = k("delete", "pod/one", "--grace-period=0", "--force")
    assert 'pod "one" force deleted' in done.stdout
    assert is_gone(k, "pod/one")


def test_delete_with_a_grace_period_is_written_on_the_pod(apply, k):
    stubborn = pod()
    stubborn["metadata"]["annotations"] = {"sim.kohort.dev/ignore-stop": "true"}
    apply(stubborn)
    k("wait", "--for=condition=Ready", "pod/one", "--timeout=60s")
    k("delete", "pod/one", "--grace-period=900", "--wait=false")
    told = json.loads(k("get", "pod/one", "-o=json").stdout)
    assert told["metadata"]["deletionGracePeriodSeconds"] == 900
    assert k("get", "pod/one", "--no-headers").stdout.split()[2] == "Terminating"
    k("delete", "pod/one", "--grace-period=0", "--force")


def test_delete_of_what_is_not_there_is_an_error_unless_allowed(k):
    done = k("delete", "cm/ghost", check=False)
    assert done.returncode == 1
    assert done.stderr == 'Error from server (NotFound): configmaps "ghost" not found\n'
    k("delete", "cm/ghost", "--ignore-not-found")


def test_delete_of_a_namespace_waits_for_finalizers_in_it(apply, k, kubectl, kohort_namespace):
    apply(finalized())
    kubectl("delete", "ns", kohort_namespace, "--wait=false")
    path = "{.status.conditions[?(@.type=='NamespaceFinalizersRemaining')].message}"
    words = ("get", "ns", kohort_namespace, f"-o=jsonpath={path}")
    told = eventually(lambda: kubectl(*words).stdout)
    assert "test.kohort.dev/hold in 1 resource instances" in told
    k("patch", "cm/settings", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    kubectl("wait", "--for=delete", f"ns/{kohort_namespace}", "--timeout=60s")
    kubectl("create", "ns", kohort_namespace)
