"""kubectl leads workloads from one size and revision to another, and waits for them."""

import re

import pytest
from client_manifests import config_map, deployment, eventually, pod, stateful_set, widget

pytestmark = pytest.mark.clients

IMAGE = "{.spec.template.spec.containers[0].image}"
MADE = {"deploy/web": deployment, "sts/db": stateful_set}
BOTH = pytest.mark.parametrize("what", MADE)


@pytest.fixture
def status(k):
    """Wait until a workload is rolled out; the answer is what kubectl said."""
    return lambda what: k("rollout", "status", what, "--timeout=60s").stdout


@BOTH
def test_rollout_status_ends_when_all_pods_are_of_the_new_revision(apply, k, status, what):
    apply(MADE[what]())
    status(what)
    k("set", "image", what, "main=img:2")
    last = status(what).splitlines()[-1]
    assert re.search("successfully rolled out|roll out complete|rolling update complete", last)
    images = k("get", "pods", "-o=jsonpath={.items[*].spec.containers[0].image}").stdout
    assert set(images.split()) == {"img:2"}


@BOTH
def test_rollout_history_lists_revisions_and_shows_one(apply, k, status, what):
    apply(MADE[what]())
    status(what)
    k("set", "image", what, "main=img:2")
    status(what)
    told = k("rollout", "history", what).stdout
    assert re.findall(r"^(\d+) ", told, re.M) == ["1", "2"]
    assert "img:1" in k("rollout", "history", what, "--revision=1").stdout


@BOTH
def test_rollout_undo_brings_the_last_revision_back(apply, k, read, status, what):
    apply(MADE[what]())
    status(what)
    k("set", "image", what, "main=img:2")
    status(what)
    assert "rolled back" in k("rollout", "undo", what).stdout
    status(what)
    assert read(what, IMAGE) == "img:1"
    assert re.findall(r"^(\d+) ", k("rollout", "history", what).stdout, re.M) == ["2", "3"]


@BOTH
def test_rollout_undo_brings_a_chosen_revision_back(apply, k, read, status, what):
    apply(MADE[what](replicas=1))
    status(what)
    for image in ("img:2", "img:3"):
        k("set", "image", what, f"main={image}")
        status(what)
    k("rollout", "undo", what, "--to-revision=1")
    status(what)
    assert read(what, IMAGE) == "img:1"


@BOTH
def test_rollout_restart_replaces_every_pod(apply, k, status, what):
    apply(MADE[what]())
    status(what)
    uids = "-o=jsonpath={.items[*].metadata.uid}"
    before = k("get", "pods", uids).stdout.split()
    assert "restarted" in k("rollout", "restart", what).stdout
    status(what)
    after = k("get", "pods", "--field-selector=status.phase=Running", uids).stdout.split()
    assert not set(before) & set(after)


def test_a_paused_deployment_waits_until_it_is_resumed(apply, k, read, status):
    apply(deployment(replicas=1))
    status("deploy/web")
    k("rollout", "pause", "deploy/web")
    k("set", "image", "deploy/web", "main=img:2")
    assert len(k("get", "rs", "-o=name").stdout.split()) == 1
    k("rollout", "resume", "deploy/web")
    status("deploy/web")
    assert read("pods", "{.items[?(@.status.phase=='Running')].spec.containers[0].image}")


def test_a_rollout_that_makes_no_progress_is_reported(apply, k):
    stuck = deployment(replicas=1)
    stuck["spec"]["progressDeadlineSeconds"] = 1
    stuck["spec"]["template"]["spec"]["nodeSelector"] = {"planet": "mars"}
    apply(stuck)
    done = k("rollout", "status", "deploy/web", "--timeout=60s", check=False)
    assert done.returncode == 1
    assert 'deployment "web" exceeded its progress deadline' in done.stderr


@BOTH
def test_scale_changes_the_number_of_pods(apply, k, read, status, what):
    apply(MADE[what](replicas=1))
    assert "scaled" in k("scale", what, "--replicas=3").stdout
    status(what)
    assert read(what, "{.status.readyReplicas}") == "3"
    k("scale", what, "--replicas=0")
    eventually(lambda: k("get", "pods", "-o=name").stdout == "")


def test_scale_of_a_custom_object_goes_through_its_subresource(apply, k, read, widgets):
    apply(widget())
    assert k("scale", "widget/w", "--replicas=5").stdout.endswith("/w scaled\n")
    assert read("widget/w", "{.spec.replicas}") == "5"


def test_scale_with_a_wrong_expectation_changes_nothing(apply, k, read):
    apply(deployment(replicas=1))
    done = k("scale", "deploy/web", "--current-replicas=7", "--replicas=2", check=False)
    assert done.returncode == 1
    assert "Expected replicas to be 7, was 1" in done.stderr
    assert read("deploy/web", "{.spec.replicas}") == "1"


def test_a_stateful_set_starts_its_pods_in_order(apply, k, status):
    apply(stateful_set(replicas=3))
    status("sts/db")
    path = "{range .items[*]}{.metadata.name} {end}"
    ordered = k("get", "pods", "--sort-by=.status.startTime", f"-o=jsonpath={path}").stdout
    assert sorted(ordered.split()) == ["db-0", "db-1", "db-2"]
    messages = [
        line.split()[4:7]
        for line in k("events", "--for=sts/db", "--no-headers").stdout.splitlines()
    ]
    assert messages == [["Create", "Pod", f"db-{n}"] for n in range(3)]


class TestWait:
    def test_wait_for_a_condition(self, apply, k):
        apply(pod())
        done = k("wait", "--for=condition=Ready", "pod/one", "--timeout=60s")
        assert done.stdout == "pod/one condition met\n"

    def test_wait_for_the_condition_of_a_custom_object(self, apply, k, widgets):
        apply(widget())
        waiting = k("wait", "--for=condition=Painted", "widget/w", "--timeout=100ms", check=False)
        assert "timed out waiting for the condition on widgets/w" in waiting.stderr
        patch = '{"status":{"conditions":[{"type":"Painted","status":"True"}]}}'
        k("patch", "widget/w", "--subresource=status", "--type=merge", "-p", patch)
        assert "condition met" in k("wait", "--for=condition=Painted", "widget/w").stdout

    def test_wait_for_a_field(self, apply, k):
        apply(deployment(replicas=2))
        done = k("wait", "--for=jsonpath={.status.readyReplicas}=2", "deploy/web", "--timeout=60s")
        assert done.stdout == "deployment.apps/web condition met\n"

    def test_wait_for_the_end(self, apply, k, kubectl, kohort_namespace):
        held = config_map()
        held["metadata"]["finalizers"] = ["test.kohort.dev/hold"]
        apply(held)
        words = ("wait", "--for=delete", "cm/settings")
        with kubectl.start("-n", kohort_namespace, *words) as waiting:
            k("delete", "cm/settings", "--wait=false")
            assert waiting.poll() is None
            k("patch", "cm/settings", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
            said = waiting.communicate(timeout=60)[0]
        # It says nothing if it was slow to start and found nothing.
        assert waiting.returncode == 0
        assert said in ("", "configmap/settings condition met\n")

    def test_wait_for_a_creation(self, apply, k, kubectl, kohort_namespace):
        words = ("wait", "--for=create", "cm/settings")
        with kubectl.start("-n", kohort_namespace, *words) as waiting:
            apply(config_map())
            assert waiting.communicate(timeout=60)[0] == "configmap/settings condition met\n"
