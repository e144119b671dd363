"""kubectl tells the story of an object: describe, events, logs."""

import re

import pytest
from client_manifests import deployment, eventually, pod, stateful_set, widget, write_yaml

pytestmark = pytest.mark.clients

READY = ("wait", "--for=condition=Ready", "--timeout=60s")


def reasons_in(described: str) -> list[str]:
    """The reasons in the table of events, in its order."""
    _, _, table = described.partition("Events:")
    return [line.split()[1] for line in table.splitlines()[3:]]


def test_describe_tells_how_a_pod_came_to_run(apply, k):
    apply(pod())
    k(*READY, "pod/one")
    told = k("describe", "pod/one").stdout
    assert re.search(r"^Node: +gpu-\d+/10\.", told, re.M)
    assert re.search(r"^ +State: +Running$", told, re.M)
    assert re.search(r"^QoS Class: +BestEffort$", told, re.M)
    assert reasons_in(told) == ["Scheduled", "Pulling", "Pulled", "Created", "Started"]
    assert " default-scheduler " in told


def test_describe_tells_why_a_pod_waits(apply, k):
    apply(pod(nodeSelector={"planet": "mars"}))
    condition = "--for=jsonpath={.status.conditions[0].reason}=Unschedulable"
    k("wait", condition, "pod/one", "--timeout=60s")
    told = eventually(lambda: [t for t in [k("describe", "pod/one").stdout] if "Failed" in t])[0]
    assert reasons_in(told) == ["FailedScheduling"]
    assert "0/8 nodes are available: 8 node(s) didn't match" in told


def test_describe_shows_what_a_node_holds(apply, k):
    apply(pod(nodeName="gpu-03"))
    k(*READY, "pod/one")
    told = k("describe", "node", "gpu-03").stdout
    assert re.search(r"nvidia.com/gpu: +8", told)
    assert re.search(r"Ready +True ", told)
    assert re.search(r"^  \S+ +one +0 \(0%\)", told, re.M)


def test_describe_shows_the_replica_sets_of_a_deployment(apply, k):
    apply(deployment(replicas=2))
    k("rollout", "status", "deploy/web", "--timeout=60s")
    told = k("describe", "deploy/web").stdout
    assert "2 desired | 2 updated | 2 total | 2 available | 0 unavailable" in told
    assert re.search(r"^NewReplicaSet: +web-\S+ \(2/2 replicas created\)", told, re.M)
    assert reasons_in(told) == ["ScalingReplicaSet"]
    assert "deployment-controller" in told


def test_describe_shows_the_pods_of_a_stateful_set(apply, k):
    apply(stateful_set(replicas=2))
    k("rollout", "status", "sts/db", "--timeout=60s")
    told = k("describe", "sts/db").stdout
    assert "2 Running / 0 Waiting / 0 Succeeded / 0 Failed" in told
    assert "Create Pod db-0 in StatefulSet db successful" in told
    assert reasons_in(told) == ["SuccessfulCreate", "SuccessfulCreate"]
    assert "statefulset-controller" in told


def test_describe_shows_the_endpoints_of_a_service(apply, k):
    apply(deployment(replicas=2))
    k("expose", "deploy/web", "--port=80")
    k("rollout", "status", "deploy/web", "--timeout=60s")
    pattern = r"^Endpoints: +10\.[\d.]+:80,10\.[\d.]+:80$"
    eventually(lambda: re.search(pattern, k("describe", "svc/web").stdout, re.M))


def test_describe_shows_a_custom_object_with_its_events(apply, k, read, widgets):
    apply(widget(parts=[{"name": "wheel"}]))
    about = {
        "apiVersion": "clients.kohort.dev/v1",
        "kind": "Widget",
        "name": "w",
        "namespace": read("widget/w", "{.metadata.namespace}"),
        "uid": read("widget/w", "{.metadata.uid}"),
    }
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "w.1"},
        "involvedObject": about,
        "reason": "Painted",
        "message": "it is red now",
        "type": "Normal",
        "source": {"component": "painter"},
    }
    k("create", "-f", "-", stdin=write_yaml(event))
    told = k("describe", "widget/w").stdout
    assert re.search(r"^  Colour: +red$", told, re.M)
    assert re.search(r"Name: +wheel$", told, re.M)
    assert re.search(r"Normal +Painted +<unknown> +painter +it is red now", told)


def test_describe_of_several_objects_by_a_prefix(apply, k):
    apply(pod("one-a"), pod("one-b"))
    told = k("describe", "pod", "one").stdout
    assert re.findall(r"^Name: +(\S+)$", told, re.M) == ["one-a", "one-b"]


def test_events_are_listed_for_one_object_in_order(apply, k):
    apply(pod("one"), pod("two"))
    k(*READY, "pod/one", "pod/two")
    lines = k("events", "--for=pod/one", "--no-headers").stdout.splitlines()
    assert [line.split()[2] for line in lines] == [
        "Scheduled",
        "Pulling",
        "Pulled",
        "Created",
        "Started",
    ]
    assert {line.split()[3] for line in lines} == {"Pod/one"}


def test_events_can_be_narrowed_to_warnings(apply, k):
    apply(pod("one"), pod("two", nodeSelector={"planet": "mars"}))
    k(*READY, "pod/one")
    told = eventually(lambda: k("events", "--types=Warning", "--no-headers").stdout)
    assert told.split()[1:4] == ["Warning", "FailedScheduling", "Pod/two"]


def test_events_of_both_groups_are_the_same_objects(apply, k):
    apply(pod())
    k(*READY, "pod/one")
    names = "-o=jsonpath={.items[*].metadata.name}"
    assert k("get", "events", names).stdout == k("get", "events.events.k8s.io", names).stdout


class TestLogs:
    def test_logs_tell_what_the_container_did(self, apply, k):
        apply(pod())
        k(*READY, "pod/one")
        told = k("logs", "one").stdout.splitlines()
        assert told[0] == "container main started from image img:1"
        assert told[-1] == "ready, serving requests"

    def test_the_tail_of_a_log_can_be_asked_for_with_its_times(self, apply, k):
        apply(pod())
        k(*READY, "pod/one")
        told = k("logs", "one", "--tail=1", "--timestamps").stdout
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\S+Z ready, serving requests\n", told)

    def test_the_log_of_the_run_before_a_crash_is_kept(self, apply, k):
        crashing = pod()
        crashing["metadata"]["annotations"] = {
            "sim.kohort.dev/crash-after": "1s",
            "sim.kohort.dev/crash-times": "1",
            "sim.kohort.dev/crash-exit-code": "3",
        }
        apply(crashing)
        restarted = "--for=jsonpath={.status.containerStatuses[0].restartCount}=1"
        k("wait", restarted, "pod/one", "--timeout=60s")
        assert "exiting with code 3" in k("logs", "one", "--previous").stdout
        done = k("get", "pod/one", "-o=jsonpath={..lastState.terminated.exitCode}")
        assert done.stdout == "3"

    def test_there_is_no_earlier_log_without_an_earlier_run(self, apply, k):
        apply(pod())
        k(*READY, "pod/one")
        done = k("logs", "one", "--previous", check=False)
        assert done.returncode == 1
        assert 'previous terminated container "main" in pod "one" not found' in done.stderr

    def test_logs_of_all_containers_are_prefixed_with_their_names(self, apply, k):
        both = [{"name": "main", "image": "img:1"}, {"name": "side", "image": "side:1"}]
        apply(pod(containers=both))
        k(*READY, "pod/one")
        told = k("logs", "one", "--all-containers", "--prefix").stdout
        assert "[pod/one/main] container main started from image img:1" in told
        assert "[pod/one/side] container side started from image side:1" in told

    def test_logs_of_many_pods_are_found_by_their_label(self, apply, k):
        apply(deployment(replicas=2))
        k("rollout", "status", "deploy/web", "--timeout=60s")
        told = k("logs", "-l=app=web", "--prefix", "--tail=1").stdout
        assert len(re.findall(r"^\[pod/web-\S+/main\] ready, serving", told, re.M)) == 2
        assert "ready, serving" in k("logs", "deploy/web").stdout

    def test_a_followed_log_ends_when_the_container_ends(self, apply, k):
        ending = pod(restartPolicy="Never")
        ending["metadata"]["annotations"] = {"sim.kohort.dev/run-for": "60s"}
        apply(ending)
        k(*READY, "pod/one")
        told = k("logs", "one", "--follow").stdout
        assert told.startswith("container main started")
        assert k("get", "pod/one", "-o=jsonpath={.status.phase}").stdout == "Succeeded"

    def test_a_container_that_does_not_exist_has_no_log(self, apply, k):
        apply(pod())
        done = k("logs", "one", "-c", "ghost", check=False)
        assert done.returncode == 1
        assert "container ghost is not valid for pod one" in done.stderr
