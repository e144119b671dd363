"""kubectl runs things to their end: jobs, cron jobs, and single pods."""

import json

import pytest
from client_manifests import eventually

pytestmark = pytest.mark.clients


def test_a_job_runs_to_its_end_and_its_logs_can_be_read(k, read):
    k("create", "job", "once", "--image=busybox")
    k("wait", "--for=condition=Complete", "job/once", "--timeout=60s")
    assert read("job/once", "{.status.succeeded}") == "1"
    assert k("get", "pods", "-l=job-name=once", "-o=jsonpath={.items[*].status.phase}").stdout == (
        "Succeeded"
    )
    assert k("logs", "job/once").returncode == 0
    k("delete", "job", "once", "--wait=true", "--timeout=60s")
    eventually(lambda: k("get", "pods", "-o=name").stdout == "")


def test_an_indexed_job_completes_every_index(apply, k, read):
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "i:1"}]}}
    spec = {"completions": 3, "parallelism": 2, "completionMode": "Indexed", "template": template}
    apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "i"}, "spec": spec})
    k("wait", "--for=condition=Complete", "job/i", "--timeout=60s")
    assert read("job/i", "{.status.completedIndexes}") == "0-2"
    names = k("get", "pods", "-o=jsonpath={.items[*].spec.hostname}").stdout
    assert sorted(names.split()) == ["i-0", "i-1", "i-2"]


def test_a_job_that_fails_too_often_is_over(apply, k, read):
    marks = {"sim.kohort.dev/crash-after": "100ms"}
    template = {
        "metadata": {"annotations": marks},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "i:1"}]},
    }
    spec = {"backoffLimit": 0, "template": template}
    apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "bad"}, "spec": spec})
    k("wait", "--for=condition=Failed", "job/bad", "--timeout=60s")
    found = json.loads(k("get", "job/bad", "-o=json").stdout)["status"]
    assert found["failed"] == 1
    assert found["conditions"][-1]["reason"] == "BackoffLimitExceeded"


def test_a_pod_that_is_not_started_again_runs_to_its_end(k, read):
    k("run", "short", "--image=busybox", "--restart=Never")
    k("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/short", "--timeout=60s")


def test_a_quota_and_a_limit_range_are_kept(k, apply, read):
    k("create", "quota", "small", "--hard=configmaps=2")
    eventually(lambda: read("quota/small", "{.status.used.configmaps}") == "1")
    k("create", "configmap", "one")
    refused = k("create", "configmap", "two", check=False)
    assert "exceeded quota: small, requested: configmaps=1, used: configmaps=2, limited: " in (
        refused.stderr
    )


def test_a_cron_job_can_be_run_by_hand(k, read):
    k("create", "cronjob", "nightly", "--image=busybox", "--schedule=0 3 * * *")
    k("create", "job", "now", "--from=cronjob/nightly")
    k("wait", "--for=condition=Complete", "job/now", "--timeout=60s")
    row = k("get", "cronjobs", "--no-headers").stdout.split()
    assert row[:2] == ["nightly", "0"]
